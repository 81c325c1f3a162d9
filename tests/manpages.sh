#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages are well formed, and name exactly the options that --help names. B: the build folder.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

build=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# argp gives these to every program; a page need not repeat them.
standard='^--(help|usage|version)$'

binary()
{
	if [ "$1" = dststorm ]; then echo ./dststorm; else echo "$build/$1"; fi
}

long_options()
{
	grep -oE -- '(^|[^-A-Za-z0-9])--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z0-9-]+' | grep -vE -- "$standard" | sort -u
}

# --help of a program and, where its usage line says VERB, of each verb (lines "  verb  what it does").
help_of()
{
	local bin verb
	bin=$(binary "$1")
	"$bin" --help >"$work/help" || return 1
	cat "$work/help"
	head -n 1 "$work/help" | grep -q VERB || return 0
	sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' "$work/help" | while read -r verb; do
		"$bin" "$verb" --help
	done
}

# scdoc begins paragraphs that hold nothing; mandoc skips them and says so: that is no fault of a page.
# PAGE.SECTION
well_formed()
{
	scdoc <"docs/$1.scd" >"$work/$1" || return 1
	mandoc -Tlint -W warning "$work/$1" | grep -v 'skipping paragraph macro' >"$work/lint"
	sed 's|.*/||' "$work/lint"
	[ ! -s "$work/lint" ]
}

same_options()
{
	help_of "$1" >"$work/$1.help" || echo "$1 --help fails"
	long_options <"$work/$1.help" >"$work/$1.has"
	long_options <"docs/$1.1.scd" >"$work/$1.says"
	# What a page defines: terms in bold at the start of a line.
	grep -E '^\*-' "docs/$1.1.scd" | long_options >"$work/$1.defines"
	[ -s "$work/$1.has" ] || echo "$1 --help names no option"
	comm -23 "$work/$1.has" "$work/$1.says" | sed 's/^/in --help, not in the manual page: /'
	comm -13 "$work/$1.has" "$work/$1.defines" | sed 's/^/in the manual page, not in --help: /'
}

none()
{
	local out
	out=$("$@" 2>&1)
	echo "$out"
	[ -z "$out" ]
}

for program in dststorm dststorm-gen dststorm-sink dststorm-mon dststorm-rtcache; do
	if [ ! -f "docs/$program.1.scd" ]; then
		tap_ok 1 "docs/$program.1.scd is there"
		continue
	fi
	tap_run "$program is well formed" well_formed "$program.1"
	tap_run "$program names the options of --help" none same_options "$program"
done
# That it has every key, a unit test sees to.
tap_run "dststorm-scenario is well formed" well_formed dststorm-scenario.5
tap_end
