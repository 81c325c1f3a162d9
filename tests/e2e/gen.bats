#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-gen alone: pacing, coverage, checksums, control socket, bad input, and what it leaves.

bats_require_minimum_version 1.5.0

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export GEN
	GEN=$(readlink -f "${B:-build}/dststorm-gen")
	local f
	for f in frames window client; do
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$BATS_FILE_TMPDIR/$f" \
			"tests/e2e/gen-$f.c" -ljansson
	done
	# shellcheck disable=SC2046 # flags
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror \
		$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g') -o "$BATS_FILE_TMPDIR/peer" \
		tests/e2e/gen-peer.c $(pkg-config --libs libdpdk) -lrte_bus_vdev
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	# What gen or DPDK leave would be left here.
	export TMPDIR=$BATS_TEST_TMPDIR/tmp RUNTIME_DIRECTORY=$BATS_TEST_TMPDIR/rt
	mkdir tmp
	started=()
}

teardown()
{
	local pid
	for pid in "${started[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
}

some=(--dst 198.18.0.0/24 --rate 1k --duration 1)

# The number after the first "KEY": in a line of JSON.
field()
{
	grep -o "\"$1\":[0-9]*" "${2:-out}" | head -n 1 | cut -d : -f 2
}

# gen in the background, its output in the files out and err.
gen_start()
{
	"$GEN" "$@" >out 2>err 3>&- &
	gen=$!
	started+=("$gen")
}

# Wait for it, and keep its exit status.
gen_wait()
{
	status=0
	wait "$gen" || status=$?
}

wait_for()
{
	local tries=200
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

nothing_left()
{
	[ -z "$(ls tmp)" ] && [ ! -e rt ] && [ ! -e c.sock ] && [ ! -e v.sock ]
}

# --- pacing --------------------------------------------------------------------------------------

# paced RATE LANES BURST NAME: 5 s on null: with a trace.
paced()
{
	"$GEN" --port null: --dst 198.18.0.0/15 --rate "$1" --lanes "$2" --burst "$3" --duration 5 \
		--trace-bursts "$4.csv" >"$4.json" 2>/dev/null
}

# The bound on windows is a promise that no machine can break. The rate is one that needs a machine
# with time for it: what else runs here must not fail the test, so it may be tried again.
judge()
{
	local status=0
	"$BATS_FILE_TMPDIR/window" "$4.csv" "$1" "$3" >"$4.txt" || status=$?
	cat "$4.txt"
	[ "$status" -ne 2 ] || return 2
	awk '{ exit !($11 <= $13) }' "$4.txt" || return 2
	[ "$status" -eq 0 ] && [ "$(field sent_pkts "$4.json")" -eq $(($1 * 5)) ] &&
		[ "$(field unsent_pkts "$4.json")" -eq 0 ] &&
		[ "$(field rate_achieved_pps "$4.json")" -ge $(($1 * 995 / 1000)) ] &&
		[ "$(field rate_achieved_pps "$4.json")" -le $(($1 * 1005 / 1000)) ]
}

try()
{
	local ret=0 attempt
	for attempt in 1 2 3 4 5 6; do
		ret=1
		paced "$@" && ret=0 && judge "$@" || ret=$?
		[ $ret -eq 1 ] || return $ret
		echo "attempt $attempt: $1 packets/s were not reached"
		sleep $((2 * attempt)) # until what else runs here is done
	done
	return 1
}

@test "1 kpps and 50 kpps, 1 lane: the asked rate, and no window over its budget" {
	try 1000 1 64 a & pid=$!
	try 50000 1 64 b
	wait $pid
}

@test "1 kpps and 1 Mpps, 2 lanes and 1: the asked rate, and no window over its budget" {
	try 1000 2 64 a & pid=$!
	try 1000000 1 256 b
	wait $pid
}

# bats test_tags=long
@test "50 kpps, 2 lanes: the asked rate, and no window over its budget" {
	try 50000 2 64 a
}

# bats test_tags=long
@test "1 Mpps, 2 lanes: the asked rate, and no window over its budget" {
	try 1000000 2 512 a
}

@test "the checker of windows finds a burst too many, a rate too low, and a hole" {
	seq 0 999 | awk 'BEGIN { print "t_ns,lane,packets" } { print $1 * 1000000 ",0,10" }' >good.csv
	"$BATS_FILE_TMPDIR/window" good.csv 10000 4
	(cat good.csv && echo 500500000,1,5) >burst.csv
	run ! "$BATS_FILE_TMPDIR/window" burst.csv 10000 4
	run ! "$BATS_FILE_TMPDIR/window" good.csv 10100 4
	run -2 "$BATS_FILE_TMPDIR/window" /dev/null 10000 4
}

@test "more than the machine can send: what was not sent is counted" {
	"$GEN" --port null: --dst 198.18.0.0/15 --rate 1G --duration 0.3 --burst 1024 --lanes 2 >out
	[ "$(field intended_pkts)" -eq 300000000 ]
	[ "$(field unsent_pkts)" -gt 0 ]
	[ $(($(field sent_pkts) + $(field unsent_pkts))) -eq 300000000 ]
	# The lanes' own counts make the sum.
	lanes=$(sed 's/,"streams".*//; s/.*"lanes"//' out | grep -o 'sent_pkts":[0-9]*' | grep -o '[0-9]*' | paste -sd+)
	[ $((lanes)) -eq "$(field sent_pkts)" ]
}

@test "destinations sent are those that were reached, not those that were planned" {
	gen_start --port null: --dst 198.18.0.0/15 --rate 100k --lanes 2 --duration 30
	wait_for grep -q packets err
	sleep 0.4
	kill -TERM "$gen"
	gen_wait
	sent=$(field sent_pkts)
	[ "$sent" -gt 0 ] && [ "$sent" -lt 131072 ]
	[ "$(field destinations_sent)" -eq "$sent" ]
	[ "$(field destinations_asked)" -eq 131072 ]
}

# --- what is sent --------------------------------------------------------------------------------

dry()
{
	"$GEN" --dst 198.18.0.0/15 --rate 131072 --duration 1 --lanes 2 "$@"
}

@test "dry run of 2^17 destinations, 3 shards of 2 lanes: the union is the set, none twice" {
	for shard in 0 1 2; do
		dry --shard $shard/3 --dry-run $shard.txt
		dry --shard $shard/3 --dry-run $shard.pcap
		rate=$((131072 / 3 + (shard < 131072 % 3)))
		"$BATS_FILE_TMPDIR/frames" $shard.pcap $shard $rate 2 >frames.txt
		cmp $shard.txt frames.txt
	done
	[ "$(cat ?.txt | wc -l)" -eq 131072 ]
	# Every address of the set, made without gen.
	awk 'BEGIN { for (i = 0; i < 131072; i++) printf "198.%d.%d.%d\n", 18 + int(i / 65536), int(i / 256) % 256, i % 256 }' |
		sort >want
	cat ?.txt | sort | cmp - want
}

@test "the same seed gives the same bytes, another seed others; lanes change nothing" {
	dry --dry-run a.pcap
	dry --dry-run b.pcap
	dry --dry-run c.pcap --seed 2
	dry --dry-run d.pcap --lanes 1
	dry --dry-run - >stdout.txt
	dry --dry-run file.txt
	cmp a.pcap b.pcap
	cmp a.pcap d.pcap
	cmp stdout.txt file.txt
	run ! cmp -s a.pcap c.pcap
	"$BATS_FILE_TMPDIR/frames" c.pcap 0 131072 2 | sort -u | wc -l | grep -qx 131072
}

@test "every checksum is right, says a checker that shares no code, which finds a wrong one" {
	"$GEN" --dst 198.18.0.0/15 --allow 1.0.0.0/8 --dst 1.0.0.0-1.0.255.255 --src 198.18.0.2-198.18.3.9 \
		--rate 100k --duration 2 --lanes 3 --set streams.0.ttl=77 --dry-run a.pcap
	"$BATS_FILE_TMPDIR/frames" a.pcap 0 100000 77 >all.txt
	[ "$(wc -l <all.txt)" -eq 200000 ]
	# Byte 10 of the 1000th IPv4 header.
	printf '\xff' | dd of=a.pcap bs=1 seek=$((24 + 1000 * 76 + 16 + 24)) conv=notrunc status=none
	run -1 "$BATS_FILE_TMPDIR/frames" a.pcap 0 100000 77
	[[ $output == *"frame 1000: IPv4 checksum"* ]]
}

@test "every checksum is right, says tshark" {
	command -v tshark >/dev/null || skip "no tshark"
	dry --count 5000 --dry-run a.pcap
	tshark -r a.pcap -o ip.check_checksum:TRUE -T fields -e ip.checksum.status -e _ws.malformed \
		2>/dev/null | sort | uniq -c >seen
	[ "$(awk '{ print $1, $2 }' seen)" = "5000 1" ]
}

@test "repeat, sequential and sources: packets in a row, in order, from all sources" {
	"$GEN" --dst 198.18.0.0-198.18.0.9 --order sequential --rate 30 --new-destinations 10 --duration 2 \
		--lanes 4 --dry-run a.txt
	awk 'BEGIN { for (i = 0; i < 60; i++) print "198.18.0." int(i / 3) % 10 }' | cmp - a.txt
	"$GEN" --dst 198.18.1.0/24 --src 198.18.0.2-198.18.0.8 --rate 256 --duration 1 --order sequential \
		--dry-run a.pcap
	# The source follows from the destination: index modulo sources.
	tail -c +25 a.pcap | od -An -v -w76 -tu1 |
		awk '{ if ($46 != 2 + $50 % 7) exit 1; n++ } END { exit n != 256 }'
}

@test "a dry run of which somebody reads the beginning is no failure" {
	run --separate-stderr bash -c 'set -o pipefail; "$0" "$@" | head -n 1' "$GEN" --dst 198.18.0.0/16 \
		--rate 100k --duration 1 --dry-run -
	echo "$output $stderr"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$stderr" = "flood: 100000 packets -> 65536 destinations via stdout" ]
}

@test "what goes through a port is what the dry run says" {
	"$GEN" --dst 198.18.0.0/22 --rate 10k --duration 1 --count 3000 --port pcap:port.pcap >out
	"$GEN" --dst 198.18.0.0/22 --rate 10k --duration 1 --count 3000 --dry-run dry.pcap
	[ "$(field sent_pkts)" -eq 3000 ]
	[ "$(field destinations_sent)" -eq 1024 ]
	"$BATS_FILE_TMPDIR/frames" port.pcap 0 0 2 >port.txt
	"$BATS_FILE_TMPDIR/frames" dry.pcap 0 10000 2 >dry.txt
	cmp port.txt dry.txt
	# The due times differ by the start, all by the same.
	for f in port dry; do
		tail -c +25 $f.pcap | od -An -v -w76 -tu1 |
			awk '{ t = 0; for (i = 69; i <= 76; i++) t = t * 256 + $i; printf "%.0f\n", t }' >$f.due
	done
	[ "$(paste port.due dry.due | awk '{ printf "%d\n", ($1 - $2) / 4096 }' | sort -u | wc -l)" -le 2 ]
}

@test "rate max: full speed for the duration, and for a count" {
	"$GEN" --port null: --dst 198.18.0.0/15 --rate max --duration 0.5 >out
	[ "$(field sent_pkts)" -gt 1000000 ]
	[ "$(field destinations_sent)" -eq 131072 ]
	"$GEN" --port null: --dst 198.18.0.0/15 --rate max --duration 10 --count 100001 --lanes 2 >out
	[ "$(field sent_pkts)" -eq 100001 ]
	[ "$(field destinations_sent)" -eq 100001 ]
	[ "$(field unsent_pkts)" -eq 0 ]
	"$GEN" --port null: --dst 198.18.0.0/15 --rate max --duration 0.5 --set streams.0.start_s=0.4 >out
	[ $(($(field last_tx_ns) - $(field first_tx_ns))) -lt 200000000 ]
}

# --- vhost ---------------------------------------------------------------------------------------

@test "vhost: all arrives, ARP for the sources is answered and for no one else" {
	gen_start --port vhost:v.sock --dst 198.19.0.0/16 --rate 10k --duration 1 --src 198.18.0.2-198.18.0.9
	wait_for test -S v.sock
	"$BATS_FILE_TMPDIR/peer" v.sock 2500 198.18.0.2 198.18.0.9 198.18.0.77 >peer
	gen_wait
	cat out err peer
	[ "$status" -eq 0 ]
	[ "$(field sent_pkts)" -eq 10000 ]
	[ "$(field probes peer)" -eq 10000 ]
	[ "$(field wrong peer)" -eq 0 ]
	[ "$(field arp_replies)" -eq "$(field answers peer)" ]
	[ "$(field answers peer)" -gt 4 ]
	[ $(($(field arp_requests) * 2)) -eq $(($(field arp_replies) * 3)) ]
	[ "$(field icmp_rx)" -gt 2 ]
	[ ! -e v.sock ]
}

@test "vhost: neighbour solicitations for the sources are answered in their VLAN, and for no one else" {
	gen_start --port vhost:v.sock --dst 2001:2:0:2::/112 --rate 10k --duration 1 --vlan 7 \
		--src 2001:2:0:1::2-2001:2:0:1::9
	wait_for test -S v.sock
	"$BATS_FILE_TMPDIR/peer" v.sock 2500 2001:2:0:1::2 2001:2:0:1::9 2001:2:0:1::77 >peer
	gen_wait
	cat out err peer
	[ "$status" -eq 0 ]
	[ "$(field probes peer)" -eq 10000 ]
	[ "$(field wrong peer)" -eq 0 ]
	[ "$(field nd_replies)" -eq "$(field answers peer)" ]
	[ "$(field answers peer)" -gt 4 ]
	[ $(($(field nd_requests) * 2)) -eq $(($(field nd_replies) * 3)) ]
	[ "$(field arp_requests)" -eq 0 ]
}

@test "vhost: when the peer is killed, gen ends within 2 s and keeps what it counted" {
	gen_start --port vhost:v.sock --dst 198.19.0.0/16 --rate 5k --duration 30
	wait_for test -S v.sock
	"$BATS_FILE_TMPDIR/peer" v.sock 30000 >peer 3>&- & peer=$!
	started+=("$peer")
	wait_for grep -q receiving peer
	sleep 0.5
	kill -9 "$peer"
	begin=$(date +%s%N)
	gen_wait
	[ $(($(date +%s%N) - begin)) -lt 2000000000 ]
	[ "$status" -eq 3 ]
	[ "$(field sent_pkts)" -gt 500 ]
	[ $(($(field sent_pkts) + $(field unsent_pkts))) -eq 150000 ]
	grep -q 'peer of vhost:v.sock has gone' err
	nothing_left
}

# --- control socket ------------------------------------------------------------------------------

scenario='name: t\nduration_s: 1\nstreams:\n  - name: f\n    destinations: [198.19.0.0/24]\n    sources: [198.18.0.2]\n    rate_pps: 2k\n'
configure='{"v":1,"id":1,"method":"configure","params":{"scenario":"'$scenario'","name":"x.yaml","set":["streams.0.rate_pps=5k"],"shard":1,"nr_shards":2,"dst_mac":"02:00:00:00:00:01","allow":[]}}'
arm='{"v":1,"id":2,"method":"arm","params":{"timeout_ms":300}}'
start='{"v":1,"id":3,"method":"start","params":{"at_ns":@NOW+100@}}'
quit='{"v":1,"id":9,"method":"quit","params":{}}'

# control LINE...: play them to the socket.
control()
{
	status=0
	printf '%s\n' "$@" | "$BATS_FILE_TMPDIR/client" c.sock >answers || status=$?
	cat answers
}

@test "control: from hello to quit" {
	gen_start --control c.sock --port null: --json stats.json
	configure=${configure/duration_s: 1/duration_s: 2}
	control '{"v":1,"id":7,"method":"hello","params":{}}' "$configure" "$arm" "$start" 'ping 2200' \
		'event sample' 'event done' '{"v":1,"id":8,"method":"stats","params":{}}' "$quit"
	[ "$status" -eq 0 ]
	gen_wait
	[ "$status" -eq 0 ]
	[ ! -s err ]
	grep -q '"role":"gen"' answers
	grep -q '"link":true' answers
	grep '"event":"done"' answers | grep -q '"sent_pkts":5000.*"state":"done"'
	cmp out stats.json
	[ "$(field destinations_sent stats.json)" -eq 128 ]
	nothing_left
}

@test "control: the socket is private; a second controller is turned away" {
	gen_start --control c.sock --port null:
	wait_for test -S c.sock
	[ "$(stat -c %a c.sock)" = 600 ]
	printf 'sleep 700\n%s\n' "$quit" | "$BATS_FILE_TMPDIR/client" c.sock & first=$!
	sleep 0.3
	run -3 "$BATS_FILE_TMPDIR/client" c.sock <<<"$quit"
	wait $first
	gen_wait
	[ "$status" -eq 0 ]
}

@test "control: wrong state, unknown method, no JSON, bad scenario: told, and nothing breaks" {
	gen_start --control c.sock --port null:
	control "$start" "$arm" '{"v":1,"id":4,"method":"dance","params":{}}' 'raw what?' 'raw {"v":2}' \
		'{"v":1,"id":5,"method":"configure","params":{"scenario":"name: x","name":"y.yaml"}}' \
		'{"v":1,"id":6,"method":"configure","params":{"scenario":7}}' \
		"${configure/198.19.0.0/10.0.0.0}" "$configure" "$configure" "$arm" \
		'{"v":1,"id":3,"method":"start","params":{"at_ns":5}}' "$quit"
	[ "$status" -eq 0 ]
	gen_wait
	[ "$status" -eq 0 ]
	[ "$(grep -c '"error":{"code":2' answers)" -eq 10 ]
	grep -q 'start in state idle' answers
	grep -q 'no method dance' answers
	grep -q 'y.yaml:1: ' answers
	grep -q '10.0.0.0 is outside the lab' answers
	grep -q 'configure in state configured' answers
}

@test "control: a guest with fewer queues than there are lanes is told from no guest" {
	gen_start --control c.sock --port vhost:v.sock
	control "${configure/streams.0.rate_pps=5k/gen.lanes=2}" "${arm/300/3000}" "$quit" & client=$!
	wait_for test -S v.sock
	"$BATS_FILE_TMPDIR/peer" v.sock 9000 3>&- >/dev/null & started+=($!)
	wait $client
	gen_wait
	[ "$status" -eq 0 ]
	grep -q '"error":{"code":3,"text":"waited in vain for the guest to turn on 2 queues, of which 1 are on' answers
	nothing_left
}

@test "control: arm waits for the guest no longer than it was told" {
	gen_start --control c.sock --port vhost:v.sock
	control "$configure" "$arm" "$start" "$quit"
	gen_wait
	[ "$status" -eq 0 ]
	grep -q '"error":{"code":3,"text":"waited in vain for the driver of a guest' answers
	nothing_left
}

@test "control: the controller is killed: lanes stop, statistics are kept, exit 3" {
	gen_start --control c.sock --port null: --json stats.json
	control "${configure/duration_s: 1/duration_s: 30}" "$arm" "$start" 'ping 500'
	begin=$(date +%s%N)
	gen_wait
	[ $(($(date +%s%N) - begin)) -lt 2000000000 ]
	[ "$status" -eq 3 ]
	[ "$(field sent_pkts stats.json)" -gt 500 ]
	[ "$(field intended_pkts stats.json)" -eq 75000 ]
	[ "$(wc -l <err)" -eq 1 ]
	nothing_left
}

@test "control: the controller falls silent for 2 s: the same" {
	gen_start --control c.sock --port null:
	control "${configure/duration_s: 1/duration_s: 30}" "$arm" "$start" 'sleep 4000' & client=$!
	gen_wait
	[ "$status" -eq 3 ]
	grep -q 'nothing from the controller for 2 s' err
	[ "$(field sent_pkts)" -gt 4000 ] # 2.5k a second for 2 s
	[ "$(field sent_pkts)" -lt 7500 ]
	nothing_left
	kill $client 2>/dev/null || true
}

# --- bad input -----------------------------------------------------------------------------------

# refused STATUS WORDS ARGUMENT...: exit status, one line that has the words, and nothing else.
refused()
{
	local want=$1 words=$2
	shift 2
	echo "dststorm-gen $*"
	status=0
	timeout 20 "$GEN" "$@" >out 2>err || status=$?
	cat err
	[ "$status" -eq "$want" ]
	[ "$(wc -l <err)" -eq 1 ]
	[ ! -s out ]
	grep -qF -- "$words" err
	nothing_left
}

@test "bad input: options" {
	refused 2 "'--frobnicate'" --port null: "${some[@]}" --frobnicate
	refused 2 "'--rate'" --port null: --rate
	refused 2 'give --port' "${some[@]}"
	refused 2 'no destinations' --port null: --rate 1k --duration 1
	refused 2 'no rate' --port null: --dst 198.18.0.0/24 --duration 1
	refused 2 'no duration' --port null: --dst 198.18.0.0/24 --rate 1k
	refused 2 'is no port' --port tcp:00:01.0 "${some[@]}"
	refused 2 'must follow' --port pcap: "${some[@]}"
	refused 2 'one scenario' --port null: a.yaml b.yaml
	refused 2 '--shard 3/3' --port null: "${some[@]}" --shard 3/3
	refused 2 'no MAC' --port null: "${some[@]}" --dst-mac 02:00:00
	refused 2 'group address' --port null: "${some[@]}" --dst-mac 01:00:5e:00:00:01
	refused 2 '--memory' --port null: "${some[@]}" --memory lots
	refused 2 'must end in' "${some[@]}" --dry-run a.doc
	refused 2 'leave out --port' "${some[@]}" --dry-run - --port null:
	refused 2 'comes from the controller' "${some[@]}" --control c.sock --port null:
	refused 2 'no end' --dst 198.18.0.0/24 --rate max --duration 1 --dry-run -
	refused 2 'unrecognized option' --port null: "${some[@]}" -- --frobnicate
}

@test "bad input: values" {
	refused 2 '--rate: rate_pps is 0' --port null: "${some[@]}" --rate 0
	refused 2 '--rate: ' --port null: "${some[@]}" --rate fast
	refused 2 '--duration: ' --port null: "${some[@]}" --duration -1
	refused 2 '--dst: ' --port null: "${some[@]}" --dst 198.18.0.0/33
	refused 2 '--dst: ' --port null: "${some[@]}" --dst "198.18.0.1', a: {b"
	refused 2 'excluded' --port null: "${some[@]}" --exclude 198.18.0.0/24
	refused 2 'add --allow 10.0.0.0/8' --port null: "${some[@]}" --dst 10.0.0.0/8
	refused 2 'multicast' --port null: "${some[@]}" --allow 0.0.0.0/0 --dst 224.0.0.1
	refused 2 'loopback' --port null: "${some[@]}" --allow 127.0.0.0/8 --dst 127.0.0.1
	refused 2 '--allow: ' --port null: "${some[@]}" --allow 10.0.0.1/8
	refused 2 '--set foo: unknown key' --port null: "${some[@]}" --set foo=1
	refused 2 '--order: ' --port null: "${some[@]}" --order random
	refused 2 '--lanes: ' --port null: "${some[@]}" --lanes 65
	refused 2 'does not divide' --port null: "${some[@]}" --new-destinations 3
	refused 2 'does not fit' --port null: "${some[@]}" --count 5000
	refused 2 'one queue' --port pcap:a.pcap "${some[@]}" --lanes 2
	refused 2 'rate max' --port vhost:v.sock "${some[@]}" --rate max
	refused 2 'needs a rate' --port null: "${some[@]}" --rate max --trace-bursts t.csv
	[ ! -e a.pcap ] && [ ! -e t.csv ]
}

@test "bad input: scenarios, with file and line" {
	refused 2 'none.yaml' --port null: none.yaml
	printf 'name: x\nduration_s: 1\nstreams:\n  - name: f\n    destinations: [198.18.0.0/24]\n    sources: [198.18.0.2]\n    rate_pps: 1k\n' >good.yaml
	sed 's/rate_pps/rate_ppp/' good.yaml >key.yaml
	refused 2 'key.yaml:7: ' --port null: key.yaml
	sed 's/1k/[1, 2]/' good.yaml >type.yaml
	refused 2 'type.yaml:7: ' --port null: type.yaml
	sed 's/destinations: .*/destinations: []/' good.yaml >empty.yaml
	refused 2 'empty.yaml:5: ' --port null: empty.yaml
	sed 's/duration_s.*//' good.yaml >noend.yaml
	refused 2 'duration_s is missing' --port null: noend.yaml
	printf 'a: [b' >broken.yaml
	refused 2 'broken.yaml:' --port null: broken.yaml
	"$GEN" --port null: good.yaml --rate 2k >out
	[ "$(field sent_pkts)" -eq 2000 ]
}

@test "bad input: files, sockets, memory" {
	refused 3 'raise --memory' --port null: "${some[@]}" --memory 1
	refused 3 'cannot write' --port null: "${some[@]}" --json none/a
	refused 3 'cannot write' --port null: "${some[@]}" --trace-bursts none/a
	refused 3 'cannot write' --port pcap:none/a "${some[@]}"
	refused 3 'no regular file' --port pcap:/dev/full "${some[@]}"
	refused 3 'cannot write' "${some[@]}" --dry-run none/a.txt
	ln -s /dev/full full.txt
	refused 3 'No space left' "${some[@]}" --dry-run full.txt
	ln -s /dev/full full.pcap
	refused 3 'No space left' "${some[@]}" --dry-run full.pcap
	refused 3 'port vhost:none/v.sock: cannot listen' --port vhost:none/v.sock "${some[@]}"
	refused 3 'cannot listen' --control none/c.sock --port null:
	echo precious >file
	refused 3 'is no socket' --control file --port null:
	refused 3 'is no socket' --port vhost:file "${some[@]}"
	[ "$(cat file)" = precious ]
	refused 3 'bytes' --control "$(printf 'x%.0s' {1..200})" --port null:
}

@test "a disk that fills up is an error, not silence" {
	(
		ulimit -f 100 # kB
		status=0
		"$GEN" --port pcap:a.pcap --dst 198.18.0.0/24 --rate 20k --duration 30 >out 2>err || status=$?
		[ "$status" -eq 3 ]
	)
	grep -q 'is the disk full' err
	[ "$(field sent_pkts)" -lt 100000 ]
	status=0
	"$GEN" --port null: "${some[@]}" --json /dev/full >/dev/null 2>err || status=$?
	[ "$status" -eq 3 ]
	grep -q 'not written' err
	status=0
	"$GEN" --port null: "${some[@]}" >/dev/full 2>err || status=$?
	[ "$status" -eq 3 ]
}

@test "a socket in use is refused, a stale one replaced" {
	gen_start --control c.sock --port null:
	wait_for test -S c.sock
	status=0
	"$GEN" --control c.sock --port null: >out2 2>err2 || status=$?
	[ "$status" -eq 3 ]
	[ "$(wc -l <err2)" -eq 1 ]
	grep -q 'in use' err2
	kill -9 "$gen"
	gen_wait
	[ -S c.sock ]
	gen_start --control c.sock --port null:
	control "$quit"
	gen_wait
	[ "$status" -eq 0 ]
	nothing_left
}

@test "SIGTERM and SIGINT: the statistics so far, exit 3, nothing left" {
	for signal in TERM INT; do
		gen_start --port null: "${some[@]}" --duration 30
		wait_for grep -q packets err
		sleep 0.3
		kill -$signal "$gen"
		gen_wait
		[ "$status" -eq 3 ]
		[ "$(field sent_pkts)" -gt 0 ]
		grep -q "ended by SIG$signal" err
		nothing_left
	done
	gen_start --port vhost:v.sock "${some[@]}"
	wait_for test -S v.sock
	kill -TERM "$gen"
	gen_wait
	[ "$status" -eq 3 ]
	nothing_left
}

@test "SIGKILL leaves a socket at most, and the next start takes its place" {
	gen_start --port vhost:v.sock "${some[@]}"
	wait_for test -S v.sock
	wait_for grep -q packets err
	kill -9 "$gen"
	gen_wait
	[ -z "$(ls tmp)" ] && [ ! -e rt ]
	gen_start --port vhost:v.sock "${some[@]}"
	wait_for grep -q packets err
	kill -TERM "$gen"
	gen_wait
	nothing_left
}
