#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-mon in guests with both kernels: what it says against what was done, packet by packet.
# mon-scenes plays all scenes in one boot of each kernel (and one more for each death); the tests
# below look up what it printed.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	local build=${B:-build} series kernel image
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I. -O2 -Wall -Wextra -o "$BATS_FILE_TMPDIR/mon-scenes" \
		tests/guest/mon-*.c "$build/libdststorm.a" -ljansson -lm
	for series in 6.1 6.12; do
		kernel=$(scripts/guest-kernel "debian-$series")
		image=$(scripts/guest-image "$kernel" "$build/dststorm-mon")
		timeout 400 "$BATS_FILE_TMPDIR/mon-scenes" "$kernel" "$image" "$BATS_FILE_TMPDIR/console-$series" \
			>"$BATS_FILE_TMPDIR/checks-$series" 2>"$BATS_FILE_TMPDIR/notes-$series" 3>&- &
	done
	wait
}

# scene SERIES NAME COUNT: exactly COUNT checks of that scene were made, and all are good.
scene()
{
	local file=$BATS_FILE_TMPDIR/checks-$1
	grep -E "^(not )?ok $2: " "$file" || echo "no check of scene $2 was made"
	if grep -q "^not ok $2: " "$file" || [ "$(grep -c "^ok $2: " "$file")" -ne "$3" ]; then
		echo "wanted $3 checks"
		tail -n 20 "$BATS_FILE_TMPDIR/notes-$1" "$BATS_FILE_TMPDIR/console-$1"
		return 1
	fi
}

@test "6.1: drops can be told by cause and own packets apart" {
	scene 6.1 hello 2
}

@test "6.1: settings are applied and read back, refusals are one sentence" {
	scene 6.1 settings 6
}

@test "6.1: a full table: table_fulls equals the drops named neigh_full" {
	scene 6.1 full 10
}

@test "6.1: a hidden cause makes the accounting fail" {
	scene 6.1 hidden 2
}

@test "6.1: each provoked cause is exact to the packet" {
	scene 6.1 causes 14
}

@test "6.1: a dead destination: queue overflow and failure, exact" {
	scene 6.1 dead 9
}

@test "6.1: a blocked way out: drops at both ends of the queue, exact" {
	scene 6.1 qdisc 6
}

@test "6.1: lost neighbour events are noticed and the table is read anew" {
	scene 6.1 overrun 10
}

@test "6.1: a full table of IPv6, solicitations included" {
	scene 6.1 full6 9
}

@test "6.1: each provoked cause of IPv6 is exact to the packet" {
	scene 6.1 causes6 14
}

@test "6.1: a dead IPv6 destination: queue overflow and failure, exact" {
	scene 6.1 dead6 9
}

@test "6.1: a heartbeat each second" {
	scene 6.1 alive 2
}

@test "6.1: a sample each second while running" {
	scene 6.1 sample 1
}

@test "6.1: the guest powers off under a flood" {
	scene 6.1 quit 1
}

@test "6.1: a panic ends the guest" {
	scene 6.1 panic 1
}

@test "6.1: a hang stops the heart and leaves the guest" {
	scene 6.1 hang 1
}

@test "6.12: drops can be told by cause and own packets apart" {
	scene 6.12 hello 2
}

@test "6.12: settings are applied and read back, refusals are one sentence" {
	scene 6.12 settings 6
}

@test "6.12: a full table: table_fulls equals the drops named neigh_full" {
	scene 6.12 full 10
}

@test "6.12: a hidden cause makes the accounting fail" {
	scene 6.12 hidden 2
}

@test "6.12: each provoked cause is exact to the packet" {
	scene 6.12 causes 14
}

@test "6.12: a dead destination: queue overflow and failure, exact" {
	scene 6.12 dead 9
}

@test "6.12: a blocked way out: drops at both ends of the queue, exact" {
	scene 6.12 qdisc 6
}

@test "6.12: lost neighbour events are noticed and the table is read anew" {
	scene 6.12 overrun 10
}

@test "6.12: a full table of IPv6, solicitations included" {
	scene 6.12 full6 9
}

@test "6.12: each provoked cause of IPv6 is exact to the packet" {
	scene 6.12 causes6 14
}

@test "6.12: a dead IPv6 destination: queue overflow and failure, exact" {
	scene 6.12 dead6 9
}

@test "6.12: a heartbeat each second" {
	scene 6.12 alive 2
}

@test "6.12: a sample each second while running" {
	scene 6.12 sample 1
}

@test "6.12: the guest powers off under a flood" {
	scene 6.12 quit 1
}

@test "6.12: a panic ends the guest" {
	scene 6.12 panic 1
}

@test "6.12: a hang stops the heart and leaves the guest" {
	scene 6.12 hang 1
}
