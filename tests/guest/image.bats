#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The initramfs boots both kernels, and a guest whose start goes wrong says so and ends.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	mon=${B:-build}/dststorm-mon
	port=$BATS_TEST_TMPDIR/port
	console=$BATS_TEST_TMPDIR/console
	qemu=
}

teardown()
{
	if [ -n "$qemu" ]; then
		kill "$qemu" 2>/dev/null || true
		wait "$qemu" || true
	fi
	if [ -s "$console" ]; then
		echo "console:"
		tail -n 20 "$console"
	fi
}

# boot KERNEL_DIR IMAGE PORT_NAME: what the guest writes to its port is in $port.
boot()
{
	: >"$port"
	timeout 120 qemu-system-x86_64 -accel tcg -machine q35 -m 384 -smp 1 -nodefaults -no-user-config -display none \
		-no-reboot -kernel "$1/vmlinuz" -initrd "$2" -append "console=ttyS0 panic=-1 quiet" \
		-serial "file:$console" -device virtio-serial-pci -chardev "file,id=port,path=$port" \
		-device "virtserialport,chardev=port,name=$3" >"$BATS_TEST_TMPDIR/qemu" 2>&1 3>&- &
	qemu=$!
}

# Wait up to $1 seconds for COMMAND to succeed.
within()
{
	local tries=$(($1 * 10))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

ended()
{
	! kill -0 "$qemu" 2>/dev/null
}

boots()
{
	local kernel image
	kernel=$(scripts/guest-kernel "$1")
	image=$(scripts/guest-image "$kernel" "$mon")
	boot "$kernel" "$image" dststorm
	within 60 grep -q '"event":"alive"' "$port"
	! grep -E 'guest-init:|Kernel panic|BUG:|WARNING:' "$console" || return 1
}

@test "debian-6.1 boots to dststorm-mon" {
	boots debian-6.1
}

@test "debian-6.12 boots to dststorm-mon" {
	boots debian-6.12
}

@test "the image is cached, and follows what goes into it" {
	kernel=$(scripts/guest-kernel debian-6.1)
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	first=$(scripts/guest-image "$kernel" "$mon")
	inode=$(stat -c %i "$first")
	[ "$(scripts/guest-image "$kernel" "$mon")" = "$first" ]
	[ "$(stat -c %i "$first")" = "$inode" ]
	cp "$mon" "$BATS_TEST_TMPDIR/mon"
	printf x >>"$BATS_TEST_TMPDIR/mon"
	[ "$(scripts/guest-image "$kernel" "$BATS_TEST_TMPDIR/mon")" != "$first" ]
}

@test "files that are named lie in /extra" {
	kernel=$(scripts/guest-kernel debian-6.1)
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	echo one >"$BATS_TEST_TMPDIR/more.ko"
	first=$(scripts/guest-image "$kernel" "$mon" "$BATS_TEST_TMPDIR/more.ko")
	cpio --quiet -i --to-stdout '*extra/more.ko' <"$first" | grep -qx one
	[ "$(scripts/guest-image "$kernel" "$mon")" != "$first" ]
	echo two >"$BATS_TEST_TMPDIR/more.ko"
	[ "$(scripts/guest-image "$kernel" "$mon" "$BATS_TEST_TMPDIR/more.ko")" != "$first" ]
	run scripts/guest-image "$kernel" "$mon" "$BATS_TEST_TMPDIR/none.ko"
	[ "$status" -eq 3 ]
	[[ $output == *"make it first"* ]]
}

@test "a damaged image is made anew" {
	kernel=$(scripts/guest-kernel debian-6.1)
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	first=$(scripts/guest-image "$kernel" "$mon")
	sum=$(sha256sum <"$first")
	printf x | dd of="$first" bs=1 seek=100000 conv=notrunc status=none
	[ "$(sha256sum <"$first")" != "$sum" ]
	[ "$(scripts/guest-image "$kernel" "$mon")" = "$first" ]
	[ "$(sha256sum <"$first")" = "$sum" ]
}

@test "old images are removed" {
	kernel=$(scripts/guest-kernel debian-6.1)
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	cp "$mon" "$BATS_TEST_TMPDIR/mon"
	for i in 1 2 3 4 5 6 7 8; do
		printf '%s' "$i" >>"$BATS_TEST_TMPDIR/mon"
		last=$(scripts/guest-image "$kernel" "$BATS_TEST_TMPDIR/mon")
	done
	[ -s "$last" ]
	[ "$(find "$XDG_CACHE_HOME/dststorm/images" -name initramfs | wc -l)" -eq 6 ]
}

@test "what cannot run in a guest is refused: one line, exit 3" {
	kernel=$(scripts/guest-kernel debian-6.1)
	run scripts/guest-image "$kernel" /bin/ls
	[ "$status" -eq 3 ]
	[[ $output == *"is not static"* ]]
	run scripts/guest-image "$kernel" "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 3 ]
	[[ $output == *"run make"* ]]
	run scripts/guest-image "$BATS_TEST_TMPDIR" "$mon"
	[ "$status" -eq 3 ]
	[[ $output == *"guest-kernel"* ]]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a monitor that ends takes the guest with it, by a panic on the console" {
	kernel=$(scripts/guest-kernel debian-6.1)
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	# busybox knows no applet of that name, and ends.
	image=$(scripts/guest-image "$kernel" "$(command -v busybox)")
	boot "$kernel" "$image" dststorm
	within 60 ended
	grep -q 'Kernel panic' "$console"
}

@test "a guest without its port says so and ends" {
	kernel=$(scripts/guest-kernel debian-6.1)
	image=$(scripts/guest-image "$kernel" "$mon")
	boot "$kernel" "$image" another
	within 60 ended
	grep -q 'guest-init: no virtio port named dststorm' "$console"
}

@test "a guest whose module does not load says so and ends" {
	cp -a "$(scripts/guest-kernel debian-6.1)" "$BATS_TEST_TMPDIR/kernel"
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	# In the wrong order: symbols are missing.
	tac "$BATS_TEST_TMPDIR/kernel/modules/load" >"$BATS_TEST_TMPDIR/load"
	mv "$BATS_TEST_TMPDIR/load" "$BATS_TEST_TMPDIR/kernel/modules/load"
	(cd "$BATS_TEST_TMPDIR/kernel" && find . -type f ! -name SHA256SUMS -print0 | xargs -0 sha256sum >"$BATS_TEST_TMPDIR/sums" && mv "$BATS_TEST_TMPDIR/sums" SHA256SUMS)
	image=$(scripts/guest-image "$BATS_TEST_TMPDIR/kernel" "$mon")
	boot "$BATS_TEST_TMPDIR/kernel" "$image" dststorm
	within 60 ended
	grep -q 'guest-init: cannot load' "$console"
}
