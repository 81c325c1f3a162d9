#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Bytes of every protocol, family, tags and size: against a checker that shares no code, against
# tshark, and against a golden capture. To make the golden one anew, once both checkers agree:
#	packets.py scenario >s.yaml; dststorm-gen s.yaml --dry-run p.pcap; gzip -9n p.pcap

bats_require_minimum_version 1.5.0

setup()
{
	HERE=$(readlink -f "$BATS_TEST_DIRNAME")
	GEN=$(readlink -f "$HERE/../../${B:-build}/dststorm-gen")
	[ -x "$GEN" ] || GEN=$(readlink -f "${B:-build}/dststorm-gen")
	cd "$BATS_TEST_TMPDIR" || return 1
}

make_pcap()
{
	"$HERE/packets.py" scenario >s.yaml
	"$GEN" s.yaml --dry-run p.pcap
}

# What tshark complains of, a line each.
complaints()
{
	tshark -r "$1" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-Y '_ws.expert.severity >= 0x600000 || ip.checksum.status == 0 || udp.checksum.status == 0 ||
		tcp.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0' 2>/dev/null
}

@test "every shape is right, says a checker that shares no code" {
	make_pcap
	"$HERE/packets.py" check p.pcap
}

@test "every shape is right, says tshark, and each has been understood" {
	make_pcap
	run -0 complaints p.pcap
	echo "$output"
	[ -z "$output" ]
	tshark -r p.pcap -T fields -e udp.port -e tcp.flags -e icmp.type -e icmpv6.type 2>/dev/null | grep -c '[0-9]' |
		grep -qx "$(($(grep -c 'name: s' s.yaml) * 2))"
}

@test "both checkers find a damaged byte, wherever it is" {
	make_pcap
	# In an address of the first packets of several streams: only checksums tell.
	/usr/bin/python3 - <<'PY'
data = bytearray(open("p.pcap", "rb").read())
at, n = 24, 0
while at < len(data):
    size = int.from_bytes(data[at + 8:at + 12], "little")
    if n % 7 == 0:
        data[at + 16 + size - 1] ^= 1 # the last byte of the probe or the padding
    at, n = at + 16 + size, n + 1
open("bad.pcap", "wb").write(data)
PY
	run -1 "$HERE/packets.py" check bad.pcap
	run -0 complaints bad.pcap
	[ -n "$output" ]
}

@test "the same bytes as ever" {
	make_pcap
	zcat "$HERE/data/packets.pcap.gz" | cmp - p.pcap
}

@test "IMIX is 7:4:1 packet by packet; a replay keeps shapes and gets new destinations" {
	"$GEN" --dst 198.19.0.0/16 --rate 1200 --duration 1 --set streams.0.size=imix --dry-run imix.pcap
	run -0 --separate-stderr tshark -r imix.pcap -T fields -e frame.len
	[ "$(sort -n <<<"$output" | uniq -c | awk '{ print $1 ":" $2 }' | paste -sd ' ')" = "700:60 400:590 100:1514" ]
	make_pcap
	"$GEN" --dst 198.19.0.0/16 --rate 1k --duration 1 --set streams.0.replay="$PWD/p.pcap" --dry-run r.pcap
	run -0 complaints r.pcap
	echo "$output" | head
	[ -z "$output" ]
	# The lengths of the file's IPv4 packets, over and over.
	tshark -r p.pcap -Y ip -T fields -e frame.len >once
	for _ in $(seq 20); do cat once; done | head -n 1000 >want
	tshark -r r.pcap -T fields -e frame.len | cmp - want
	[ "$(tshark -r r.pcap -T fields -e ip.dst | sort -u | wc -l)" -eq 1000 ]
}

@test "random orders: what was sent is what a dry run holds; ramps and groups are in its times" {
	for order in "uniform" "zipf --set streams.0.zipf_s=1.2" "hot" "window --set streams.0.window=64 --new-destinations 250" \
		"stride --set streams.0.stride=-7"; do
		# shellcheck disable=SC2086 # several words
		set -- --dst 198.19.0.0/20 --rate 5k --duration 0.5 --lanes 2 --order $order
		"$GEN" "$@" --dry-run o.txt
		"$GEN" "$@" --port null: >out 2>err
		[ "$(grep -o '"destinations_sent":[0-9]*' out | head -n 1 | cut -d : -f 2)" -eq "$(sort -u o.txt | wc -l)" ]
	done
	"$GEN" --dst 198.19.0.0/16 --rate 100 --duration 2 --set streams.0.ramp='{to_pps: 300, steps: 2}' --dry-run ramp.pcap
	[ "$(tshark -r ramp.pcap -Y 'frame.time_epoch < 1' -T fields -e frame.number | wc -l)" -eq 100 ]
	[ "$(tshark -r ramp.pcap -T fields -e frame.number | wc -l)" -eq 400 ]
	"$GEN" --dst 198.19.0.0/16 --rate 1k --duration 1 --set streams.0.group_pkts=250 --dry-run group.pcap
	[ "$(tshark -r group.pcap -T fields -e frame.time_epoch | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ')" = "250 250 250 250" ]
}

@test "several ports share the packets" {
	"$GEN" --dst 198.19.0.0/16 --rate 10k --duration 0.5 --lanes 2 --port pcap:a.pcap --port pcap:b.pcap >out 2>err
	cat err
	[ "$(for f in a b; do tshark -r $f.pcap -T fields -e ip.dst; done | sort -u | wc -l)" -eq 5000 ]
	[ "$(tshark -r a.pcap -T fields -e ip.dst | wc -l)" -eq 2500 ]
}
