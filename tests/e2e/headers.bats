#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/kernel-headers: the headers of exactly the kernel that boots, usable where they lie.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

# A cache of its own with the kernel and headers of debian-6.1 in it, and an apt that fails.
copied_cache()
{
	local kernel dir
	kernel=$(scripts/guest-kernel debian-6.1)
	dir=$(scripts/kernel-headers debian-6.1)
	dir=${dir%/usr/src/*}
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	mkdir -p "$XDG_CACHE_HOME/dststorm/kernels" "$XDG_CACHE_HOME/dststorm/headers" "$BATS_TEST_TMPDIR/bin"
	cp -a "$kernel" "$XDG_CACHE_HOME/dststorm/kernels/"
	cp -a "$dir" "$XDG_CACHE_HOME/dststorm/headers/"
	printf '#!/bin/sh\nexit 100\n' >"$BATS_TEST_TMPDIR/bin/apt-get"
	cp "$BATS_TEST_TMPDIR/bin/apt-get" "$BATS_TEST_TMPDIR/bin/apt-cache"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "the headers are of the kernel that boots, and lead to nowhere else" {
	for series in 6.1 6.12; do
		kernel=$(scripts/guest-kernel "debian-$series")
		dir=$(scripts/kernel-headers "debian-$series")
		grep -q "\"$(cat "$kernel/release")\"" "$dir/include/generated/utsrelease.h"
		[ -s "$dir/Module.symvers" ]
		[ -x "$dir/scripts/mod/modpost" ]
		[ "$(make -s -C "$dir" kernelversion)" != "" ]
		[ -z "$(find "${dir%/usr/src/*}" -type l -lname '/*')" ]
		! grep -l '/usr/src' "$dir/Makefile"
	done
}

@test "without a network the cached ones are used, and damaged ones are not" {
	copied_cache
	run scripts/kernel-headers debian-6.1
	[ "$status" -eq 0 ]
	dir=${lines[-1]}
	[[ $dir == "$XDG_CACHE_HOME"/* ]]
	echo x >>"$dir/Module.symvers"
	run scripts/kernel-headers debian-6.1
	[ "$status" -eq 3 ]
	[[ $output == *"is damaged"* ]]
	[[ ${lines[-1]} == *"apt-get update"* ]]
	[ -z "$(find "$XDG_CACHE_HOME/dststorm/headers" -name '.tmp.*')" ]
}

@test "the folder of a kernel build, and a bzImage in it" {
	build=$BATS_TEST_TMPDIR/linux
	mkdir -p "$build/arch/x86/boot" "$build/include/generated"
	touch "$build/arch/x86/boot/bzImage"
	run scripts/kernel-headers "$build"
	[ "$status" -eq 3 ]
	[[ $output == *"modules_prepare"* ]]
	touch "$build/Makefile"
	echo '#define UTS_RELEASE "6.1.0"' >"$build/include/generated/utsrelease.h"
	run scripts/kernel-headers "$build"
	[ "$status" -eq 3 ]
	[[ $output == *"Module.symvers"* ]]
	echo x >"$build/Module.symvers"
	[ "$(scripts/kernel-headers "$build")" = "$build" ]
	[ "$(scripts/kernel-headers "$build/arch/x86/boot/bzImage")" = "$build" ]
}

@test "what is no kernel: one line with the remedy" {
	run scripts/kernel-headers "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	run scripts/kernel-headers
	[ "$status" -eq 2 ]
	[[ $output == *usage* ]]
}

# bats test_tags=long
@test "the module is built beside no source, and anew after a change" {
	export B=$BATS_TEST_TMPDIR/build
	before=$(git status --short --ignored rtcache)
	make -s rtcache KERNEL=debian-6.1 B="$B"
	[ "$(git status --short --ignored rtcache)" = "$before" ]
	ko=$(echo "$B"/rtcache/6.1*/rtcache.ko)
	[ -s "$ko" ]
	time=$(stat -c %Y "$ko")
	make -s rtcache KERNEL=debian-6.1 B="$B"
	[ "$(stat -c %Y "$ko")" = "$time" ]
}
