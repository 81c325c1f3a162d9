#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rtcache.ko in guests with both kernels, without a device: rtcache-init plays all its checks in two boots
# of each, one in which a nanosecond is an instruction and one on two CPUs under a flood. The tests
# below look up what it printed.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	local build=${B:-build} series
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -static -o "$BATS_FILE_TMPDIR/rtcache-send" tests/guest/rtcache-send.c
	for series in 6.1 6.12; do
		make -s rtcache B="$build" CC=gcc KERNEL="debian-$series" >/dev/null
		part exact "$series" -smp 1 -icount shift=0,sleep=off &
		part busy "$series" -smp 2 -accel tcg,thread=multi &
		wait
	done
}

# part NAME SERIES OPTION...: one boot.
part()
{
	local kernel image name=$1 series=$2
	shift 2
	kernel=$(scripts/guest-kernel "debian-$series")
	image=$(scripts/guest-image "$kernel" "$build/dststorm-mon" "$build/rtcache/$(cat "$kernel/release")/rtcache.ko" \
		tests/guest/rtcache-init "$BATS_FILE_TMPDIR/rtcache-send")
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

@test "6.1: loads, measures, hooks and unhooks; costs at most 45 instructions idle" {
	played exact 6.1 41
}

@test "6.12: loads, measures, hooks and unhooks; costs at most 45 instructions idle" {
	played exact 6.12 41
}

@test "6.1: switched and unloaded under a flood" {
	played busy 6.1 15
}

@test "6.12: switched and unloaded under a flood" {
	played busy 6.12 15
}
