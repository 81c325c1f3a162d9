#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header can be included alone, and twice.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

dpdk=$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g')
nl=$(pkg-config --cflags libnl-3.0)
compiles()
{
	printf '#include "%s"\n#include "%s"\n' "$1" "$1" >"$source"
	# shellcheck disable=SC2086 # several words
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -I. $dpdk $nl -fsyntax-only "$source"
}

source=$(mktemp --suffix=.c)
trap 'rm -f "$source"' EXIT
for header in */*.h; do
	tap_run "$header" compiles "$header"
done
tap_end
