#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rtcache.ko in guests with both kernels, without a device: rtcache-init plays its checks in boots in
# which a nanosecond is an instruction. The tests below look up what it printed.

load rtcache

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build_parts
	part cache 6.1 -smp 1 -icount shift=0,sleep=off &
	part cache 6.12 -smp 1 -icount shift=0,sleep=off &
	wait
}

@test "6.1: hits, what is not cached, what makes invalid, limits, traces" {
	played cache 6.1 77
}

@test "6.12: hits, what is not cached, what makes invalid, limits, traces" {
	played cache 6.12 77
}
