#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the sink and the generator say as neighbours, read by somebody else.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export sink
	sink=$(readlink -f "${B:-build}/dststorm-sink")
	"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I. -O2 -Wall -Wextra -Werror \
		-o "$BATS_FILE_TMPDIR/mkpcap" tests/e2e/neighbours-mkpcap.c lib/{arp,nd}.c
	"$BATS_FILE_TMPDIR/mkpcap" >"$BATS_FILE_TMPDIR/neighbours.pcap"
}

setup()
{
	command -v tshark >/dev/null || skip "no tshark"
	cd "$BATS_FILE_TMPDIR" || return 1
}

@test "tshark has no complaint about any frame" {
	[ "$(tshark -r neighbours.pcap 2>/dev/null | wc -l)" -eq 18 ]
	# Duplicate addresses, malformed options: there is nothing to say.
	[ -z "$(tshark -r neighbours.pcap -Y '_ws.expert || _ws.malformed' 2>/dev/null)" ]
	[ "$(tshark -r neighbours.pcap -T fields -e icmpv6.checksum.status -Y icmpv6 2>/dev/null |
		sort | uniq -c | tr -s ' ')" = " 9 1" ]
}

@test "tshark reads requests, answers and announcements, each without, with one and with two tags" {
	[ "$(tshark -r neighbours.pcap -T fields -E separator=' ' -e ieee8021ad.id -e vlan.id \
		-e arp.opcode -e arp.isgratuitous -e arp.src.proto_ipv4 -e arp.dst.hw_mac -Y arp 2>/dev/null |
		sed 's/ *$//')" = "$(cat <<-EOF
		  1  198.19.0.1 00:00:00:00:00:00
		  2  198.19.12.34 52:54:00:aa:bb:cc
		  1 1 198.19.12.34 00:00:00:00:00:00
		 10 1  198.19.0.1 00:00:00:00:00:00
		 10 2  198.19.12.34 52:54:00:aa:bb:cc
		 10 1 1 198.19.12.34 00:00:00:00:00:00
		100 10 1  198.19.0.1 00:00:00:00:00:00
		100 10 2  198.19.12.34 52:54:00:aa:bb:cc
		100 10 1 1 198.19.12.34 00:00:00:00:00:00
	EOF
	)" ]
	[ "$(tshark -r neighbours.pcap -T fields -E separator=' ' -e ieee8021ad.id -e vlan.id -e icmpv6.type \
		-e icmpv6.nd.na.flag.s -e icmpv6.nd.na.flag.o -e ipv6.dst -Y icmpv6 2>/dev/null)" = "$(cat <<-EOF
		  135   ff02::1:ff01:22
		  136 1 1 2001:2:0:2::1
		  136 0 1 ff02::1
		 10 135   ff02::1:ff01:22
		 10 136 1 1 2001:2:0:2::1
		 10 136 0 1 ff02::1
		100 10 135   ff02::1:ff01:22
		100 10 136 1 1 2001:2:0:2::1
		100 10 136 0 1 ff02::1
	EOF
	)" ]
}

# The requests above go in by a port that reads and writes captures; what comes out is looked at.
@test "the sink answers in the VLAN of the request, with copies and changing MACs, and storms on time" {
	cat >s.yaml <<-EOF
		name: neighbours
		duration_s: 1
		streams:
		  - {name: four, destinations: [198.19.12.0/24], sources: [198.18.0.2], rate_pps: 1000}
		  - {name: six, destinations: ['2001:2:0:2::1:0/120'], sources: ['2001:2:0:1::2'], rate_pps: 1000}
		responder:
		  rules:
		    - {prefix: [198.19.12.32/28], copies: 3, mac_changes: true, delay_ms: 100}
		  storms:
		    - {prefix: [198.19.5.0/30], rate_pps: 20, duration_s: 0.5, vlan: [100, 10]}
		    - {prefix: ['2001:2:0:2::2:0/127'], rate_pps: 10, start_s: 0.2, duration_s: 0.5, mac_changes: true}
	EOF
	"$sink" --source vdev:net_pcap0,rx_pcap=neighbours.pcap,tx_pcap=out.pcap s.yaml --json got.json &
	for _ in {1..100}; do # until all is out: 10 + 5 announcements, 9 + 3 answers
		[ "$(tshark -r out.pcap 2>/dev/null | wc -l)" -lt 27 ] || break
		sleep 0.1
	done
	kill -TERM $!
	wait $!
	run /usr/bin/python3 -c 'import json
got = json.load(open("got.json"))
print(*(got[k] for k in ("frames_pkts", "arp_requests", "arp_replies", "arp_refused", "nd_requests",
	"nd_replies", "copies_pkts", "announcements_pkts", "other_pkts")))'
	[ "$output" = "18 6 3 3 3 3 6 15 9" ]
	[ -z "$(tshark -r out.pcap -Y '_ws.malformed || icmpv6.checksum.status == 0' 2>/dev/null)" ]
	# Three answers to each request, in its VLANs, each by another MAC than the one before.
	run tshark -r out.pcap -Y 'arp.opcode == 2' -T fields -E separator=' ' -e ieee8021ad.id -e vlan.id \
		-e arp.src.hw_mac
	[ "$(grep -v '^Running' <<<"$output" | cut -d' ' -f1,2 | uniq -c | tr -s ' ')" = \
		"$(printf ' 3 \n 3 10\n 3 100 10')" ]
	[ "$(grep -v '^Running' <<<"$output" | cut -d' ' -f3 | uniq | wc -l)" -eq 9 ]
	[ "$(tshark -r out.pcap -Y 'icmpv6.nd.na.flag.s == 1' 2>/dev/null | wc -l)" -eq 3 ]
	# Announcements in turn; the other family's have a MAC each.
	[ "$(tshark -r out.pcap -Y arp.isgratuitous -T fields -e arp.src.proto_ipv4 2>/dev/null | tr '\n' ' ')" = \
		"$(printf '198.19.5.%s ' 0 1 2 3 0 1 2 3 0 1)" ]
	run tshark -r out.pcap -Y 'icmpv6.nd.na.flag.s == 0' -T fields -E separator=' ' \
		-e icmpv6.nd.na.target_address -e eth.src
	[ "$(grep -v '^Running' <<<"$output" | cut -d' ' -f1 | tr '\n' ' ')" = \
		"$(printf '2001:2:0:2::2:%s ' 0 1 0 1 0)" ]
	[ "$(grep -v '^Running' <<<"$output" | sort -u | wc -l)" -eq 5 ]
	[ "$(tshark -r out.pcap -Y 'arp.isgratuitous && ieee8021ad.id == 100 && vlan.id == 10' 2>/dev/null |
		wc -l)" -eq 10 ]
	# Ten a second.
	tshark -r out.pcap -Y 'icmpv6.nd.na.flag.s == 0' -T fields -e frame.time_relative 2>/dev/null |
		/usr/bin/python3 -c 'import sys
t = [float(x) for x in sys.stdin]
assert t[-1] - t[0] > 0.39, t'
}
