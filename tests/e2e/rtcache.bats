#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The route cache in user space: right when everything happens at once, and the same every time.

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	R=${B:-build}/dststorm-rtcache
	T=$BATS_TEST_TMPDIR
}

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s B="${B:-build}" "${B:-build}/dststorm-rtcache" "${B:-build}/dststorm-rtcache-asan"
}

field()
{
	/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <"$2"
}

@test "torture: all switches turned under lookups, insertions, flushes and failing allocations" {
	"$R-asan" torture --seconds 4 >"$T/out"
	for name in hits held inserted evicted expired flushed no_memory changes; do
		[ "$(field $name "$T/out")" -gt 0 ]
	done
	for name in poisoned over leaked; do
		[ "$(field $name "$T/out")" -eq 0 ]
	done
	[ "$(field most_entries "$T/out")" -gt 1000 ]
}

@test "torture: each variant stays as it is, and right" {
	for axes in "lookup=rwlock refcnt=shared timer=lazy" "lookup=rwlock refcnt=shared timer=global touch=batch" \
		"timer=global touch=direct rmap=object" "timer=percpu touch=direct refcnt=noref" \
		"timer=percpu touch=batch rmap=object refcnt=percpu"; do
		"$R" torture --seconds 0.7 --axes "$axes" >"$T/out"
		[ "$(field hits "$T/out")" -gt 1000 ]
	done
}

@test "torture: a cache that frees without a grace period is found out" {
	run ! "$R-asan" torture --broken --seconds 10
	[[ $output = *heap-use-after-free* ]]
	run ! "$R" torture --broken --seconds 3
}

@test "replay: a state that can be, the same in two builds, for each variant" {
	for axes in "timer=lazy rmap=chain" "timer=lazy rmap=object" "timer=global rmap=chain" \
		"timer=percpu touch=batch rmap=object" "lookup=rwlock timer=global touch=batch"; do
		tests/e2e/rtcache-trace.py make 7 20000 "$axes" >"$T/trace"
		"$R" replay "$T/trace" >"$T/dump"
		tests/e2e/rtcache-trace.py check "$T/dump" "$axes"
		"$R-asan" replay - <"$T/trace" | cmp - "$T/dump"
	done
}

@test "what cannot be is one line" {
	run -2 "$R" bench --order backwards
	run -2 "$R" dance
	run -3 "$R" bench --axes lookup=fast
	[ "$output" = "dststorm-rtcache: lookup is off, rwlock or rcu" ]
	run -3 "$R" bench --axes "lookup=rwlock refcnt=noref"
	[ "$output" = "dststorm-rtcache: lookup=rwlock needs refcnt=shared: a dst can only be borrowed under RCU" ]
	run -3 "$R" torture --seconds 1 --axes "touch=batch"
	[[ $output = *"touch=batch needs timer=global or percpu"* ]]
	printf 'find 1 2 3 4 5 6\n' >"$T/trace"
	run -3 "$R" replay "$T/trace"
	[[ $output = *"trace:1: "* ]] && [ "${#lines[@]}" -eq 1 ]
	run -3 "$R" replay "$T/none"
	[ "${#lines[@]}" -eq 1 ]
}
