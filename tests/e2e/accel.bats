#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# KVM is chosen by a trial boot, not by the device file. QEMU is a stand-in here: whether a guest
# says that it lives is what the choice depends on.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	T=$BATS_TEST_TMPDIR
	export XDG_CACHE_HOME=$T/cache DSTSTORM_KVM_DEVICE=$T/kvm PATH=$T/bin:$PATH
	unset DSTSTORM_ACCEL
	mkdir "$T/bin" "$T/kernel"
	: >"$T/kvm"
}

# qemu SCRIPT: what the stand-in does; $mon is the file that the monitor writes to.
qemu()
{
	cat >"$T/bin/qemu-system-x86_64" <<EOF
#!/bin/sh
[ "\$1" != --version ] || { echo 'QEMU emulator version 0'; exit; }
echo run >>"$T/runs"
for a; do case \$a in file,id=mon,path=*) mon=\${a#*path=} ;; esac; done
$1
EOF
	chmod +x "$T/bin/qemu-system-x86_64"
}

accel()
{
	scripts/guest-accel "$T/kernel" "$T/image"
}

@test "a guest that lives under KVM gets KVM, and the trial is made once" {
	qemu "sleep 0.3; echo '{\"event\":\"alive\"}' >\"\$mon\"; exec sleep 60"
	[ "$(accel)" = kvm ]
	[ "$(accel)" = kvm ]
	[ "$(wc -l <"$T/runs")" -eq 1 ]
	# The guest of the trial is gone.
	run pgrep -f "$T/image"
	[ -z "$output" ]
}

# bats test_tags=long
@test "a guest that says nothing within 10 s gets TCG" {
	qemu 'exec sleep 60'
	[ "$(accel)" = tcg ]
}

@test "a QEMU that ends gets TCG, at once" {
	qemu 'exit 1'
	SECONDS=0
	[ "$(accel)" = tcg ]
	[ "$SECONDS" -le 3 ]
}

@test "no device, no trial" {
	rm "$T/kvm"
	qemu 'exit 1'
	[ "$(accel)" = tcg ]
	[ ! -e "$T/runs" ]
}

@test "DSTSTORM_ACCEL decides, and has two values" {
	qemu 'exit 1'
	[ "$(DSTSTORM_ACCEL=kvm accel)" = kvm ]
	[ "$(DSTSTORM_ACCEL=tcg accel)" = tcg ]
	DSTSTORM_ACCEL=xen run accel
	[ "$status" -eq 3 ]
	[[ $output == *"use kvm or tcg"* ]]
	[ ! -e "$T/runs" ]
}
