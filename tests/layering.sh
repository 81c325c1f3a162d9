#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Dependencies point only towards lib/, and no file says where it was made. With a folder as argument
# that tree is looked at; without, this one, and then copies of it with one fault planted in each,
# which must be found.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

# What the files of each folder may include, of ours. Programs include no other program's.
declare -A may=(
	[dpdk]='dpdk|lib' [capture]='capture|lib'
	[gen]='gen|dpdk|capture|lib' [sink]='sink|dpdk|capture|lib' [ctl]='ctl|capture|lib' [mon]='mon|lib'
	[rtcache/user]='rtcache/user|rtcache/core|lib'
)

# Names of all text files of tree $1 that people write, without corpora and licences.
files()
{
	(cd "$1" && find . \( -name .git -o -name build -o -name results -o -name corpus -o -name golden -o -name data \) -prune -o \
		-type f ! -name LICENSE ! -name VERSION ! -name '*.json' ! -name .gitignore -print | sed 's|^\./||' | grep -v -E '^(dststorm$|tests/data/)' | sort)
}

# The rules: each prints what breaks it, and nothing when the tree is right.
rule_program_includes()
{
	local p
	for p in "${!may[@]}"; do
		[ -d "$1/$p" ] || continue
		grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' --include='*.[ch]' "$1/$p" |
			grep -vE "\"(${may[$p]})/[a-z0-9_]+\.h\"|\"[a-z0-9_]+\.h\""
	done
}

rule_lib_includes()
{
	grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' --include='*.[ch]' "$1/lib" |
		grep -vE '"(lib/)?[a-z0-9_]+\.h"'
	grep -rnE '#[[:space:]]*include[[:space:]]+<(rte_|pcap|netlink/|urcu)' --include='*.[ch]' "$1/lib"
}

rule_yaml()
{
	grep -rnE '#[[:space:]]*include[[:space:]]+<yaml\.h>' --include='*.[ch]' "$1" | grep -v '/lib/conf\.c:'
}

rule_libraries_of_programs()
{
	# What each program may link, told by headers: the controller and the monitor stay small.
	grep -rnE '#[[:space:]]*include[[:space:]]+<(rte_|pcap|netlink/|urcu)' --include='*.[ch]' "$1/ctl"
	grep -rnE '#[[:space:]]*include[[:space:]]+<(rte_|pcap|urcu)' --include='*.[ch]' "$1/mon"
	grep -rnE '#[[:space:]]*include[[:space:]]+<(netlink/|urcu)' --include='*.[ch]' "$1/gen" "$1/sink"
	[ ! -d "$1/dpdk" ] || grep -rnE '#[[:space:]]*include[[:space:]]+<(pcap|netlink/|urcu)' --include='*.[ch]' "$1/dpdk"
	[ ! -d "$1/capture" ] || grep -rnE '#[[:space:]]*include[[:space:]]+<(rte_|netlink/|urcu)' --include='*.[ch]' "$1/capture"
}

rule_lib_is_silent()
{
	grep -nE '\b(printf|puts|perror|exit|abort|_exit)[[:space:]]*\(' "$1"/{lib,dpdk,capture}/*.c 2>/dev/null |
		grep -vE 'snprintf|vsnprintf|fprintf\(f'
}

rule_kernel_dialect()
{
	[ -d "$1/rtcache/core" ] || return
	grep -rnE '#[[:space:]]*include' --include='*.[ch]' "$1/rtcache/core" | grep -vE '<linux/[a-z_]+\.h>|"[a-z_]+\.h"'
	grep -rn '__KERNEL__' "$1/rtcache/core"
}

rule_spdx()
{
	local f
	files "$1" | grep -vE '\.(md|scd|pcap|txt|svg)$' | while read -r f; do
		head -n 2 "$1/$f" | grep -qa 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$f"
	done
}

rule_no_machine_paths()
{
	files "$1" | (cd "$1" && xargs -d '\n' grep -nIE '(^|[^A-Za-z0-9_./})-])/(home|root|work|mnt|Users)/[A-Za-z0-9]')
}

rule_no_registries()
{
	files "$1" | (cd "$1" && xargs -d '\n' grep -nIE '(deb|snapshot|security|ftp[.a-z]*)\.debian\.org|pypi\.org|npmjs\.org|golang\.org/|crates\.io|docker\.io|ghcr\.io')
}

rule_short_files()
{
	files "$1" | grep -E '\.[ch]$' | (cd "$1" && xargs -d '\n' awk 'FNR == 501 { print FILENAME ": over 500 lines" }')
}

rules='program_includes lib_includes yaml libraries_of_programs lib_is_silent kernel_dialect spdx no_machine_paths
	no_registries short_files'

look_at()
{
	local rule out
	out=$(mktemp)
	for rule in $rules; do
		"rule_$rule" "$1" >"$out" 2>&1
		[ ! -s "$out" ]
		tap_ok $? "${rule//_/ }" "$out"
	done
	rm -f "$out"
}

# plant RULE FILE TEXT: a copy of the tree with TEXT appended to FILE breaks RULE.
plant()
{
	local tree
	tree=$(mktemp -d)
	files "$top" | (cd "$top" && cpio --quiet -pdm "$tree")
	mkdir -p "$(dirname "$tree/$2")"
	printf '%s\n' "$3" >>"$tree/$2"
	"rule_$1" "$tree" 2>&1 | grep -q "$2"
	tap_ok $? "finds ${3%%$'\n'*} in $2"
	rm -rf "$tree"
}

plant_all()
{
	local long
	long=$(yes '// SPDX-License-Identifier: GPL-2.0-or-later' | head -n 501)
	plant program_includes gen/planted.c '#include "sink/track.h"'
	plant program_includes mon/planted.h '#include "../gen/lane.h"'
	plant program_includes mon/planted.c '#include "dpdk/port.h"'
	plant program_includes ctl/planted.c '#include "dpdk/port.h"'
	plant program_includes dpdk/planted.c '#include "gen/lane.h"'
	plant libraries_of_programs dpdk/planted.c '#include <pcap/pcap.h>'
	plant lib_includes lib/planted.c '#include <rte_mbuf.h>'
	plant lib_includes lib/planted.h '#include "dpdk/port.h"'
	plant yaml ctl/planted.c '#include <yaml.h>'
	plant libraries_of_programs ctl/planted.c '#include <pcap/pcap.h>'
	plant libraries_of_programs mon/planted.c '#include <rte_ethdev.h>'
	plant libraries_of_programs sink/planted.c '#include <netlink/netlink.h>'
	plant lib_is_silent lib/planted.c '	exit(1);'
	plant spdx sink/planted.c 'int planted;'
	plant kernel_dialect rtcache/core/planted.c '#include <stdio.h>'
	plant kernel_dialect rtcache/core/planted.h '#ifdef __KERNEL__'
	plant no_machine_paths configs/planted.yaml "file: $(printf '/%s/someone/list' home)"
	plant no_registries scripts/planted "curl $(printf '%s.debian.org' deb)"
	plant short_files lib/planted.c "$long"
}

top=${1:-$(dirname "$here")}
look_at "$top"
[ $# -gt 0 ] || plant_all
tap_end
