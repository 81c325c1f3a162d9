#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The sink at an interface of this host: all that comes is seen or told, written and read back. In two
# network namespaces that this file makes, joined by a veth pair and without a way out.

# shellcheck disable=SC2030,SC2031,SC2154 # bats: tests are subshells; run sets stderr
bats_require_minimum_version 1.5.0

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export GEN SINK near=dst-lnear-$$ far=dst-lfar-$$
	GEN=$(readlink -f "${B:-build}/dststorm-gen")
	SINK=$(readlink -f "${B:-build}/dststorm-sink")
	[ "$(id -u)" -eq 0 ] || return 0
	ip netns add "$near"
	ip netns add "$far"
	ip link add va netns "$near" type veth peer name vb netns "$far"
	for ns in "$near" "$far"; do
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	done
	ip -n "$near" link set va up
	ip -n "$far" link set vb up
}

teardown_file()
{
	[ "$(id -u)" -eq 0 ] || return 0
	ip netns del "$near" 2>/dev/null || true
	ip netns del "$far" 2>/dev/null || true
}

setup()
{
	[ "$(id -u)" -eq 0 ] || skip "SKIP: network namespaces need root"
	cd "$BATS_TEST_TMPDIR" || return 1
	sink=
	cat >s.yaml <<-END
		name: live
		duration_s: 1
		streams:
		  - {name: scan, destinations: [198.19.0.0/16], sources: [198.18.0.2], rate_pps: 30000}
		  - {name: peers, destinations: ['2001:2:0:1::/112'], sources: ['2001:2::2'],
		     order: zipf, zipf_s: 1.1, rate_pps: 20000}
	END
}

teardown()
{
	[ -z "$sink" ] || kill -9 "$sink" 2>/dev/null || true
	[ "$(id -u)" -eq 0 ] || return 0
	ip -n "$near" addr flush dev va 2>/dev/null || true
	ip -n "$near" neigh flush dev va 2>/dev/null || true
	ip -n "$far" route flush table main 2>/dev/null || true
	ip -n "$far" addr flush dev vb 2>/dev/null || true
}

listens()
{
	ip -n "$far" -d link show vb | grep -q 'promiscuity [1-9]'
}

# The sink at live:vb, in the background, once it listens; the arguments are its options.
sink_start()
{
	local tries=200
	ip netns exec "$far" "$SINK" --source live:vb --json sink.json "$@" s.yaml 2>sink.err 3>&- &
	sink=$!
	until listens; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { cat sink.err; return 1; }
		sleep 0.05
	done
	sleep 0.2
}

sink_stop()
{
	kill -TERM "$sink"
	wait "$sink"
	sink=
	[ ! -s sink.err ]
	! listens
}

# field FILE PATH: parts of the path are joined by dots; FILE is read once.
field()
{
	[ "$1.flat" -nt "$1" ] || /usr/bin/python3 - "$1" >"$1.flat" <<-'EOF'
		import json, sys
		def walk(path, value):
		    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
		    for key, part in inner:
		        walk(f"{path}.{key}", part)
		    if not isinstance(value, (dict, list)):
		        print(path[1:], value)
		walk("", json.load(open(sys.argv[1])))
	EOF
	awk -v path="$2" '$1 == path { print $2; found = 1 } END { exit !found }' "$1.flat"
}

counters()
{
	echo $(($(ip netns exec "$near" cat /sys/class/net/va/statistics/tx_dropped) + 0))
}

# Everything that was sent is seen or told, in the sum and by the generator's count.
all_told()
{
	local sum=0 part
	for part in frames_pkts capture_dropped_pkts interface_dropped_pkts; do
		echo "$part $(field sink.json $part)"
		sum=$((sum + $(field sink.json $part)))
	done
	echo "sent $(field gen.json sent_pkts), not taken by the pair $(($(counters) - before))"
	[ "$(field gen.json sent_pkts)" -eq 50000 ]
	[ $((sum + $(counters) - before)) -eq 50000 ]
	[ "$(field sink.json foreign_pkts)" -eq 0 ]
	[ "$(field sink.json bad_csum_pkts)" -eq 0 ]
	[ "$(field sink.json other_pkts)" -eq 0 ]
}

@test "two streams of two families: all seen or told, each on its own, written and read back" {
	before=$(counters)
	mkdir h
	sink_start --write all.pcap --hist-dir h --destinations dest
	ip netns exec "$near" "$GEN" --port af_packet:va s.yaml >gen.json
	sink_stop
	all_told
	[ "$(field sink.json streams.0.name)" = scan ]
	[ "$(field sink.json streams.1.name)" = peers ]
	[ "$(field sink.json rx_pkts)" -gt 40000 ]
	for part in rx_pkts destinations_seen destinations_expected lost_by_schedule_pkts; do
		[ $(($(field sink.json streams.0.$part) + $(field sink.json streams.1.$part))) -eq \
			"$(field sink.json $part)" ]
	done
	[ "$(field sink.json streams.0.rx_pkts)" -eq "$(field sink.json streams.0.destinations_seen)" ]
	# A few peers have most of the traffic.
	[ "$(field sink.json streams.1.rx_pkts)" -gt $((2 * $(field sink.json streams.1.destinations_seen))) ]
	[ "$(wc -l <dest)" -eq "$(field sink.json destinations_expected)" ]
	[ "$(grep -c '"stream":"peers"' dest)" -eq "$(field sink.json streams.1.destinations_expected)" ]
	[ "$(find h -name '*.hlog' | wc -l)" -eq 9 ]
	[ "$(capinfos -Mrc all.pcap | tail -n 1 | grep -oE '[0-9]+$')" -eq "$(field sink.json frames_pkts)" ]
	tshark -r all.pcap -T fields -e ipv6.dst -Y ipv6 2>/dev/null | sort -u | wc -l >distinct
	[ "$(cat distinct)" -eq "$(field sink.json streams.1.destinations_seen)" ]
	"$SINK" --source pcap:all.pcap s.yaml >again.json
	for part in rx_pkts dup_pkts reordered_pkts delay_ns.p50 delay_ns.max streams.0.delay_ns.p99 \
		streams.1.delay_ns.p99 streams.0.first_delivery_ns.max streams.1.first_delivery_ns.max; do
		echo "$part: $(field again.json $part), $(field sink.json $part)"
		[ "$(field again.json $part)" -eq "$(field sink.json $part)" ]
	done
}

@test "a sink that is held up: what its ring has no room for is told, to the packet" {
	before=$(counters)
	sink_start --buffer 1
	kill -STOP "$sink"
	ip netns exec "$near" "$GEN" --port af_packet:va s.yaml >gen.json
	kill -CONT "$sink"
	sink_stop
	all_told
	[ "$(field sink.json capture_dropped_pkts)" -gt 10000 ]
	[ "$(field sink.json rx_pkts)" -gt 100 ]
}

# neighbour WANT: what the near side then knows of 198.19.0.5.
neighbour()
{
	ip -n "$near" addr add 198.18.0.2/15 dev va
	ip netns exec "$near" timeout 5 /usr/bin/python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"hello", ("198.19.0.5", 9))
time.sleep(0.5)'
	ip -n "$near" neigh show 198.19.0.5 | tee told
	grep -q "$1" told
}

@test "it answers for its destinations, and with --passive it does not" {
	sink_start
	neighbour 'lladdr 02:d5:c6:13:00:05'
	sink_stop
	[ "$(field sink.json arp_requests)" -ge 1 ]
	[ "$(field sink.json arp_replies)" -eq "$(field sink.json arp_requests)" ]
	ip -n "$near" addr flush dev va
	ip -n "$near" neigh flush dev va
	sink_start --passive
	neighbour INCOMPLETE
	sink_stop
	[ "$(field sink.json arp_requests)" -ge 1 ]
	[ "$(field sink.json arp_replies)" -eq 0 ]
}

# refused STATUS WORDS OPTION...: one line, that holds the words.
refused()
{
	run -"$1" --separate-stderr ip netns exec "$far" "${as[@]}" "$SINK" "${@:3}"
	echo "$stderr"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"$2"* ]]
}

# lost WORDS SOURCE COMMAND...: the sink at SOURCE fails with one line once COMMAND took its interface.
lost()
{
	local status=0 words=$1
	ip -n "$far" link add vc type veth peer name vd
	ip -n "$far" link set vc up
	ip -n "$far" link set vd up
	# What the interface dropped before is none of the sink's, also once nobody can be asked.
	ip netns exec "$far" /usr/bin/python3 - <<-'EOF'
		import socket
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("vd", 0))
		s.send(b"\xff" * 6 + b"\2" + b"\0" * 5 + b"\x88\xb5" + b"\0" * 46)
	EOF
	ip netns exec "$far" "$SINK" --source "$2" --json sink.json s.yaml 2>sink.err 3>&- &
	sink=$!
	for _ in {1..100}; do
		! ip -n "$far" -d link show vc | grep -q 'promiscuity [1-9]' || break
		sleep 0.05
	done
	sleep 0.3
	ip -n "$far" link set vd down # the other end alone is no failure
	sleep 1.2
	kill -0 "$sink"
	ip -n "$far" "${@:3}"
	timeout 5 tail --pid="$sink" -f /dev/null
	wait "$sink" || status=$?
	sink=
	ip -n "$far" link del vc 2>/dev/null || true
	echo "status $status: $(cat sink.err)"
	[ "$status" -eq 3 ]
	[ "$(cat sink.err)" = "dststorm-sink: the interface vc $words" ]
	grep -q '"state": *"failed"' sink.json
	[ "$(field sink.json interface_dropped_pkts)" -eq 0 ]
}

# bats test_tags=long
@test "an interface that is set down or goes: one line, status 3, within seconds" {
	for source in live:vc af_packet:vc; do
		lost 'is down: ip link set vc up' "$source" link set vc down
		lost 'has gone' "$source" link del vc
	done
	lost 'has gone' af_xdp:vc link del vc
}

@test "what cannot work says why" {
	as=()
	refused 3 'there is no interface nosuchif' --source live:nosuchif s.yaml
	refused 2 'lacks a name' --source live: s.yaml
	refused 2 'buffer needs' --source live:vb --buffer 0 s.yaml
	refused 2 'cannot write no/such' --source live:vb --write no/such s.yaml
	ip -n "$far" addr add 198.19.0.1/16 dev vb
	ip -n "$far" route add default via 198.19.0.2
	refused 3 'carries a default route' --source live:vb s.yaml
	as=(setpriv --bounding-set -net_raw)
	refused 3 'needs CAP_NET_RAW' --source live:vb s.yaml
}
