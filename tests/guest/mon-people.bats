#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-mon watch and serve where drops are told by cause: as root in a guest, of whose image only
# the first process is another one. It runs a script and then powers off.

# shellcheck disable=SC2030,SC2031 # each test is a subshell of its own, as it should be
bats_require_minimum_version 1.5.0

# What the first process runs; its output is the console.
people()
{
	cat <<'EOF'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b ip link set lo up
exec >/dev/ttyS0 2>&1
ours() { echo "$1: $($b ls /sys/kernel/tracing/instances | $b grep -c dststorm) instances, $($b ls /sys/kernel/tracing/events | $b grep -c dststorm) groups"; }

# Seven connections to a closed port.
drop() { for i in 1 2 3 4 5 6 7; do $b wget -q -O - http://127.0.0.1:9/ 2>/dev/null; done; }

/bin/dststorm-mon watch --json --interval 0.5 >/json &
crash=$!
$b sleep 1
ours while
$b kill -9 $crash
ours crashed
/bin/dststorm-mon serve &
serve=$!
/bin/dststorm-mon watch --json --interval 0.5 >/json &
watch=$!
$b sleep 1
ours both
drop
$b sleep 2
echo "JSON $($b tail -n 1 /json)"
$b wget -q -O - http://127.0.0.1:9718/metrics | $b sed 's/^/METRIC /'
/bin/dststorm-mon watch --interval 0.5 >/table &
table=$!
$b sleep 0.5
drop
$b sleep 1.5
$b sed 's/^/TABLE /' /table
$b kill $serve $watch $table
wait $serve; echo "serve ended $?"
wait $watch; echo "watch ended $?"
wait $table
ours after
echo the end
$b poweroff -f
EOF
}

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	local kernel image dir=$BATS_FILE_TMPDIR
	kernel=$(scripts/guest-kernel debian-6.12)
	image=$(scripts/guest-image "$kernel" "${B:-build}/dststorm-mon")
	people >"$dir/people"
	chmod 755 "$dir/people"
	(cd "$dir" && echo people | cpio --quiet -o -H newc -R 0:0) >"$dir/more"
	cat "$image" "$dir/more" >"$dir/initramfs"
	timeout 60 qemu-system-x86_64 -accel tcg -M q35 -cpu max -m 256 -smp 1 -display none -nodefaults \
		-no-reboot -serial "file:$dir/console" -kernel "$kernel/vmlinuz" -initrd "$dir/initramfs" \
		-append "console=ttyS0 mitigations=off panic=-1 quiet rdinit=/people" 3>&-
	tr -d '\r' <"$dir/console" >"$dir/said"
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

said()
{
	grep -qE -- "$1" "$BATS_FILE_TMPDIR/said" || {
		echo "nowhere: $1"
		grep -vE '^(METRIC #|JSON)' "$BATS_FILE_TMPDIR/said" | cut -c 1-160
		return 1
	}
}

@test "each has a trace instance of its own, and removes that of one that crashed" {
	said '^while: 1 instances, 1 groups'
	said '^crashed: 1 instances, 1 groups'
	said '^both: 2 instances, 2 groups'
	said '^the end'
}

@test "at the end nothing of them is left in the kernel" {
	said '^serve ended 0'
	said '^watch ended 0'
	said '^after: 0 instances, 0 groups'
}

@test "watch --json tells drops by cause, the host's own apart" {
	sed -n 's/^JSON //p' "$BATS_FILE_TMPDIR/said" | /usr/bin/python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["own_drops_pkts"]["local"] == 7, s["own_drops_pkts"]
assert sum(s["drops_pkts"].values()) == 0, s["drops_pkts"]
assert s["hist_overflow"] == 0'
}

@test "serve tells the same to Prometheus" {
	said '^METRIC dststorm_drops_available 1$'
	said '^METRIC dststorm_dropped_packets_total\{family="ipv4",origin="own",cause="local"\} 7$'
	said '^METRIC dststorm_dropped_packets_total\{family="ipv4",origin="received",cause="local"\} 0$'
	said '^METRIC dststorm_drops_uncounted_packets_total 0$'
}

@test "and Prometheus's own checker accepts it" {
	local promtool
	promtool=$(scripts/promtool) || skip "NO PROMTOOL: $(scripts/promtool 2>&1)"
	run "$promtool" check metrics < <(sed -n 's/^METRIC //p' "$BATS_FILE_TMPDIR/said")
	echo "$output"
	[ "$status" -eq 0 ] && [ -z "$output" ]
}

@test "watch shows them in its table" {
	said '^TABLE drops by cause '
	said '^TABLE local .* 7 *$'
}
