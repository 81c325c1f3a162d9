#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports from the field, shown in a guest of each kernel: field-probe, in the place of dststorm-mon,
# says on the console what it found. docs/field-reports.md has the items by number.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	local series kernel image
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static \
		-o "$BATS_FILE_TMPDIR/field-probe" tests/guest/field-probe.c
	for series in 6.1 6.12; do
		kernel=$(scripts/guest-kernel "debian-$series")
		image=$(scripts/guest-image "$kernel" "$BATS_FILE_TMPDIR/field-probe")
		timeout 120 qemu-system-x86_64 -accel tcg -machine q35 -cpu max -m 384 -smp 1 -nodefaults \
			-no-user-config -display none -no-reboot -kernel "$kernel/vmlinuz" -initrd "$image" \
			-append "console=ttyS0 panic=-1 quiet mitigations=off" \
			-serial "file:$BATS_FILE_TMPDIR/console-$series" -device virtio-serial-pci \
			-chardev null,id=port -device virtserialport,chardev=port,name=dststorm \
			-netdev hubport,id=n,hubid=0 -device virtio-net-pci,netdev=n,romfile=,vectors=0 \
			>"$BATS_FILE_TMPDIR/qemu-$series" 2>&1 3>&- &
	done
	wait
}

# item SERIES NUMBER COUNT: exactly COUNT checks of that report were made, and all are good.
item()
{
	local file=$BATS_FILE_TMPDIR/console-$1
	tail -n 40 "$file"
	! grep -q "not ok" "$file" || ! grep -q "not ok $2:" "$file" || return 1
	[ "$(grep -c "^ok $2: " "$file")" -eq "$3" ]
}

# differs SERIES NUMBER WORD: what this kernel does, where kernels differ.
differs()
{
	grep -aE "^kernel $2: " "$BATS_FILE_TMPDIR/console-$1"
	grep -aq "^kernel $2: $3" "$BATS_FILE_TMPDIR/console-$1"
}

each()
{
	local series
	for series in 6.1 6.12; do
		item "$series" "$@"
	done
}

@test "9: the first refusal is ENOBUFS, exactly at gc_thresh3; 5 s later there is room" {
	each 9 5
}

@test "10: one count for all network namespaces" {
	each 10 1
}

@test "17: loopback with a full table" {
	differs 6.1 17 refused
	differs 6.12 17 connected
}

@test "23: learned entries do not count against the thresholds" {
	each 23 2
}

@test "25: what a socket is told of a full table" {
	differs 6.1 25 ENOBUFS
	differs 6.12 25 ENOBUFS
}

@test "32: no event of an entry that waits, one of its failure" {
	each 32 2
}

@test "36: the first packets of 9,999 IPv6 routes all find their way" {
	each 36 2
}

@test "37: in a fresh namespace as well" {
	each 37 2
}

@test "40: a learned path MTU goes with a flush" {
	each 40 2
}
