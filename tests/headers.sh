#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header can be included alone, and twice.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

dpdk=$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g')
nl=$(pkg-config --cflags libnl-3.0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiles()
{
	local flags
	case $1 in
	dpdk/* | gen/* | sink/*) flags=$dpdk ;;
	mon/*) flags=$nl ;;
	rtcache/shim/*) flags=-Irtcache/shim ;;
	rtcache/*) flags="-Irtcache/shim $dpdk" ;;
	*) flags= ;;
	esac
	printf '#include "%s"\n#include "%s"\n' "$1" "$1" >"$work/${1//\//_}.c"
	# shellcheck disable=SC2086 # several words
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -I. $flags -fsyntax-only \
		"$work/${1//\//_}.c" >"$work/${1//\//_}.log" 2>&1 || echo "$1" >>"$work/failed"
}

touch "$work/failed"
export -f compiles
export dpdk nl work
headers=(*/*.h rtcache/{core,user}/*.h rtcache/shim/linux/*.h)
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I '{}' bash -c 'compiles {}'
for header in "${headers[@]}"; do
	[ "$(grep -cx "$header" "$work/failed")" -eq 0 ]
	tap_ok $? "$header" "$work/${header//\//_}.log"
done
tap_end
