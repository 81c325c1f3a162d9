#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/deps with a machine made of stand-ins for dpkg-query, apt-get and id. (The real thing is
# scripts/debian-fresh.)

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	fake=$BATS_TEST_TMPDIR/bin
	mkdir "$fake"
	export HIDDEN=$BATS_TEST_TMPDIR/hidden APT_LOG=$BATS_TEST_TMPDIR/apt
	: >"$HIDDEN"
	: >"$APT_LOG"
	# Everything is installed but what stands in $HIDDEN.
	stand_in dpkg-query 'shift 3; for p; do grep -qx "$p" "$HIDDEN" || echo "installed $p"; done'
	stand_in id 'echo ${FAKE_UID:-0}'
	stand_in apt-get 'echo "$*" >>"$APT_LOG"; case "$*" in *\ install\ *) [ -n "${BROKEN:-}" ] && { echo "E: no"; exit 100; }; [ -n "${LAZY:-}" ] || : >"$HIDDEN";; esac'
	export PATH=$fake:$PATH
}

stand_in()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$fake/$1"
	chmod +x "$fake/$1"
}

@test "nothing is missing here: no word, no apt-get, well under 2 s" {
	PATH=${PATH#"$fake":}
	begin=$(date +%s%N)
	run scripts/deps all
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ $(($(date +%s%N) - begin)) -lt 2000000000 ]
}

@test "as root exactly what is missing is installed, without recommendations" {
	printf 'libyaml-dev\nscdoc\n' >"$HIDDEN"
	run scripts/deps all
	[ "$status" -eq 0 ]
	[ "$output" = "deps: installing libyaml-dev scdoc" ]
	grep -q 'update$' "$APT_LOG"
	grep -q 'install --no-install-recommends --no-remove libyaml-dev scdoc$' "$APT_LOG"
	[ "$(wc -l <"$APT_LOG")" -eq 2 ]
}

@test "only the sets asked for count" {
	echo scdoc >"$HIDDEN"
	run scripts/deps build run
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ ! -s "$APT_LOG" ]
}

@test "someone else is told the one command, and nothing is changed" {
	echo bats >"$HIDDEN"
	FAKE_UID=1000 run scripts/deps all
	[ "$status" -eq 3 ]
	[ "${lines[1]}" = "apt-get update && apt-get install -y --no-install-recommends bats" ]
	[ "${#lines[@]}" -eq 2 ]
	[ ! -s "$APT_LOG" ]
}

@test "an apt-get that fails is told with its reason" {
	echo bats >"$HIDDEN"
	BROKEN=1 run scripts/deps all
	[ "$status" -eq 3 ]
	[[ $output == *"E: no"* ]]
	[[ ${lines[-1]} == *"mend that"* ]]
}

@test "an apt-get that does nothing is not believed" {
	echo bats >"$HIDDEN"
	LAZY=1 run scripts/deps all
	[ "$status" -eq 3 ]
	[[ ${lines[-1]} == *"still missing"*bats* ]]
}

@test "an unknown set is a usage error" {
	run scripts/deps everything
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "what the makefile links against is listed" {
	run scripts/deps list build
	[ "$status" -eq 0 ]
	for lib in $(grep -oE -- '-l(yaml|jansson|z|event|nl-3|pcap)' Makefile | sort -u); do
		case $lib in
		-lz) name=zlib1g-dev ;;
		*) name=lib${lib#-l}-dev ;;
		esac
		grep -qx "$name" <<<"$output"
	done
}
