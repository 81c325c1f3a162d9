#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rtcache.ko in guests with both kernels, loaded and refused, hooked and not, and on two CPUs under a flood.

load rtcache

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build_parts
	# One thread plays both CPUs: with one for each, QEMU 7.2 can execute for ever an int3 that ftrace
	# has long replaced, whoever uses ftrace (switching its function tracer on and off shows it too).
	part exact 6.1 -smp 1 -icount shift=0,sleep=off &
	part exact 6.12 -smp 1 -icount shift=0,sleep=off &
	wait
	part busy 6.1 -smp 2 -accel tcg,thread=single
	part busy 6.12 -smp 2 -accel tcg,thread=single
}

@test "6.1: loads, measures, hooks and unhooks; costs at most 45 instructions idle" {
	played exact 6.1 41
}

@test "6.12: loads, measures, hooks and unhooks; costs at most 45 instructions idle" {
	played exact 6.12 41
}

@test "6.1: switched and unloaded under a flood" {
	played busy 6.1 25
}

@test "6.12: switched and unloaded under a flood" {
	played busy 6.12 25
}
