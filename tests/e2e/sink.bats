#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-sink from the outside: captures whose faults are known by construction, a vhost peer, the
# control socket, bad input.

# shellcheck disable=SC2030,SC2031,SC2154 # bats: tests are subshells; run sets stderr
bats_require_minimum_version 1.5.0

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export build=${B:-build} here=$PWD
	case $build in
	/*) ;;
	*) build=$here/$build ;;
	esac
	export sink=$build/dststorm-sink mkpcap=$BATS_FILE_TMPDIR/mkpcap
	"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I. -O2 -Wall -Wextra -Werror -o "$mkpcap" \
		tests/e2e/sink-mkpcap.c lib/{sched,rate,zipf,perm,rng,err}.c -lm
}

setup()
{
	dir=$(mktemp -d "${TMPDIR:-/tmp}/sink.XXXXXX") # short: a socket's path has 107 bytes
	cd "$dir" || return 1
	export TMPDIR=$dir
	pids=()
}

teardown()
{
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid"
	done
	rm -rf "$dir"
}

# scenario FILE RATE PACKETS ORDER [PACKETS_PER_VISIT] [DESTINATIONS]
scenario()
{
	cat >"$1" <<-EOF
		name: test
		seed: ${seed:-1}
		duration_s: $(($3 / $2 + 1))
		streams:
		  - name: flood
		    destinations: ['${6:-198.19.0.2-198.19.0.101}']
		    sources: [198.18.0.2]
		    order: $4
		    rate_pps: $2
		    new_destinations_per_s: $(($2 / ${5:-1}))
		    count: $3
	EOF
}

# agree WANT JSON: each line "field value" of WANT is so in JSON, and every frame is in one counter.
agree()
{
	/usr/bin/python3 - "$1" "$2" <<-'EOF'
		import json, sys
		got = json.load(open(sys.argv[2]))
		wrong = []
		for line in open(sys.argv[1]):
		    field, want = line.split()
		    value = got
		    for part in field.split("."):
		        value = value[int(part) if part.isdigit() else part]
		    # Three digits, but the greatest value is exact.
		    if value != int(want):
		        wrong.append(f"{field}: {value}, not {want}")
		parts = sum(got[k] for k in ("rx_pkts", "dup_pkts", "late_pkts", "foreign_pkts",
		                             "bad_csum_pkts", "other_pkts", "arp_requests", "nd_requests"))
		if parts != got["frames_pkts"]:
		    wrong.append(f"counters hold {parts} of {got['frames_pkts']} frames")
		sys.exit("\n".join(wrong) or 0)
	EOF
}

field()
{
	/usr/bin/python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))
for p in sys.argv[2].split("."): v = v[p]
print(v)' "$1" "$2"
}

# one_line FILE: exactly one line, from the program.
one_line()
{
	cat "$1"
	[ "$(wc -l <"$1")" -eq 1 ]
	grep -q '^dststorm-sink: ' "$1"
}

# fails CODE PATTERN ARG...: exit code, one line that matches, nothing left beside it.
fails()
{
	local code=$1 pattern=$2 before status=0
	shift 2
	before=$(find . ! -name err | sort)
	timeout 20 "$sink" "$@" >out 2>err </dev/null || status=$?
	rm -f out
	echo "exit $status: $*"
	[ "$status" -eq "$code" ]
	one_line err
	grep -qE "$pattern" err
	[ "$(find . ! -name err | sort)" = "$before" ]
}

wait_for()
{
	for _ in $(seq 100); do
		[ -e "$1" ] && return 0
		sleep 0.05
	done
	return 1
}

# ends PID CODE [SECONDS]: within 5 s.
ends()
{
	local status=0
	for _ in $(seq $((${3:-5} * 20))); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$1" 2>/dev/null
	wait "$1" || status=$?
	echo "exit $status"
	[ "$status" -eq "$2" ]
}

# peer PCAP: a virtio port that sends PCAP into ./v and keeps what it gets in ./got. Returns when it
# forwards; the sink has what it sent within a second.
peer()
{
	mkdir -p rt
	rm -f quit
	mkfifo quit
	RUNTIME_DIRECTORY=$PWD/rt timeout 60 stdbuf -oL dpdk-testpmd --no-huge -m 128 \
		--no-telemetry --no-pci --file-prefix=peer --lcores '0@0,1@0' \
		--vdev "net_virtio_user0,path=$PWD/v,queues=1" \
		--vdev "net_pcap0,rx_pcap=$1,tx_pcap=got" -- --forward-mode=io --auto-start \
		--no-lsc-interrupt --no-flush-rx --total-num-mbufs=2048 <quit >peer.log 2>&1 3>&- &
	peer=$!
	pids+=("$peer")
	exec 8>quit
	for _ in $(seq 400); do
		grep -q 'packets/burst' peer.log && break
		sleep 0.05
	done
	grep -q 'packets/burst' peer.log
	sleep 1
}

peer_ends()
{
	echo >&8 || : # an empty line is "quit" enough
	exec 8>&-
	wait "$peer" || : # it ends by itself when the sink does
	rm -rf rt quit
}

# --- captures --------------------------------------------------------------------------------------
@test "every statistic of captures with known faults" {
	local n=0 rest want
	scenario s.yaml 10000 5000 sequential
	scenario p.yaml 10000 5000 permute
	scenario r.yaml 10000 5000 permute 5
	while read -r want rest; do
		# shellcheck disable=SC2086
		"$mkpcap" packets=5000 rate=10000 $rest >c.pcap 2>want
		"$sink" --source pcap:c.pcap "$want.yaml" >got.json
		echo "$want: $rest"
		agree want got.json
		n=$((n + 1))
	done <<-EOF
		s
		s lose=7
		s lose_from=0 lose_to=100
		s lose_from=4900 lose_to=5000
		s lose_from=250 lose_to=2250 dup=3
		s swap=13 dup=10 csum=9 foreign=8 arp=50 other=11
		p permute=1 lose=3 dup=4 swap=10
		p permute=1 lose_from=1 lose_to=5000
		r permute=1 repeat=5 lose=4 swap=6 foreign=100
		r permute=1 repeat=5 lose_from=37 lose_to=1212
		p permute=1 us=1 delay=3000 lose=2
	EOF
	[ "$n" -eq 11 ]
}

@test "a million destinations, 4 passes" {
	scenario m.yaml 1000000 4000000 permute 1 10.0.0.0-10.15.66.63
	"$mkpcap" packets=4000000 n=1000000 first=10.0.0.0 permute=1 lose=7 >c.pcap 2>want
	"$sink" --source pcap:c.pcap --allow 10.0.0.0/8 m.yaml >got.json
	agree want got.json
	[ "$(field got.json destinations_expected)" -eq 1000000 ]
}

@test "standard input, and less sent than scheduled" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=3000 rate=10000 lose=5 >c.pcap 2>want
	"$sink" --source pcap:- s.yaml --sent 3000 <c.pcap >got.json
	agree want got.json
	# Without --sent the schedule counts.
	"$sink" --source pcap:- s.yaml <c.pcap >got.json
	[ "$(field got.json lost_by_schedule_pkts)" -eq 2600 ]
}

@test "rate max without a count: what came last is all that is known to be sent" {
	local order
	"$mkpcap" packets=100 lose=5 >c.pcap 2>/dev/null
	for order in sequential uniform; do
		scenario s.yaml 10000 5000 "$order"
		sed -i -e '/count:/d' -e '/new_dest/d' -e 's/rate_pps: .*/rate_pps: max/' s.yaml
		timeout 10 "$sink" --source pcap:c.pcap s.yaml >got.json
		echo "$order: $(field got.json lost_by_schedule_pkts) of 100 lost"
		[ "$(field got.json lost_by_schedule_pkts)" -lt 100 ]
	done
}

@test "without a scenario: addresses and sequence" {
	"$mkpcap" packets=5000 lose=10 dup=20 swap=25 csum=30 arp=40 other=50 2>want >c.pcap
	# The last packet of the flow is lost: no range tells of it.
	grep -vE '^(gap|first|lost)' want >want2
	"$sink" --source pcap:c.pcap --destinations dest >got.json
	agree want2 got.json
	[ "$(field got.json lost_by_schedule_pkts)" -eq 499 ]
	[ "$(field got.json gap_ns.max)" -eq 0 ]
	[ "$(wc -l <dest)" -eq "$(field got.json destinations_seen)" ]
}

@test "every order that the generator sends is the one that the sink expects" {
	local order net6=2001:2:0:1:: gen=$build/dststorm-gen
	cat >a.yaml <<-EOF
		name: orders
		duration_s: 1
		streams:
		  - {name: four, destinations: [198.19.0.0/20], sources: [198.18.0.2], rate_pps: 1000}
		  - {name: six, destinations: ['${net6}/112'], sources: ['2001:2::2'], order: ORDER,
		     rate_pps: 1000, start_s: 0.25}
	EOF
	printf '%s 0\n' foreign_pkts lost_by_schedule_pkts destinations_unseen delay_ns.max gap_ns.max >want
	printf '%s 1000\nstreams.1.%s 750\n' streams.0.rx_pkts rx_pkts >>want
	for order in sequential 'stride, stride: 7' permute uniform 'zipf, zipf_s: 1.2' \
		'hot, hot: {packets: 0.8}' 'window, window: 50, new_destinations_per_s: 10'; do
		echo "order: $order"
		sed "s/ORDER/$order/" a.yaml >b.yaml
		"$gen" --dry-run c.pcap b.yaml >/dev/null
		"$sink" --source pcap:c.pcap b.yaml >got.json
		agree want got.json
	done
	# A scan of 2^64 - 1 addresses costs what it sends; drawn orders need room for all.
	sed "s/ORDER/permute/; s/${net6}.112/2001:2:0:1:0:0:0:1-2001:2:0:1:ffff:ffff:ffff:ffff/" a.yaml >b.yaml
	"$gen" --dry-run c.pcap b.yaml >/dev/null
	(ulimit -v 400000; "$sink" --source pcap:c.pcap b.yaml >got.json)
	agree want got.json
	fails 2 'at most 2\^26 of them: take order: permute' --source pcap:c.pcap b.yaml --set streams.1.order=uniform
}

@test "shards: each its own sequence, together the set" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=100 rate=10000 >c.pcap 2>/dev/null
	# A capture of one generator that had all the work is none of two that shared it.
	"$sink" --source pcap:c.pcap s.yaml --shard-count 2 >got.json
	[ "$(field got.json rx_pkts)" -eq 1 ]
	[ "$(field got.json foreign_pkts)" -eq 99 ]
	[ "$(field got.json destinations_expected)" -eq 100 ]
}

@test "--align takes the first probe as undelayed" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=5000 rate=10000 delay=500000000000000 >c.pcap 2>/dev/null
	"$sink" --source pcap:c.pcap s.yaml >got.json
	[ "$(field got.json delay_ns.max)" -eq 500000000000000 ]
	"$sink" --source pcap:c.pcap s.yaml --align >got.json
	[ "$(field got.json delay_ns.max)" -eq 0 ]
	[ "$(field got.json early_pkts)" -eq 0 ]
}

@test "a line for each destination" {
	scenario s.yaml 10000 250 sequential
	"$mkpcap" packets=250 rate=10000 lose_from=100 lose_to=110 >c.pcap 2>/dev/null
	"$sink" --source pcap:c.pcap s.yaml --destinations dest --json got.json >out
	[ ! -s out ]
	[ "$(wc -l <dest)" -eq 100 ]
	[ "$(head -n 1 dest)" = '{"address":"198.19.0.2","received":2,"first_delivery_ns":1000,"gap_ns":10000000}' ]
	[ "$(sed -n 50p dest)" = '{"address":"198.19.0.51","received":3,"first_delivery_ns":1000,"gap_ns":0}' ]
	[ "$(sed -n 100p dest)" = '{"address":"198.19.0.101","received":2,"first_delivery_ns":1000,"gap_ns":0}' ]
	/usr/bin/python3 -c '
import json
assert sum(json.loads(l)["received"] for l in open("dest")) == json.load(open("got.json"))["rx_pkts"]'
}

@test "a destination that nothing came to has no first delivery" {
	scenario s.yaml 10000 250 sequential
	"$mkpcap" packets=250 rate=10000 lose_from=49 lose_to=250 >c.pcap 2>/dev/null
	"$sink" --source pcap:c.pcap s.yaml --destinations dest >got.json
	[ "$(sed -n 50p dest)" = '{"address":"198.19.0.51","received":0,"first_delivery_ns":null,"gap_ns":30000000}' ]
	[ "$(field got.json destinations_unseen)" -eq 51 ]
}

@test "histograms are HdrHistogram V2 logs that hold every value" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=5000 rate=10000 lose=9 >c.pcap 2>/dev/null
	mkdir h
	"$sink" --source pcap:c.pcap s.yaml --hist-dir h >got.json
	[ "$(ls -A h)" = "$(printf 'delay.hlog\nfirst_delivery.hlog\ngap.hlog')" ]
	/usr/bin/python3 - <<-'EOF'
		import base64, json, struct, zlib
		def total(name):
		    line = open(f"h/{name}.hlog").read().splitlines()[-1].split(",")
		    raw = base64.b64decode(line[3])
		    cookie, length = struct.unpack(">ii", raw[:8])
		    assert cookie == 0x1c849314, hex(cookie)
		    data = zlib.decompress(raw[8:8 + length])
		    cookie, length, _, digits, low, high, _ = struct.unpack(">iiiiqqd", data[:40])
		    assert cookie == 0x1c849313 and digits == 3 and low == 1 and high >= 10 ** 11
		    count, value, shift = 0, 0, 0
		    for byte in data[40:40 + length]:
		        value |= (byte & 127) << shift
		        shift += 7
		        if byte < 128:
		            n = (value >> 1) ^ -(value & 1)
		            count += max(n, 0)
		            value = shift = 0
		    return count
		got = json.load(open("got.json"))
		assert total("delay") == got["rx_pkts"]
		assert total("first_delivery") == got["destinations_seen"]
		assert total("gap") == got["destinations_expected"]
	EOF
}

@test "the fields of the statistics are those of the protocol" {
	scenario s.yaml 10000 100 sequential
	"$mkpcap" packets=100 rate=10000 >c.pcap 2>/dev/null
	"$sink" --source pcap:c.pcap s.yaml >got.json
	grep '^\*\*sink statistics' "$here/docs/protocol.md" >doc
	/usr/bin/python3 - <<-'EOF'
		import json, re
		got = json.load(open("got.json"))
		doc = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", open("doc").read()))))
		names = set(got) - {"v"}
		for key in ("delay_ns", "first_delivery_ns", "gap_ns"):
		    names |= set(got[key])
		(stream,) = got["streams"]
		assert stream.pop("name") == "flood"
		assert all(got[key] == stream[key] for key in stream)
		assert {"rx_pkts", "destinations_unseen", "gap_ns"} < set(stream)
		assert names | {"name"} == doc - {"finish", "same"}, names ^ doc
	EOF
}

# --- bad input -------------------------------------------------------------------------------------
@test "bad command lines and files: one line, exit 2, nothing left" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=10 >c.pcap 2>/dev/null
	echo "this is no capture, but longer than a header" >text
	: >empty
	mkdir h
	# Raw IP instead of Ethernet.
	{ head -c 20 c.pcap; printf '\145\0\0\0'; } >raw.pcap
	printf 'name: x\nnonsense: 1\n' >bad.yaml
	fails 2 'where from' s.yaml
	fails 2 'give -s pcap:c.pcap' pcap:c.pcap s.yaml
	fails 2 'is live:INTERFACE or a port' --source udp:1
	fails 2 'lacks a name' --source pcap:
	fails 2 'is no port' --source c.pcap
	fails 2 'nofile.*No such file' --source pcap:nofile
	fails 2 'no capture' --source pcap:text
	fails 2 'no capture' --source pcap:empty
	fails 2 'directory' --source pcap:h
	fails 2 'no Ethernet' --source pcap:raw.pcap
	fails 2 'none.yaml.*No such file' --source pcap:c.pcap none.yaml
	fails 2 'bad.yaml:[0-9]+: ' --source pcap:c.pcap bad.yaml
	fails 2 'nonsense' --source pcap:c.pcap s.yaml --set nonsense=1
	fails 2 'cannot write.*nodir' --source pcap:c.pcap s.yaml --hist-dir nodir
	fails 2 'shard-count needs' --source pcap:c.pcap s.yaml --shard-count 0
	fails 2 'shard-count needs' --source pcap:c.pcap s.yaml --shard-count 256
	fails 2 'sent needs' --source pcap:c.pcap s.yaml --sent -1
	fails 2 'more than the 5000' --source pcap:c.pcap s.yaml --sent 5001
	fails 2 'need a scenario' --source pcap:c.pcap --sent 10
	fails 2 'too much' --source pcap:c.pcap s.yaml s.yaml
	fails 2 'control' --source pcap:c.pcap --control x
	fails 2 'needs a scenario' --source vhost:v
	fails 2 'leave them out' --source vhost:v --control x s.yaml
	fails 2 '198.20.0.0/16' --source pcap:c.pcap s.yaml --set 'streams.0.destinations=[198.20.0.0/16]'
	fails 2 '(memory|more than)' --source pcap:c.pcap s.yaml --memory 0
}

@test "a wrong option: exit 2" {
	fails 2 'nonsense' --nonsense
	fails 2 'memory' --source pcap:x --memory
}

@test "captures that break off: what was read counts, exit 3" {
	local size status frames
	scenario s.yaml 10000 100 sequential
	"$mkpcap" packets=100 rate=10000 >c.pcap 2>/dev/null
	for size in 7599 7540 100 84 30 25; do
		head -c $((24 + size)) c.pcap >cut.pcap
		status=0
		"$sink" --source pcap:cut.pcap s.yaml >got.json 2>err || status=$?
		frames=$((size / 76))
		[ "$status" -eq 3 ]
		one_line err
		grep -q "cut.pcap breaks off after $frames packets: " err
		[ "$(field got.json rx_pkts)" -eq "$frames" ]
		[ "$(field got.json state)" = failed ]
	done
	# Corrupt: a frame of 4 GB.
	{ head -c $((24 + 76 * 5 + 8)) c.pcap; printf '\377\377\377\377\377\377\377\377'; tail -c 1000 c.pcap; } >bad.pcap
	run -3 --separate-stderr "$sink" --source pcap:bad.pcap s.yaml
	[[ $stderr == *"breaks off after 5 packets"* ]]
	# The header alone is an empty capture.
	head -c 24 c.pcap >none.pcap
	"$sink" --source pcap:none.pcap s.yaml >got.json
	[ "$(field got.json lost_by_schedule_pkts)" -eq 100 ]
	[ "$(field got.json destinations_unseen)" -eq 100 ]
}

@test "results that cannot be written: exit 3" {
	scenario s.yaml 10000 100 sequential
	"$mkpcap" packets=100 rate=10000 >c.pcap 2>/dev/null
	fails 3 '/dev/full' --source pcap:c.pcap s.yaml --json /dev/full
	fails 3 '/dev/full' --source pcap:c.pcap s.yaml --destinations /dev/full
	fails 3 'no/such' --source pcap:c.pcap s.yaml --json no/such
}

@test "no memory: one line" {
	scenario big.yaml 1000000 16777216 sequential 1 10.0.0.0/8
	"$mkpcap" packets=10 >c.pcap 2>/dev/null
	# What is not sent costs nothing.
	(ulimit -v 400000; "$sink" --source pcap:c.pcap --allow 10.0.0.0/8 big.yaml --set streams.0.count=1000 >got.json)
	[ "$(field got.json destinations_expected)" -eq 1000 ]
	run -2 --separate-stderr bash -c "ulimit -v 400000; exec '$sink' --source pcap:c.pcap --allow 10.0.0.0/8 big.yaml"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"no memory for 16777216 destinations"* ]]
	scenario s.yaml 10000 100 sequential
	fails 3 'memory' --source vhost:v s.yaml --memory 1
	fails 3 'memory' --source vhost:v s.yaml --memory 8
}

@test "a signal ends the reading of a pipe: what came is told" {
	"$mkpcap" packets=100 >c.pcap 2>/dev/null
	mkfifo pipe
	"$sink" --source pcap:- <pipe >got.json 2>err &
	pids+=($!)
	exec 9>pipe
	cat c.pcap >&9
	sleep 0.3
	kill -INT "${pids[0]}"
	ends "${pids[0]}" 0
	exec 9>&-
	[ ! -s err ]
	[ "$(field got.json rx_pkts)" -eq 100 ]
}

# --- a guest ---------------------------------------------------------------------------------------
@test "vhost: counts, answers ARP, ends cleanly on SIGTERM, needs no root" {
	local user=()
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=180 rate=10000 arp=10 lose=9 swap=7 >c.pcap 2>want
	chmod 777 .
	[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${user[@]}" "$sink" --source "vhost:$PWD/v" s.yaml --sent 180 --json got.json 2>err &
	pids+=($!)
	wait_for v
	[ "$(stat -c %a v)" = 600 ]
	peer c.pcap
	peer_ends
	kill -TERM "${pids[0]}"
	ends "${pids[0]}" 0
	cat err
	[ ! -s err ]
	grep -vE '_ns' want >want2
	agree want2 got.json
	[ "$(field got.json arp_replies)" -eq "$(field got.json arp_requests)" ]
	[ "$(tcpdump -nr got arp 2>/dev/null | grep -c 'Reply 198.19.0.2 is-at 02:d5:c6:13:00:02')" -eq \
		"$(field got.json arp_requests)" ]
	[ "$(find . | sort | tr '\n' ' ')" = ". ./c.pcap ./err ./got ./got.json ./peer.log ./s.yaml ./want ./want2 " ]
}

@test "vhost: silent and late answers as the scenario says" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=100 rate=10000 arp=10 >c.pcap 2>/dev/null
	printf 'responder:\n  answer_probe: 4\n  delay_ms: 200\n' >>s.yaml
	"$sink" --source "vhost:$PWD/v" s.yaml --json got.json &
	pids+=($!)
	wait_for v
	peer c.pcap
	peer_ends
	kill -TERM "${pids[0]}"
	ends "${pids[0]}" 0
	[ "$(field got.json arp_requests)" -eq 10 ]
	[ "$(field got.json arp_silent)" -eq 3 ]
	[ "$(field got.json arp_replies)" -eq 7 ]
}

@test "busy and stale sockets" {
	scenario s.yaml 10000 100 sequential
	"$sink" --source "vhost:$PWD/v" s.yaml >/dev/null &
	pids+=($!)
	wait_for v
	fails 3 'v is in use' --source "vhost:$PWD/v" s.yaml
	kill -KILL "${pids[0]}"
	wait "${pids[0]}" || :
	[ -S v ]
	"$sink" --source "vhost:$PWD/v" s.yaml >got.json &
	pids=($!)
	sleep 0.5
	kill -INT "${pids[0]}"
	ends "${pids[0]}" 0
	[ ! -e v ]
	echo keep >file
	fails 3 'no socket' --source "vhost:$PWD/file" s.yaml
	[ "$(cat file)" = keep ]
	fails 3 'at most 107 bytes' --source "vhost:/tmp/$(printf '%0110d' 0)" s.yaml
	fails 2 'DPDK takes no path' --source "vhost:a,b" s.yaml
	fails 3 'cannot listen' --source "vhost:$PWD/no/such/v" s.yaml
	fails 3 'cannot listen' --source "vhost:$PWD/v" --control no/such/c
}

# --- the control socket ----------------------------------------------------------------------------
drive()
{
	/usr/bin/python3 "$here/tests/e2e/sink-drive.py" c "$@"
}

# controlled ARG...: a sink with its control socket; sets pid.
controlled()
{
	"$sink" --source "vhost:$PWD/v" --control c "$@" 2>err &
	pid=$!
	pids+=("$pid")
	wait_for c
	[ -S v ] # the guest's socket is there first
	[ "$(stat -c %a c)" = 600 ]
}

params()
{
	/usr/bin/python3 -c 'import json, sys
print(json.dumps({"scenario": open(sys.argv[1]).read(), "name": sys.argv[1], "set": [],
                  "nr_shards": 1, "hist_dir": sys.argv[2], "dut_addresses": ["198.19.0.2/16"]}))' \
		"$1" "${2:-.}"
}

@test "control: a whole run" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=150 rate=10000 lose=9 arp=10 >c.pcap 2>want
	mkdir h
	good=$(params s.yaml h)
	controlled --json got.json
	drive hello ping "configure $good" 'arm {"timeout_ms": 60000}' \
		'start {"at_ns": 1000000000}' 'sleep 3' stats stop 'finish {"lanes": [{"sent_pkts": 75}, 75]}' stats \
		quit >log &
	driver=$!
	peer c.pcap
	wait "$driver"
	cat log
	ends "$pid" 0
	peer_ends
	[ ! -s err ]
	grep -q '^hello {"role": "sink", "version": ".*", "pid": '"$pid}" log
	grep -qx 'arm {"link": true}' log
	grep -q '^event {.*"event": "sample"' log
	sed -n 's/^finish //p' log >final.json
	grep -vE '_ns' want >want2
	agree want2 final.json
	agree want2 got.json
	[ "$(field final.json state)" = 'done' ]
	# 198.19.0.2 was said to be the DUT's.
	[ "$(field final.json arp_refused)" -eq "$(field final.json arp_requests)" ]
	[ "$(field final.json destinations_expected)" -eq 100 ]
	[ "$(find h -name '*.hlog' | wc -l)" -eq 3 ]
	[ ! -e c ] && [ ! -e v ]
}

@test "control: wrong requests are answered and harm nothing" {
	scenario s.yaml 10000 5000 sequential
	printf 'name: x\nnonsense: 1\n' >bad.yaml
	good=$(params s.yaml) bad=$(params bad.yaml) nodir=$(params s.yaml no/dir)
	controlled
	drive 'raw nonsense' 'raw {"v":1,"method":"hello"}' fly start finish stats \
		'configure {}' "configure $bad" "configure $nodir" \
		'configure {"scenario": "a: [", "name": "x"}' \
		'configure {"scenario": "name: x", "set": 7}' arm \
		"configure $good" start 'arm {"timeout_ms": -1}' 'arm {"timeout_ms": 100}' \
		stats "configure $good" quit >log
	cat log
	ends "$pid" 0
	[ ! -s err ]
	grep -q '^raw {"code": 2, .*integer id' log
	grep -q '^fly {"code": 2, .*no method' log
	grep -q '^start {"code": 2, "text": "start is not possible while idle"}' log
	grep -q '^finish {"code": 2, ' log
	grep -q '^stats {"code": 2, ' log
	grep -q '^configure {"code": 2, .*bad.yaml:2' log
	grep -q '^configure {"code": 2, .*no/dir' log
	[ "$(grep -c '^configure {"code": 2, ' log)" -eq 5 ]
	[ "$(grep -c '^configure {}' log)" -eq 2 ]
	grep -q '^arm {"code": 2, "text": "arm is not possible while idle"}' log
	grep -q '^arm {"code": 3, .*waited in vain for the driver of a guest' log
	grep -q '^stats {.*"state": "configured"' log
	grep -q '^quit {}' log
}

@test "control: one controller at a time" {
	controlled
	drive hello 'sleep 1' quit >log &
	sleep 0.5
	drive listen >second
	wait $!
	ends "$pid" 0
	grep -q '^listen .*controller already' second
	grep -q '^quit {}' log
}

@test "control: the controller goes away in the middle: statistics kept, exit 3" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=150 rate=10000 >c.pcap 2>/dev/null
	good=$(params s.yaml)
	controlled --json got.json --hist-dir .
	drive "configure $good" 'arm {"timeout_ms": 60000}' start 'sleep 3' &
	driver=$!
	peer c.pcap
	wait "$driver"
	ends "$pid" 3
	peer_ends
	one_line err
	grep -q 'controller is gone' err
	[ "$(field got.json state)" = failed ]
	[ "$(field got.json rx_pkts)" -eq 150 ]
	[ -e delay.hlog ]
	[ ! -e c ] && [ ! -e v ]
}

@test "control: a silent controller is gone, too; so is one that never came" {
	scenario s.yaml 10000 5000 sequential
	"$mkpcap" packets=10 rate=10000 >c.pcap 2>/dev/null
	good=$(params s.yaml)
	controlled --json got.json
	drive "configure $good" 'arm {"timeout_ms": 60000}' 'sleep 3' start 'silence 4' >log &
	driver=$!
	peer c.pcap
	wait "$driver"
	ends "$pid" 3
	peer_ends
	one_line err
	grep -q 'silent for 2 s' err
	[ "$(field got.json rx_pkts)" -eq 10 ]
	controlled
	ends "$pid" 3 15
	one_line err
	grep -q 'no controller came' err
	[ ! -e c ] && [ ! -e v ]
}

@test "control: a line without end" {
	controlled
	drive 'raw {}' 'endless 263000' >log
	cut -c 1-100 log
	ends "$pid" 3
	one_line err
}

@test "control: SIGTERM at any time ends cleanly" {
	scenario s.yaml 10000 5000 sequential
	good=$(params s.yaml)
	controlled --json got.json
	drive "configure $good" 'sleep 2' >log &
	wait_for log
	until grep -q configure log; do sleep 0.05; done
	kill -TERM "$pid"
	ends "$pid" 0
	wait
	[ ! -s err ]
	[ "$(field got.json rx_pkts)" -eq 0 ]
	[ ! -e c ] && [ ! -e v ]
}

# --- documentation ---------------------------------------------------------------------------------
@test "the man page has every option of --help" {
	"$sink" --help | grep -oE -- '--[a-z-]+' | sort -u >options
	[ "$(wc -l <options)" -gt 10 ]
	while read -r option; do
		grep -qF -- "*$option" "$here/docs/dststorm-sink.1.scd" || { echo "$option"; false; }
	done <options
	scdoc <"$here/docs/dststorm-sink.1.scd" >page
}
