#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole runs: the scenarios on both kernels, and whether their accounting can be fooled.

load run

setup()
{
	setup_run
}

many()
{
	local pid

	./dststorm run --results "$R" "$@" configs/many-destinations.yaml >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	status=0
	wait "$pid" || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/out")
	echo "$output"
	[ "$status" -eq 0 ]
	nothing_left "$pid"
	expect valid true verdict clean offered.destinations_asked 65534 \
		offered.destinations_sent 65534 sink.destinations_seen 65534 \
		accounting.unexplained_pkts 0 neigh.ipv4.table_fulls 0 offered.unsent_pkts 0 \
		sink.lost_pkts 0
	neighbours_close
	schemas_hold
}

@test "many-destinations is clean: sent, seen and asked are 65,534 (6.1)" {
	many --set duration_s=8
	# The table and the verdict are there for people.
	[[ $output == *"clean: all"* ]]
	# What was derived can be derived again.
	run ./dststorm report "$(result_dir)"
	[ "$status" -eq 0 ]
	[[ $output == *"clean: all"* ]]
}

@test "many-destinations is clean: sent, seen and asked are 65,534 (6.12)" {
	many --set dut.kernel=debian-6.12 --set duration_s=8
}

overflow()
{
	run ./dststorm run --results "$R" --set "dut.kernel=$1" --set duration_s=5 \
		configs/overflow.yaml
	echo "$output"
	[ "$status" -eq 0 ]
	expect valid true verdict neigh-full accounting.unexplained_pkts 0
	[ "$(value neigh.ipv4.table_fulls)" -gt 0 ]
	# The host's own ICMP errors find no room either.
	[ "$(value neigh.ipv4.table_fulls)" -eq \
		$(($(value dut.drops_pkts.neigh_full) + $(value dut.own_drops_pkts.neigh_full))) ]
	[ "$(value sink.destinations_seen)" -le 1024 ]
	neighbours_close
	schemas_hold
}

@test "overflow is neigh-full, to the packet (6.1)" {
	overflow debian-6.1
}

# bats test_tags=long
@test "overflow is neigh-full, to the packet (6.12)" {
	overflow debian-6.12
}

dead()
{
	run ./dststorm run --results "$R" --set "dut.kernel=$1" "${@:3}" configs/dead-destinations.yaml
	echo "$output"
	expect valid true verdict "$2" accounting.unexplained_pkts 0 sink.rx_pkts 0 \
		neigh.ipv4.table_fulls 0
	[ "$(value neigh.ipv4.res_failed)" -gt 0 ]
	neighbours_close
	schemas_hold
}

# bats test_tags=long
@test "dead-destinations is neigh-failed, to the packet (6.1)" {
	dead debian-6.1 neigh-failed --set duration_s=6
	[ "$status" -eq 0 ]
}

@test "dead-destinations is neigh-failed, to the packet (6.12)" {
	dead debian-6.12 neigh-failed --set duration_s=6
	[ "$status" -eq 0 ]
}

@test "more packets than a neighbour's queue holds are neigh-unresolved, and the require line fails" {
	dead debian-6.1 neigh-unresolved --set duration_s=4 --set drain_s=6 \
		--set 'streams.0.destinations=[198.19.32.0/28]' --set streams.0.rate_pps=8k \
		--set streams.0.new_destinations_per_s=8k
	[ "$status" -eq 1 ]
	[[ $output == *"required \`verdict == neigh-failed'"* ]]
}

@test "scan-beside-live: live peers lose nothing" {
	scenario scan-beside-live 6.1
}

@test "ipv6-scan: a scan of a /64 fills the IPv6 table" {
	scenario ipv6-scan 6.12
	grep -q 'no room in the IPv6 neighbour table: raise net.ipv6' "$(result_dir)/summary.json"
}

@test "a cause that is hidden from the accounting makes the run invalid" {
	run ./dststorm run --results "$R" --set duration_s=3 --test-hide-cause neigh_full \
		configs/overflow.yaml
	echo "$output"
	[ "$status" -eq 3 ]
	expect valid false dut.drops_pkts.neigh_full 0
	[ "$(value accounting.unexplained_pkts)" -gt 0 ]
	[ "$(value accounting.unexplained_pkts)" -eq \
		$(($(value neigh.ipv4.table_fulls) - $(value dut.own_drops_pkts.neigh_full))) ]
}
