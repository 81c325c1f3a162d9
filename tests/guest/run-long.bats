#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The scenarios that run.bats leaves out; `make check-long` only, as the name says.

load run

setup()
{
	setup_run
}

@test "gateway: one next hop, no neighbour pressure" {
	scenario gateway 6.12
}

@test "window-churn: new destinations fill the table, not packets" {
	scenario window-churn 6.12
}

@test "zipf: the tail fills the table" {
	scenario zipf 6.12
}

@test "rdos: random over the whole lab range" {
	scenario rdos 6.1
}

@test "no-route: a dst entry a packet" {
	scenario no-route 6.1
}

@test "burst: 24,000 neighbours at once" {
	scenario burst 6.1
}
