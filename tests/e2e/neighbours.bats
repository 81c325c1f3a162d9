#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the sink and the generator say as neighbours, read by somebody else.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
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
