#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/guest-kernel: what is in a kernel's folder, and that a bad cache never boots.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	real=${XDG_CACHE_HOME:-$HOME/.cache}
}

own_cache()
{
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

# A cache of our own that holds the Debian kernels already.
copied_cache()
{
	scripts/guest-kernel "$1"
	own_cache
	mkdir -p "$XDG_CACHE_HOME/dststorm"
	cp -a "$real/dststorm/kernels" "$XDG_CACHE_HOME/dststorm/"
}

# Machines without a network, and without apt's lists.
no_apt()
{
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexit 100\n' | tee "$BATS_TEST_TMPDIR/bin/apt-get" >"$BATS_TEST_TMPDIR/bin/apt-cache"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

depends_of()
{
	tr '\0' '\n' <"$1" | sed -n 's/^depends=//p' | tr ',-' ' _'
}

looks_right()
{
	local dir=$1 module need
	(cd "$dir" && sha256sum --quiet -c SHA256SUMS)
	[[ $(cat "$dir/release") == "$2"* ]]
	grep -qx virtio_net.ko "$dir/modules/load"
	[ "$(find "$dir/modules" -name "*.ko" | wc -l)" -eq "$(cat "$dir/modules/load" "$dir/modules/more" | wc -l)" ]
	grep -qx veth.ko "$dir/modules/more"
	while read -r module; do
		[ "$(head -c 4 "$dir/modules/$module" | tail -c 3)" = ELF ]
		for need in $(depends_of "$dir/modules/$module"); do
			sed "/^$module$/q" "$dir/modules/load" | grep -qx "$need.ko"
		done
	done <"$dir/modules/load"
}

@test "debian-6.1: kernel, modules in load order, sums" {
	dir=$(scripts/guest-kernel debian-6.1)
	looks_right "$dir" 6.1.0-
	grep -qx virtio_console.ko "$dir/modules/load"
}

@test "debian-6.12: kernel, modules unpacked, what is built in left out" {
	dir=$(scripts/guest-kernel debian-6.12)
	looks_right "$dir" 6.12.
	[ "$(grep -cx virtio_console.ko "$dir/modules/load")" -eq 0 ]
}

@test "the second time it is there already, and quick" {
	first=$(scripts/guest-kernel debian-6.1)
	begin=$(date +%s%N)
	run scripts/guest-kernel debian-6.1
	[ "$output" = "$first" ]
	[ $(($(date +%s%N) - begin)) -lt 2000000000 ]
}

@test "a bzImage by path, its modules beside it" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	run scripts/guest-kernel "$dir/vmlinuz"
	[ "$status" -eq 0 ]
	looks_right "$output" "$(cat "$dir/release")"
	[ "$(find "$output/modules" -name '*.ko' | wc -l)" -eq "$(find "$dir/modules" -name '*.ko' | wc -l)" ]
}

@test "a bzImage without modules has none" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	cp "$dir/vmlinuz" "$BATS_TEST_TMPDIR/bzImage"
	run scripts/guest-kernel "$BATS_TEST_TMPDIR/bzImage"
	[ "$status" -eq 0 ]
	[ ! -s "$output/modules/load" ]
	[ -f "$output/modules/load" ]
}

# bats test_tags=long
@test "a damaged file is noticed and made anew" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	made=$(scripts/guest-kernel "$dir/vmlinuz")
	for file in vmlinuz release modules/load modules/virtio_net.ko; do
		printf x | dd of="$made/$file" bs=1 seek=3 conv=notrunc status=none
		run scripts/guest-kernel "$dir/vmlinuz"
		[ "$status" -eq 0 ]
		[[ ${lines[0]} == *"$made is damaged: making it anew"* ]]
		[ "${lines[1]}" = "$made" ]
		(cd "$made" && sha256sum --quiet -c SHA256SUMS)
	done
}

# bats test_tags=long
@test "a file that is gone, and sums that are gone, likewise" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	made=$(scripts/guest-kernel "$dir/vmlinuz")
	for file in vmlinuz modules/virtio_net.ko SHA256SUMS; do
		rm "$made/$file"
		scripts/guest-kernel "$dir/vmlinuz"
		(cd "$made" && sha256sum --quiet -c SHA256SUMS)
		[ -s "$made/$file" ]
	done
}

@test "four at once make one folder and leave nothing else" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	for i in 1 2 3 4; do
		scripts/guest-kernel "$dir/vmlinuz" >"$BATS_TEST_TMPDIR/out.$i" &
	done
	wait
	[ "$(sort -u "$BATS_TEST_TMPDIR"/out.* | wc -l)" -eq 1 ]
	(cd "$(cat "$BATS_TEST_TMPDIR/out.1")" && sha256sum --quiet -c SHA256SUMS)
	[ "$(find "$XDG_CACHE_HOME/dststorm/kernels" -mindepth 1 -maxdepth 1 ! -name .lock | wc -l)" -eq 1 ]
}

@test "one that was killed leaves nothing that the next one minds" {
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	mkdir -p "$XDG_CACHE_HOME/dststorm/kernels/.tmp.abc123/out"
	scripts/guest-kernel "$dir/vmlinuz"
	[ ! -e "$XDG_CACHE_HOME/dststorm/kernels/.tmp.abc123" ]
}

@test "without a network, and without apt's lists, the cached kernel is used" {
	copied_cache debian-6.1
	no_apt
	run scripts/guest-kernel debian-6.1
	[ "$status" -eq 0 ]
	[ -s "${lines[-1]}/vmlinuz" ]
	rm "$XDG_CACHE_HOME/dststorm/kernels/debian-6.1.newest"
	run scripts/guest-kernel debian-6.1
	[ "$status" -eq 0 ]
	[[ $output == *"which is there already"* ]]
	looks_right "${lines[-1]}" 6.1.0-
}

@test "a damaged cache without a network is an error, not a kernel" {
	copied_cache debian-6.1
	no_apt
	for dir in "$XDG_CACHE_HOME"/dststorm/kernels/debian-6.1_*/; do
		echo x >>"$dir/vmlinuz"
	done
	run scripts/guest-kernel debian-6.1
	[ "$status" -eq 3 ]
	[[ ${lines[-1]} == *"check the network"* ]]
}

@test "a kernel that nobody has: one line with the remedy, exit 3" {
	own_cache
	no_apt
	run scripts/guest-kernel debian-5.99
	[ "$status" -eq 3 ]
	[[ ${lines[-1]} == *"apt-get update"* ]]
	run scripts/guest-kernel "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"no such kernel"* ]]
}

@test "a file that is no kernel is refused" {
	own_cache
	run scripts/guest-kernel "$BATS_TEST_DIRNAME/../../Makefile"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"is no bzImage"* ]]
	[ -z "$(find "$XDG_CACHE_HOME/dststorm/kernels" -mindepth 1 -maxdepth 1 ! -name .lock)" ]
}

@test "a cache that cannot be written: one line, exit 3" {
	dir=$(scripts/guest-kernel debian-6.1)
	XDG_CACHE_HOME=/proc/none run scripts/guest-kernel "$dir/vmlinuz"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *XDG_CACHE_HOME* ]]
}

@test "a full disk: one line, exit 3, nothing left" {
	[ "$(id -u)" -eq 0 ] || skip "mounting a small disk needs root"
	dir=$(scripts/guest-kernel debian-6.1)
	own_cache
	mkdir "$XDG_CACHE_HOME"
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs -o size=4m t "$XDG_CACHE_HOME" && scripts/guest-kernel "$1" 2>&1; echo "status $?"; find "$XDG_CACHE_HOME" -name "*.ko" -o -name vmlinuz' sh "$dir/vmlinuz"
	[[ $output == *"no room"* ]]
	[ "${lines[-1]}" = "status 3" ]
}
