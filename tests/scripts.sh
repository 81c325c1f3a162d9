#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shell scripts are clean under shellcheck, and executable.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

lint()
{
	[ -x "$1" ] || [ "$1" = tests/tap.sh ] || [ "${1%.bash}" != "$1" ] || [ "$1" = scripts/guest-init ] ||
		{ echo "$1 is not executable"; return 1; }
	shellcheck -x -P SCRIPTDIR -P . "$1"
}

for file in scripts/* tests/*.sh tests/*/*.bash .ci/*; do
	[ -f "$file" ] || continue
	head -n 3 "$file" | grep -qE '^#!.*/(bash|sh)|shellcheck shell=' || continue
	tap_run "shellcheck: $file" lint "$file"
done
tap_end
