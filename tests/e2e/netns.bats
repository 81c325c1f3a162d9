#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The netns lab: a million packets through namespaces of this kernel, what it refuses, what it leaves.

bats_require_minimum_version 1.5.0
load ../guest/run

setup()
{
	setup_run
	[ "$(id -u)" -eq 0 ] || skip "SKIP: making network namespaces needs root"
	Y=$BATS_TEST_TMPDIR/s.yaml
	before=$(host)
}

teardown()
{
	[ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# Everything of this host that the lab might change.
host()
{
	sysctl net.ipv4 net.ipv6 2>/dev/null
	ip -o link | cut -d: -f 2
	ip route
}

host_is_as_it_was()
{
	diff <(echo "$before") <(host)
}

# small SED: the scenario with 100 neighbours, for a second.
small()
{
	cat >"$Y" <<-EOF
		name: small
		lab: netns
		duration_s: 1
		dut:
		  sysctl:
		    net.ipv4.conf.all.rp_filter: 0
		streams:
		  - name: flood
		    destinations: [198.19.1.1-198.19.1.100]
		    sources: [198.18.0.2]
		    rate_pps: 1k
	EOF
	sed -i "$1" "$Y"
}

# refused STATUS PATTERN: one line that matches, nothing made.
refused()
{
	run --separate-stderr "${@:3}" ./dststorm run --results "$R" "$Y"
	echo "status $status, said: $stderr"
	[ "$status" -eq "$1" ]
	[ "$(echo "$stderr" | wc -l)" -eq 1 ]
	[[ $stderr =~ $2 ]]
	[ ! -e "$R" ]
	host_is_as_it_was
}

million()
{
	./dststorm run --quiet --results "$R" --gen-port "$1" --set streams.0.rate_pps=200k \
		--set duration_s=5 --set drain_s=1 configs/namespaces.yaml >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	status=0
	wait "$pid" || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ] # a slow machine may not send them all
	nothing_left "$pid"
	expect valid true accounting.unexplained_pkts 0 offered.intended_pkts 1000000
	[ "$(value offered.sent_pkts)" -eq $(($(value sink.rx_pkts) + $(value sink.capture_dropped_pkts))) ]
	[ "$(value offered.sent_pkts)" -eq $((1000000 - $(value offered.unsent_pkts))) ]
	[ "$(value sink.rx_pkts)" -ge 100000 ]
	grep -q 'neighbour tables.* are one per kernel' "$BATS_TEST_TMPDIR/out"
	schemas_hold
	host_is_as_it_was
}

@test "a million packets over af_packet: delivered or named" {
	million af_packet
}

@test "a million packets over af_xdp: delivered or named" {
	million af_xdp
}

@test "a sink that stalls: what its capture dropped is named, to the packet" {
	./dststorm run --quiet --results "$R" --set streams.0.rate_pps=100k --set duration_s=3 \
		--set drain_s=1 --set require=[] --test-sink-buffer 2 configs/namespaces.yaml >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		! grep -qs '"running"' "$R"/*/events.jsonl || break
		sleep 0.1
	done
	sleep 0.5
	sink=$(pgrep -P "$pid" -f dststorm-sink)
	kill -STOP "$sink"
	sleep 1
	kill -CONT "$sink"
	status=0
	wait "$pid" || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 0 ]
	expect valid true verdict sink-limited accounting.unexplained_pkts 0
	[ "$(value sink.capture_dropped_pkts)" -gt 0 ]
	[ "$(value sink.lost_pkts)" -eq "$(value sink.capture_dropped_pkts)" ]
	nothing_left "$pid"
}

@test "IPv6, and 100 neighbours: clean" {
	small 's/198.19.1.1-198.19.1.100/2001:2:0:2::100-2001:2:0:2::163/; s/198.18.0.2/2001:2:0:1::2/'
	run ./dststorm run --quiet --results "$R" --set drain_s=1 "$Y"
	echo "$output"
	[ "$status" -eq 0 ]
	expect valid true verdict clean sink.destinations_seen 100
	host_is_as_it_was
}

@test "more neighbours than fit under gc_thresh2 beside the host's are refused" {
	small 's/198.19.1.1-198.19.1.100/198.19.16.0-198.19.33.255/'
	refused 2 'gc_thresh2.*lab: vm'
}

@test "thresholds and what else is the host's are refused" {
	small 's/net.ipv4.conf.all.rp_filter/net.ipv4.neigh.default.gc_thresh3/'
	refused 2 'gc_thresh3.*the host.s'
	small 's/net.ipv4.conf.all.rp_filter/kernel.panic/'
	refused 2 'kernel.panic.*host itself'
}

@test "without root: one line, exit 3" {
	small ''
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
	refused 3 'root' setpriv --reuid=65534 --clear-groups
}

@test "kill -9: no process, no namespace, no setting is left; the next run is clean" {
	small 's/duration_s: 1/duration_s: 20/'
	namespaces=$(readlink /proc/[0-9]*/ns/net | sort -u | wc -l)
	./dststorm run --quiet --results "$R" "$Y" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	sleep 2.5
	[ "$(readlink /proc/[0-9]*/ns/net | sort -u | wc -l)" -eq $((namespaces + 3)) ]
	kill -9 "$pid"
	wait "$pid" || true
	nothing_left "$pid"
	[ "$(readlink /proc/[0-9]*/ns/net | sort -u | wc -l)" -eq "$namespaces" ]
	host_is_as_it_was
	rm -rf "$R"
	small ''
	run ./dststorm run --quiet --results "$R" --set drain_s=0.5 "$Y"
	echo "$output"
	[ "$status" -eq 0 ]
	expect verdict clean
}
