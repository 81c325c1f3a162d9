#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Deaths at random moments: the rest is gone within 5 s, what was measured is kept and marked
# invalid, and the next run starts clean. DEATHS sets how many of each kind (20 in all by default in
# `make check-long`, one of each kind otherwise).

load run

setup()
{
	setup_run
	: "${DEATHS:=1}"
	seed=${DEATHS_SEED:-$RANDOM}
	echo "DEATHS_SEED=$seed"
	RANDOM=$seed
}

start()
{
	env --default-signal=HUP ./dststorm run --quiet --results "$R" --set duration_s=8 "$@" \
		configs/overflow.yaml >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
}

# Ends whatever a failed test has left.
teardown()
{
	[ -z "${pid:-}" ] || kill "$pid" 2>/dev/null || true
}

# The child of dststorm that runs program $1.
child()
{
	pgrep -P "$pid" -f "$1" | head -n 1
}

kept_and_invalid()
{
	[ "$(value valid)" = false ]
	[ -s "$(result_dir)/events.jsonl" ]
	[ -s "$(result_dir)/manifest.json" ]
}

next_run_is_clean()
{
	rm -rf "$R"
	run ./dststorm run --quiet --results "$R" --set duration_s=1 configs/overflow.yaml
	echo "$output"
	[ "$status" -eq 0 ]
}

# kill_at_random PROGRAM: once it runs, wait up to 9 s, then kill -9.
kill_at_random()
{
	local victim='' i

	start
	for ((i = 0; i < 100; i++)); do
		victim=$(child "$1")
		[ -z "$victim" ] || break
		sleep 0.05
	done
	[ -n "$victim" ]
	sleep "$((RANDOM % 9)).$((RANDOM % 1000))"
	kill -9 "$victim"
	status=0
	wait "$pid" || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 3 ]
	nothing_left "$pid"
	kept_and_invalid
	# One line for people.
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 1 ]
	rm -rf "$R"
}

@test "kill -9 of dststorm-gen" {
	for ((n = 0; n < DEATHS; n++)); do kill_at_random dststorm-gen; done
}

# bats test_tags=long
@test "kill -9 of dststorm-sink" {
	for ((n = 0; n < DEATHS; n++)); do kill_at_random dststorm-sink; done
}

@test "kill -9 of QEMU" {
	# The guest, not the `qemu-system-x86_64 --version` that the manifest asks for.
	for ((n = 0; n < DEATHS; n++)); do kill_at_random 'qemu-system.* -kernel'; done
}

@test "kill -9 of dststorm itself; the next run is clean" {
	for ((n = 0; n < DEATHS; n++)); do
		start
		sleep "$((RANDOM % 10)).$((RANDOM % 1000))"
		kill -9 "$pid"
		wait "$pid" || true
		nothing_left "$pid"
		if [ -e "$R" ]; then kept_and_invalid; fi
		rm -rf "$R"
	done
	next_run_is_clean
}

# died HOOK SECONDS LIMIT: the guest dies SECONDS into the flood and that is told LIMIT s later.
died()
{
	local status=0 t

	start "--test-$1-after" "$2"
	wait "$pid" || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 3 ]
	expect valid false verdict dut-died
	kept_and_invalid
	nothing_left "$pid"
	# From the last sample of the monitor to the failure.
	t=$(/usr/bin/python3 - "$(result_dir)" <<'EOF'
import json, sys
d = sys.argv[1]
samples = [json.loads(l) for l in open(f"{d}/samples.jsonl")]
events = [json.loads(l) for l in open(f"{d}/events.jsonl")]
start = next(e["t_ns"] for e in events if e.get("state") == "running")
failed = next(e["t_ns"] for e in events if e["event"] == "failed")
print(int((failed - start) / 1e6))
EOF
	)
	echo "told $t ms after the start"
	[ "$t" -le $((($2 + $3) * 1000 + 800)) ]
}

@test "a panic of the guest is told within 3 s, with the console" {
	for ((n = 0; n < DEATHS; n++)); do
		died panic $((1 + RANDOM % 5)) 3
		grep -q 'sysrq\|SysRq' "$(result_dir)/console.log"
		grep -q 'console:' "$BATS_TEST_TMPDIR/out"
		rm -rf "$R"
	done
}

# bats test_tags=long
@test "a guest that hangs is told within 10 s" {
	died hang 2 10
}

# interrupted SIGNAL SECONDS: a run that gets SIGNAL then.
interrupted()
{
	start
	sleep "$2"
	kill -"$1" "$pid"
	status=0
	wait "$pid" || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 3 ]
	grep -q interrupted "$BATS_TEST_TMPDIR/out"
	kept_and_invalid
	nothing_left "$pid"
	rm -rf "$R"
}

@test "SIGINT, and SIGHUP of a terminal that goes, end a run in good order" {
	interrupted INT 5
	interrupted HUP 2.5
}
