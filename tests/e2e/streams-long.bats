#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What dststorm-gen says of several streams, sizes, orders, lanes and ports, against what it sent.
# packets.bats is about the bytes.

bats_require_minimum_version 1.5.0

setup()
{
	GEN=$(readlink -f "$BATS_TEST_DIRNAME/../../${B:-build}/dststorm-gen")
	[ -x "$GEN" ] || GEN=$(readlink -f "${B:-build}/dststorm-gen")
	cd "$BATS_TEST_TMPDIR" || return 1
}

# holds EXPRESSION: of the statistics in the file out, as s.
holds()
{
	/usr/bin/python3 -c 'import json, sys
s = json.load(open("out"))
if not eval(f"({sys.argv[1]})"):
    sys.exit(f"not {sys.argv[1]}: {json.dumps(s)}")' "$1"
}

# look FILE FIELD...
look()
{
	local file=$1 field args=()
	shift
	for field; do
		args+=(-e "$field")
	done
	tshark -r "$file" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -E separator=';' \
		"${args[@]}" 2>/dev/null
}

# --- sizes ---------------------------------------------------------------------------------------

@test "no frame is smaller than its probe, or greater than a jumbo frame" {
	for try in '64 udp 198.19.0.0/24' '64 icmp-echo 198.19.0.0/24' '76 tcp-syn 198.19.0.0/24' \
		'84 udp 2001:2:0:2::/112' '84 icmp-echo 2001:2:0:2::/112' '96 tcp-syn 2001:2:0:2::/112'; do
		read -r size protocol to <<<"$try"
		what=(--dst "$to" --rate 1 --duration 1 --protocol "$protocol" --dry-run a.pcap)
		for vlan in '[]' 7 '[7, 8]'; do
			[ "$vlan" = '[]' ] || what+=(--vlan "$vlan")
			"$GEN" "${what[@]}" --size "$size"
			[ "$(stat -c %s a.pcap)" -eq $((24 + 16 + size - 4)) ]
			run -2 "$GEN" "${what[@]}" --size $((size - 1))
			size=$((size + 4))
		done
		"$GEN" "${what[@]}" --size 9026
		run -2 "$GEN" "${what[@]}" --size 9027
	done
}

@test "sizes and ports take turns, in a buffer that held another size, too; the bytes are counted" {
	what=(--dst 198.19.0.0/24 --rate 24k --duration 0.05 --size imix --set streams.0.src_port=1024-1123)
	"$GEN" "${what[@]}" --lanes 2 --dry-run a.pcap
	look a.pcap frame.len ip.len udp.length udp.srcport ip.dst >a.txt
	# In every 12 packets 7 of 64 bytes, 4 of 594, 1 of 1518.
	awk -F ';' '{ n[$1]++ } $4 != 1024 + (NR - 1) % 100 { exit 1 }
		NR % 12 == 0 { if (n[60] != 7 || n[590] != 4 || n[1514] != 1) exit 1; delete n }
		END { exit NR != 1200 }' a.txt
	"$GEN" "${what[@]}" --lanes 3 --port null: >out
	holds "s['sent_bytes'] == $(awk -F ';' '{ s += $1 } END { print s }' a.txt)"
	# 40,000 packets go through 4,095 buffers.
	"$GEN" "${what[@]}" --rate 40k --duration 1 --port pcap:b.pcap >out
	holds "s['sent_pkts'] == 40000"
	look b.pcap frame.len ip.len udp.length udp.srcport ip.dst >b.txt
	head -n 1200 b.txt | cmp a.txt -
	[ "$(look b.pcap ip.checksum.status udp.checksum.status | sort -u)" = '1;3' ]
}

# --- ports ---------------------------------------------------------------------------------------

@test "a port that takes nothing is an error that names it, not 0 packets/s" {
	# A bond that waits for a partner that never answers.
	status=0
	timeout 20 "$GEN" --port null: --port vdev:net_bonding0,mode=4,slave=net_null7 --lanes 2 \
		--dst 198.19.0.0/24 --rate 1k --duration 30 -- --vdev=net_null7 >out 2>err || status=$?
	cat err
	[ "$status" -eq 3 ]
	grep -q 'port vdev:net_bonding0,mode=4,slave=net_null7 has taken no packet for 1 s' err
	holds "s['lanes'][1]['sent_pkts'] == 0 and 0 < s['sent_pkts'] < 3000"
}

@test "more ports than lanes" {
	run -2 "$GEN" --dst 198.19.0.0/24 --rate 1k --duration 1 --port null: --port null:
	[[ $output == *"use --lanes 2"* ]]
}

# --- orders --------------------------------------------------------------------------------------

# 20,000 packets of 2 shards of 3 lanes: destinations that were reached are as many as told.
reached()
{
	local shard dry what
	: >all.txt
	for shard in 0 1; do
		what=(--rate 200k --duration 0.1 --lanes 3 --shard "$shard/2" "$@")
		"$GEN" "${what[@]}" --dry-run s.txt
		cat s.txt >>all.txt
		"$GEN" "${what[@]}" --port null: >out 2>err
		dry=$(sort -u s.txt | wc -l)
		holds "s['destinations_sent'] == $dry and s['sent_pkts'] == 10000"
		holds "sum(s['streams'][0]['lanes']) == 10000"
	done
	reached=$(sort -u all.txt | wc -l)
}

@test "every destination once over shards and lanes: sequential, permute, stride, both families" {
	local four=198.19.0.0-198.19.78.31 six=2001:2:0:2::-2001:2:0:2::4e1f # 20,000 each
	reached --dst $six --order sequential
	[ "$reached" -eq 20000 ]
	reached --dst $six --order permute
	[ "$reached" -eq 20000 ]
	reached --dst $four --order stride --set streams.0.stride=-48
	[ "$reached" -eq 20000 ]
}

@test "window over shards and lanes: as many new destinations as asked" {
	for to in 198.19.0.0/16 2001:2:0:2::/64; do
		reached --dst $to --exclude "${to%/*}" --order window --set streams.0.window=100 \
			--new-destinations 20k
		holds "s['destinations_asked'] == s['destinations_sent']"
		[ "$reached" -ge 2000 ] && [ "$reached" -le 2100 ]
	done
}

@test "random orders: shards have numbers of their own" {
	reached --dst 2001:2:0:2::/116 --order zipf
	[ "$reached" -gt 1000 ]
	[ "$(head -n 10000 all.txt | cksum)" != "$(tail -n 10000 all.txt | cksum)" ]
}

# --- streams -------------------------------------------------------------------------------------

two='name: two
duration_s: 2
streams:
  - {name: scan, destinations: ["2001:2:0:2::/112"], sources: ["2001:2:0:1::2"], rate_pps: 20k}
  - {name: peers, destinations: [198.19.0.1-198.19.0.50], sources: [198.18.0.2], rate_pps: 100,
     start_s: 1, protocol: tcp-syn, vlan: 7}
'

@test "several streams: each accounted on its own, all of them in the totals" {
	echo "$two" >two.yaml
	"$GEN" two.yaml --lanes 2 --port null: >out
	holds "[[v[k] for k in ('name', 'intended_pkts', 'sent_pkts', 'unsent_pkts', 'sent_bytes',
		'destinations_asked', 'destinations_sent', 'rate_intended_pps')] + [sum(v['lanes'])]
		for v in s['streams']] ==
		[['scan', 40000, 40000, 0, 3200000, 40000, 40000, 20000, 40000],
		 ['peers', 100, 100, 0, 7600, 50, 50, 100, 100]]"
	holds "[s[k] for k in ('sent_pkts', 'sent_bytes', 'destinations_sent', 'rate_intended_pps')] ==
		[40100, 3207600, 40050, 20100]"
	holds "90 < s['streams'][1]['rate_achieved_pps'] < 110"
	holds "0.9e9 < s['streams'][1]['first_tx_ns'] - s['streams'][0]['first_tx_ns'] < 1.4e9"
}

@test "a dry run of several streams is in the order in which packets are due" {
	echo "$two" >two.yaml
	"$GEN" two.yaml --lanes 2 --dry-run two.pcap
	look two.pcap frame.time_epoch ipv6.dst ip.dst >two.txt
	sort -c -t ';' -k 1,1n two.txt
	[ "$(grep -c ';2001:2:0:2:' two.txt)" -eq 40000 ]
	grep -n ';198.19.0' two.txt | head -n 1 | grep -qE '^2000[0-9]:1\.000000000'
	"$GEN" two.yaml --dry-run two.text.txt
	cut -d ';' -f 2- two.txt | tr -d ';' | cmp two.text.txt -
}

@test "one stream of several cannot go as fast as it can" {
	echo "${two/20k/max}" >max.yaml
	run -2 "$GEN" max.yaml --port null:
	[[ $output == *max* ]]
}

# --- replays -------------------------------------------------------------------------------------

@test "replay through a port: shapes of the file, in its order; what was left out is told" {
	zcat "$BATS_TEST_DIRNAME/data/packets.pcap.gz" >in.pcap
	tshark -r in.pcap -Y ip -T fields -E separator=';' -e frame.len -e vlan.id -e ip.proto -e tcp.flags \
		-e udp.port -e ip.dsfield.dscp 2>/dev/null >want.txt
	n=$(wc -l <want.txt) all=$(look in.pcap frame.len | wc -l)
	"$GEN" --dst 198.19.0.0/16 --rate 10k --duration 0.5 --replay in.pcap --port pcap:b.pcap >out 2>err
	grep -q "replayed are $n packets; $((all - n)) carry no probe" err
	holds "s['streams'][0]['replay_skipped_pkts'] == $((all - n)) and s['sent_pkts'] == 5000"
	look b.pcap frame.len vlan.id ip.proto tcp.flags udp.port ip.dsfield.dscp >b.txt
	for _ in $(seq $((5000 / n + 1))); do cat want.txt; done | head -n 5000 | cmp - b.txt
	holds "s['sent_bytes'] == $(awk -F ';' '{ s += $1 } END { print s }' b.txt)"
	[ "$(look b.pcap ip.dst | sort -u | wc -l)" -eq 5000 ]
	# TCP and ICMP, UDP with a checksum, UDP without.
	[ "$(look b.pcap ip.checksum.status udp.checksum.status | sort -u | paste -sd ' ')" = '1; 1;1 1;3' ]
}

@test "replay: a file that is none, and one with nothing to replay" {
	what=(--dst 198.19.4.0/24 --rate 1 --duration 1 --dry-run a.pcap)
	run -2 "$GEN" "${what[@]}" --replay none.pcap
	[[ $output == *none.pcap* ]]
	"$GEN" --dst 2001:2:0:2::/112 --rate 1 --duration 1 --dry-run six.pcap
	run -2 "$GEN" "${what[@]}" --replay six.pcap
	[[ $output == *"has no packet"* ]]
}
