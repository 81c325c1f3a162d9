#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rtcache.ko in guests with both kernels, on two CPUs under a flood.

load rtcache

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build_parts
	part busy 6.1 -smp 2 -accel tcg,thread=multi
	part busy 6.12 -smp 2 -accel tcg,thread=multi
}

@test "6.1: switched and unloaded under a flood" {
	played busy 6.1 15
}

@test "6.12: switched and unloaded under a flood" {
	played busy 6.12 15
}
