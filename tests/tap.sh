# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Test Anything Protocol for shell tests: source this, call tap_ok or tap_run, end with tap_end.

tap_count=0
tap_failed=0

# tap_ok STATUS DESCRIPTION [FILE]: one result; FILE is what to show when it failed.
tap_ok()
{
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count $2"
		return
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count $2"
	if [ -n "${3:-}" ]; then
		sed 's/^/# /' "$3"
	fi
}

tap_skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count $1 # skip $2"
}

# tap_run DESCRIPTION COMMAND...: passes if the command does; its output is shown if not.
tap_run()
{
	local what=$1 out status=0
	shift
	out=$(mktemp)
	"$@" >"$out" 2>&1 || status=$?
	tap_ok "$status" "$what" "$out"
	rm -f "$out"
}

tap_end()
{
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
}
