#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm and bad input: one clear line, the right exit status, nothing left behind.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	R=$BATS_TEST_TMPDIR/results
	Y=$BATS_TEST_TMPDIR/s.yaml
}

# No folder of a dststorm that is gone.
teardown()
{
	local d

	umount "$R" 2>/dev/null || true
	for d in /tmp/dststorm-"$(id -u)"-*; do
		[ ! -e "$d" ] || kill -0 "${d##*-}"
	done
}

# bad STATUS PATTERN ARGS: dststorm ARGS says one line that matches, and ends with that status.
bad()
{
	local want=$1 pattern=$2

	shift 2
	run --separate-stderr ./dststorm "$@"
	echo "status $status, said: $stderr"
	[ "$status" -eq "$want" ]
	[ "$(echo "$stderr" | wc -l)" -eq 1 ]
	[[ $stderr =~ $pattern ]]
}

# bad_yaml LINE PATTERN SED: the overflow scenario, changed by SED, is refused at that line.
bad_yaml()
{
	sed "$3" configs/overflow.yaml >"$Y"
	bad 2 "s\\.yaml:$1: .*$2" run --results "$R" "$Y"
	[ ! -e "$R" ]
}

line_of()
{
	grep -n "$1" configs/overflow.yaml | head -n 1 | cut -d: -f1
}

bats_require_minimum_version 1.5.0

@test "an unknown key is named, with its line and the key that was meant" {
	bad_yaml "$(line_of rate_pps)" 'rate_pps' 's/    rate_pps: 5k/    rate_ppz: 5k/'
}

@test "a wrong type, with its line" {
	bad_yaml "$(line_of '^duration_s')" 'number|duration' 's/^duration_s: 10/duration_s: soon/'
}

@test "an empty set, with its line" {
	bad_yaml '[0-9]+' 'empty|destinations' 's/destinations: .*/destinations: []/'
}

@test "everything excluded" {
	bad_yaml '[0-9]+' 'exclude' \
		's|    destinations: .*|    destinations: [198.19.16.0/20]\n    exclude: [198.19.0.0/16]|'
}

@test "rate 0, with its line" {
	bad_yaml "$(line_of rate_pps)" 'rate_pps' 's/rate_pps: 5k/rate_pps: 0/'
}

@test "no rate and no duration" {
	bad_yaml '[0-9]+' 'rate_pps' '/rate_pps/d'
	bad_yaml '[0-9]+' 'duration_s' '/^duration_s/d'
}

@test "a rate that is no multiple of the new destinations" {
	bad_yaml '[0-9]+' 'new_destinations_per_s' 's/new_destinations_per_s: 5k/new_destinations_per_s: 3k/'
}

@test "broken YAML, with its line" {
	bad_yaml '[0-9]+' '.' 's/^dut:/dut: [/'
}

@test "a missing file" {
	bad 2 'nowhere.yaml: .*No such file' run nowhere.yaml
}

@test "an override that is wrong is called by its name" {
	bad 2 '--set streams.0.rate_pps' run --results "$R" --set streams.0.rate_pps=0 configs/overflow.yaml
	bad 2 '--set nonsense' run --results "$R" --set nonsense=1 configs/overflow.yaml
}

@test "destinations outside the lab need --allow" {
	bad 2 'allow' run --results "$R" --set 'streams.0.destinations=[203.0.113.0/24]' \
		configs/overflow.yaml
}

@test "multicast is refused" {
	bad 2 'multicast' run --results "$R" --allow 224.0.0.0/4 \
		--set 'streams.0.destinations=[224.0.0.0/24]' configs/overflow.yaml
}

@test "a requirement of something that no summary has" {
	bad 2 '--set require: .*no value .foo.bar' run --results "$R" --set 'require=[foo.bar == 0]' \
		configs/overflow.yaml
	bad 2 'no value .streams.nobody' run --results "$R" configs/overflow.yaml \
		--set 'require=[verdict == clean, streams.nobody.sink.lost_pkts == 0]'
	bad 2 'is a number' run --results "$R" --set 'require=[sink.lost_pkts == few]' configs/overflow.yaml
	[ ! -e "$R" ]
}

@test "no free hugepages" {
	! grep -qv '^0$' /sys/kernel/mm/hugepages/*/free_hugepages || skip "SKIP: there are free hugepages"
	bad 3 'no hugepages are free: sysctl' run --huge --results "$R" configs/overflow.yaml
	[ ! -e "$R" ]
}

@test "no /proc" {
	[ "$(id -u)" -eq 0 ] || skip "SKIP: unmounting /proc needs root"
	for verb in "run --results $R configs/overflow.yaml" doctor; do
		run -3 unshare -m sh -c "umount -l /proc && exec ./dststorm $verb"
		echo "$output"
		[[ $output == *'mount -t proc proc /proc' ]]
		[ "${#lines[@]}" -eq 1 ]
	done
	[ ! -e "$R" ]
}

@test "an absent kernel" {
	bad 3 'kernel' run --results "$R" --set dut.kernel=/nowhere/bzImage configs/overflow.yaml
	bad 2 'debian-6.1' run --results "$R" --set dut.kernel=debian-9.9 configs/overflow.yaml
}

@test "a guest for which there is no memory" {
	bad 3 'memory' run --results "$R" --set dut.memory_mb=900000 configs/overflow.yaml
}

@test "a results directory that cannot be made" {
	bad 3 '--results' run --results /proc/nowhere configs/overflow.yaml
}

@test "no disk" {
	[ "$(id -u)" -eq 0 ] || skip "SKIP: mounting a tiny file system needs root"
	mkdir "$R"
	mount -t tmpfs -o size=16k none "$R" || skip "SKIP: no tmpfs can be mounted here"
	run --separate-stderr ./dststorm run -q --results "$R" configs/overflow.yaml
	umount "$R"
	echo "status $status, said: $stderr"
	[ "$status" -eq 3 ]
	[[ $stderr == *"No space left"* ]]
}

@test "verbs and options that do not exist" {
	bad 2 "no verb \`flood'" flood
	bad 2 'try dststorm run configs/overflow.yaml' configs/overflow.yaml
	run ./dststorm run --nonsense
	[ "$status" -eq 2 ]
	run ./dststorm run
	[ "$status" -eq 2 ]
	run ./dststorm
	[ "$status" -eq 2 ]
}

@test "a scenario with a NUL in it is not read up to there" {
	printf '\0' | cat configs/overflow.yaml - >"$Y"
	bad 2 's.yaml: not a text' run --results "$R" "$Y"
}

@test "an option of the other lab" {
	bad 2 'gen-port.*netns' run --results "$R" --gen-port af_xdp configs/overflow.yaml
	[ ! -e "$R" ]
}

# lost COMMAND: dststorm, as bash runs it, loses what it prints.
lost()
{
	run --separate-stderr bash -c "$1"
	echo "status $status, said: $stderr"
	[ "$status" -eq 3 ]
	[ "$stderr" = 'dststorm: cannot write to standard output: redirect it to where there is room' ]
}

@test "standard output that is full or closed is told, and one that nobody reads on is not" {
	lost './dststorm --help >/dev/full'
	lost './dststorm --help >&-'
	run bash -c 'set -o pipefail; { sleep 0.2; ./dststorm --help; } | true'
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "report of something that is no results directory" {
	bad 2 'manifest.json' report "$BATS_TEST_TMPDIR"
}

@test "help and version" {
	for args in --help --version "run --help" "report --help" "doctor --help"; do
		# shellcheck disable=SC2086
		run ./dststorm $args
		[ "$status" -eq 0 ]
		[ -n "$output" ]
	done
}

@test "doctor finds everything that the tests need" {
	run ./dststorm doctor
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *MISSING* ]]
	[[ $output == *"kernel debian-6.12"* ]]
}

@test "doctor names the command that mends what is missing" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	for p in sh cat ls sed sort grep sha256sum; do
		ln -s "$(command -v $p)" "$BATS_TEST_TMPDIR/bin/$p"
	done
	PATH=$BATS_TEST_TMPDIR/bin run ./dststorm doctor
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *MISSING*qemu-system-x86_64*"apt-get install --no-install-recommends qemu-system-x86"* ]]
}

# notes COMMAND...: what doctor, so run, says of lab netns; it may not change the exit status or the host.
notes()
{
	local before
	before=$(ip -o link; grep -c tracefs /proc/mounts || :)
	run "$@" ./dststorm doctor
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$before" = "$(ip -o link; grep -c tracefs /proc/mounts || :)" ]
}

@test "doctor tries out what lab netns needs" {
	[ "$(id -u)" -eq 0 ] || skip "SKIP: making network namespaces needs root"
	notes env
	for what in namespaces 'neighbour tables' ip veth 'packet sockets' 'drop event'; do
		grep -q "^ok  *netns: $what *$" <<<"$output"
	done
	if [ -e /sys/kernel/tracing/events/skb/kfree_skb/hist ]; then
		[[ $output == *'ok       netns: histogram triggers'* ]]
	else
		[[ $output == *'note     netns: histogram triggers  no CONFIG_HIST_TRIGGERS'*'linux-image-amd64'* ]]
	fi
}

@test "doctor names what lab netns lacks: first namespace, capabilities, root, tracefs" {
	[ "$(id -u)" -eq 0 ] || skip "SKIP: making network namespaces needs root"
	notes unshare --net
	[[ $output == *'note     netns: neighbour tables'*'nsenter -t 1 -n'*'ok       netns: veth'* ]]
	notes setpriv --bounding-set -sys_admin
	[[ $output == *'note     netns: namespaces'*CAP_SYS_ADMIN* && $output != *'netns: veth'* ]]
	notes setpriv --bounding-set -net_raw
	[[ $output == *'ok       netns: veth'*'note     netns: packet sockets'*CAP_NET_RAW* ]]
	notes unshare --mount sh -c 'umount -l /sys/kernel/tracing; exec "$@"' sh
	[[ $output == *'ok       netns: drop event'* ]]
	run setpriv --reuid 65534 --clear-groups ./dststorm doctor
	[[ $output == *'note     lab netns '*sudo* && $output != *'netns: '* ]]
}
