# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Boots in which tests/guest/rtcache-init tries rtcache.ko, for rtcache.bats and rtcache-long.bats.

# What a boot needs besides the kernel.
build_parts()
{
	build=${B:-build}
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -static -o "$BATS_FILE_TMPDIR/rtcache-send" tests/guest/rtcache-send.c
	make -s B="$build" "$build/dststorm-rtcache"
	local series
	for series in 6.1 6.12; do
		make -s rtcache B="$build" CC=gcc KERNEL="debian-$series" >/dev/null
	done
	# Traces, and what user space makes of them.
	local nr=0 axes
	for axes in "timer=lazy touch=direct rmap=chain" "timer=global touch=batch rmap=object" "timer=percpu touch=direct rmap=chain"; do
		nr=$((nr + 1))
		tests/e2e/rtcache-trace.py make $nr 8000 "$axes" >"$BATS_FILE_TMPDIR/trace$nr"
		"$build/dststorm-rtcache" replay "$BATS_FILE_TMPDIR/trace$nr" >"$BATS_FILE_TMPDIR/dump$nr"
	done
}

# part NAME SERIES OPTION...: one boot.
part()
{
	local kernel image name=$1 series=$2
	shift 2
	kernel=$(scripts/guest-kernel "debian-$series")
	image=$(scripts/guest-image "$kernel" "$build/dststorm-mon" "$build/rtcache/$(cat "$kernel/release")/rtcache.ko" \
		tests/guest/rtcache-init "$BATS_FILE_TMPDIR"/{rtcache-send,{trace,dump}{1,2,3}})
	timeout 150 qemu-system-x86_64 -machine q35 -cpu max -m 384 -nodefaults -no-user-config -display none -no-reboot \
		"$@" -kernel "$kernel/vmlinuz" -initrd "$image" \
		-append "console=ttyS0 panic=-1 oops=panic quiet rdinit=/extra/rtcache-init part=$name" \
		-serial "file:$BATS_FILE_TMPDIR/$name-$series" >"$BATS_FILE_TMPDIR/qemu" 2>&1 3>&-
}

# played PART SERIES COUNT: exactly COUNT checks were made, and all are good.
played()
{
	local file=$BATS_FILE_TMPDIR/$1-$2
	grep -aE "^(not )?ok |^result |^end" "$file"
	if grep -aq "^not ok " "$file" || ! grep -aq "^end" "$file" || [ "$(grep -ac "^ok $1: " "$file")" -ne "$3" ]; then
		echo "wanted $3 checks"
		tail -n 40 "$file"
		return 1
	fi
}
