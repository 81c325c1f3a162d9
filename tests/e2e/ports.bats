#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Ports of the kernel's and of DPDK's: what goes in comes out, and what cannot work says why. In two
# network namespaces that this file makes, joined by a veth pair and without a way out.

bats_require_minimum_version 1.5.0

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export GEN SINK OPEN=$BATS_FILE_TMPDIR/open near=dst-near-$$ far=dst-far-$$
	GEN=$(readlink -f "${B:-build}/dststorm-gen")
	SINK=$(readlink -f "${B:-build}/dststorm-sink")
	# shellcheck disable=SC2046 # flags
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I. \
		$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g') -o "$OPEN" tests/e2e/ports-open.c \
		"${B:-build}"/dpdk/*.o "${B:-build}/libdststorm.a" $(pkg-config --libs libdpdk) \
		-lrte_net_vhost -lrte_bus_vdev -ljansson
	[ "$(id -u)" -eq 0 ] || return 0
	ip netns add "$near"
	ip netns add "$far"
	ip link add va netns "$near" type veth peer name vb netns "$far"
	for ns in "$near" "$far"; do
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	done
	ip -n "$near" link set va up
	ip -n "$far" link set vb up
}

teardown_file()
{
	[ "$(id -u)" -eq 0 ] || return 0
	ip netns del "$near" 2>/dev/null || true
	ip netns del "$far" 2>/dev/null || true
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	started=()
	cat >s.yaml <<-END
		name: ports
		duration_s: 1
		streams:
		  - {name: all, destinations: [198.19.0.0/16], sources: [198.18.0.2], rate_pps: 100000}
	END
}

teardown()
{
	local pid
	for pid in "${started[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	[ "$(id -u)" -eq 0 ] || return 0
	# Whatever a test did to the pair.
	ip -n "$near" route flush table main 2>/dev/null || true
	ip -n "$near" addr flush dev va 2>/dev/null || true
	ip -n "$near" link set va up mtu 1500 2>/dev/null || true
	ip -n "$far" link set vb up mtu 1500 2>/dev/null || true
}

needs_root()
{
	[ "$(id -u)" -eq 0 ] || skip "SKIP: network namespaces need root"
}

near()
{
	ip netns exec "$near" "$@"
}

field()
{
	grep -o "\"$1\":[0-9]*" "$2" | head -n 1 | cut -d : -f 2
}

# A counter of interface $2 in namespace $1.
counter()
{
	ip netns exec "$1" cat "/sys/class/net/$2/statistics/$3"
}

wait_for()
{
	local tries=200
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

promiscuous()
{
	ip -n "$far" -d link show vb | grep -q 'promiscuity [1-9]'
}

# Sink at $1:vb, in the background, once it listens; the rest are its options.
sink_start()
{
	local port=$1
	shift
	ip netns exec "$far" "$SINK" --source "$port:vb" --json sink.json "$@" s.yaml 2>sink.err 3>&- &
	sink=$!
	started+=("$sink")
	wait_for promiscuous
}

sink_stop()
{
	sleep 0.3
	kill -TERM "$sink"
	wait "$sink"
}

# 100,000 packets through kind $1: each received, or told by the counters of the pair.
all_told()
{
	local before dropped
	before=$(($(counter "$near" va tx_dropped) + $(counter "$far" vb rx_dropped)))
	sink_start "$1"
	near "$GEN" --port "$1:va" s.yaml "${@:2}" >gen.json
	sink_stop
	dropped=$(($(counter "$near" va tx_dropped) + $(counter "$far" vb rx_dropped) - before +
		$(field capture_dropped_pkts sink.json)))
	echo "sent $(field sent_pkts gen.json), received $(field rx_pkts sink.json), dropped $dropped"
	cat sink.json
	[ "$(field sent_pkts gen.json)" -eq 100000 ]
	[ "$(($(field rx_pkts sink.json) + dropped))" -eq 100000 ]
	[ "$(field rx_pkts sink.json)" -gt 90000 ]
	[ "$(field bad_csum_pkts sink.json)" -eq 0 ]
	! promiscuous
}

@test "af_packet: 100,000 packets arrive or are told" {
	needs_root
	all_told af_packet
}

@test "af_packet: so do those of two lanes" {
	needs_root
	all_told af_packet --lanes 2
}

@test "af_xdp: 100,000 packets arrive or are told" {
	needs_root
	all_told af_xdp
	[ ! -s sink.err ] # libraries print nothing
}

@test "killed, a port leaves nothing that keeps the next one from working" {
	needs_root
	for port in af_xdp af_packet; do
		sink_start $port
		kill -9 "$sink"
		wait "$sink" || true
		! promiscuous
	done
	all_told af_xdp
}

@test "ports of one process: ring loops, ends of a pair reach each other, jumbo frames stay whole" {
	needs_root
	run -0 near "$OPEN" 60 4 plain ring:loop
	[[ $output == *"sent=2000 got=2000 wrong=0" ]]
	near ip link add vc type veth peer name vd
	near ip link set vc up mtu 9000
	near ip link set vd up mtu 9000
	run -0 near "$OPEN" 9014 2 plain af_packet:vc af_packet:vd
	[[ $output == *"vc max_frame=9014 sent=2000 got=2000 wrong=0"*"sent=2000 got=2000 wrong=0" ]]
	near ip link set vc mtu 1500
	near ip link set vd mtu 1500
	run -0 near "$OPEN" 1514 1 plain af_xdp:vc af_xdp:vd
	[[ $output == *"vc max_frame=1514 sent=2000 got=2000 wrong=0"*"sent=2000 got=2000 wrong=0" ]]
	near ip link del vc
}

@test "telemetry: counters are read from outside, and nothing of it stays" {
	needs_root
	ip netns exec "$near" "$GEN" --port af_packet:va s.yaml --telemetry >gen.json 3>&- &
	started+=($!)
	wait_for telemetry_of gen "$!"
	wait "$!"
	[ ! -e "/var/run/dpdk/dststorm-gen-$!" ]
}

@test "telemetry: what a killed program left goes with the next start, and nothing else" {
	local at=${XDG_RUNTIME_DIR:-/tmp}/dpdk other=dststorm-gen-0
	[ "$(id -u)" -ne 0 ] || at=/var/run/dpdk
	for _ in dead live; do
		"$GEN" --port null: --dst 198.19.0.0/24 --rate 1k --duration 60 --telemetry >/dev/null 2>&1 3>&- &
		started+=($!)
		wait_for test -S "$at/dststorm-gen-$!/dpdk_telemetry.v2"
	done
	mkdir -p "$at/$other"
	kill -9 "${started[0]}"
	wait "${started[0]}" || true
	[ -e "$at/dststorm-gen-${started[0]}" ]
	"$GEN" --port null: "${few[@]}" --telemetry
	rmdir "$at/$other"
	[ ! -e "$at/dststorm-gen-${started[0]}" ]
	[ -S "$at/dststorm-gen-${started[1]}/dpdk_telemetry.v2" ]
	kill "${started[1]}"
	wait "${started[1]}" || true
	[ ! -e "$at/dststorm-gen-${started[1]}" ]
}

telemetry_of()
{
	echo "/dststorm/$1/stats" | dpdk-telemetry.py -f "dststorm-$1-$2" >told 2>&1 || return 1
	grep -qE '"sent_pkts": [1-9][0-9]*,' told && grep -q '"lanes/0/sent_pkts"' told
}

# --- what cannot work ------------------------------------------------------------------------------
# refused STATUS WORDS COMMAND...: one line, that holds the words.
refused()
{
	local want=$1 words=$2
	shift 2
	run -"$want" --separate-stderr "$@"
	echo "$* -> $stderr"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"$words"* ]]
}

few=(--dst 198.19.0.0/24 --rate 1k --duration 1)

@test "a wrong port: status 2" {
	refused 2 'at most 15 bytes' "$GEN" --port af_packet:interfaces-have-short-names "${few[@]}"
	refused 2 'must follow the colon' "$GEN" --port af_xdp: "${few[@]}"
	refused 2 'takes no path or name' "$GEN" --port af_packet:a,b=c "${few[@]}"
	refused 2 'as lspci -D does' "$GEN" --port pci:eth0 "${few[@]}"
	refused 2 '16: lower --lanes' "$GEN" --port ring:x --lanes 17 "${few[@]}"
	refused 2 'nothing can be received' "$SINK" --source null: s.yaml
	refused 2 'af_xdp:INTERFACE' "$GEN" --port tun:x "${few[@]}"
}

@test "a device that is not there: status 3" {
	refused 3 'no such interface' "$GEN" --port af_packet:nosuchif "${few[@]}"
	refused 3 'no such interface' "$SINK" --source af_packet:nosuchif s.yaml
	refused 3 'no such driver' "$GEN" --port vdev:net_nosuch0 "${few[@]}"
	refused 3 'no such device' "$GEN" --port pci:ffff:ff:1f.7 "${few[@]}"
	refused 3 'no Ethernet interface' "$GEN" --port af_packet:lo "${few[@]}"
}

@test "a driver that waits for a peer: a signal ends it, and its socket goes" {
	local server=vdev:net_virtio_user0,path=v.sock,server=1
	for program in "$GEN --dst 198.19.0.0/24 --rate 1k --duration 1 --port" "$SINK s.yaml --source"; do
		for number in INT TERM; do
			$program "$server" >out 2>err 3>&- &
			started+=($!)
			wait_for test -S v.sock
			sleep 0.3
			refused 3 'v.sock is there already' "$GEN" --port "$server" "${few[@]}"
			kill -s "$number" "${started[-1]}"
			status=0
			wait "${started[-1]}" || status=$?
			echo "status $status: $(cat out err)"
			[ "$status" -eq 3 ] && [ ! -s out ] && [ ! -e v.sock ]
			[ "$(wc -l <err)" -eq 1 ]
			grep -q "ended by SIG$number while port $server was opened" err
		done
	done
}

@test "no permission: status 3" {
	needs_root
	refused 3 'CAP_NET_RAW' ip netns exec "$near" setpriv --bounding-set -net_raw \
		"$GEN" --port af_packet:va "${few[@]}"
	refused 3 'CAP_NET_ADMIN' ip netns exec "$near" setpriv --bounding-set -net_admin \
		"$GEN" --port af_packet:va "${few[@]}"
	refused 3 'CAP_BPF' ip netns exec "$near" setpriv --bounding-set -bpf,-sys_admin \
		"$GEN" --port af_xdp:va "${few[@]}"
	refused 3 'locks' ip netns exec "$near" setpriv --bounding-set -ipc_lock \
		"$GEN" --port af_xdp:va "${few[@]}"
	refused 3 'ulimit -l 32768' ip netns exec "$near" setpriv --bounding-set -ipc_lock \
		prlimit --memlock=8388608 "$SINK" --source af_packet:va s.yaml
}

@test "too few open files, or threads: status 3" {
	refused 3 'ulimit -n 64' prlimit --nofile=8 "$GEN" --port null: "${few[@]}"
	refused 3 'ulimit -n 64' prlimit --nofile=8 "$SINK" --source "vhost:$PWD/v.sock" s.yaml
	needs_root
	refused 3 'ulimit -u' setpriv --reuid 65534 --clear-groups prlimit --nproc=1 "$GEN" --port null: "${few[@]}"
}

@test "the kernel's reject route on lo is no way out" {
	needs_root
	ip -n "$near" link set lo up
	run -0 near timeout --preserve-status -s INT 0.5 "$SINK" --source live:lo s.yaml
}

@test "an interface that cannot or must not send: status 3" {
	needs_root
	refused 2 'has 1: lower --lanes' near "$GEN" --port af_xdp:va --lanes 2 "${few[@]}"
	refused 3 'MTU of 1500' near "$OPEN" 1515 1 plain af_packet:va
	refused 3 'MTU of 1500' near "$OPEN" 1519 1 vlan af_packet:va
	run -0 near "$OPEN" 1514 1 plain af_packet:va null: # as long as may be
	refused 3 'at most 3500 bytes' near "$OPEN" 3501 1 plain af_xdp:va
	ip -n "$near" addr add 198.18.0.2/16 dev va
	ip -n "$near" route add default via 198.18.0.1
	refused 3 'a default route leaves' near "$GEN" --port af_packet:va "${few[@]}"
	refused 3 'a default route leaves' near "$GEN" --port af_xdp:va "${few[@]}"
	refused 3 'a default route leaves' near "$GEN" --port vdev:net_af_packet0,iface=va "${few[@]}"
	refused 3 'a default route leaves' near "$SINK" --source af_packet:va s.yaml
	ip -n "$near" route del default
	ip -n "$far" link set vb down
	refused 3 'no carrier' near "$GEN" --port af_packet:va "${few[@]}"
	ip -n "$near" link set va down
	refused 3 'ip link set va up' near "$GEN" --port af_xdp:va "${few[@]}"
}

@test "an interface that goes down while it is sent to: status 3, within a second" {
	needs_root
	ip netns exec "$near" "$GEN" --port af_packet:va s.yaml --set duration_s=20 >out 2>err 3>&- &
	started+=($!)
	sleep 1
	ip -n "$near" link set va down
	status=0
	timeout 5 tail --pid=$! -f /dev/null
	wait $! || status=$?
	cat err
	[ "$status" -eq 3 ]
	grep -q 'is down' err
	[ "$(field sent_pkts out)" -gt 0 ]
}

# /sys of a machine that has three network cards.
@test "a PCI device: who has it, who needs it, and hugepages" {
	needs_root
	cat >fake <<-'END'
		mount -t tmpfs none /sys/bus/pci || exit 77
		mount -t tmpfs none /sys/kernel/mm || exit 77
		mkdir -p /sys/kernel/mm/hugepages/hugepages-2048kB
		echo 0 >/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
		for card in 1:e1000e 2:vfio-pci 3:; do
			device=/sys/bus/pci/devices/0000:0${card%%:*}:00.0
			mkdir -p $device/net/va
			echo 0x020000 >$device/class
			[ -z "${card#*:}" ] || ln -s "../../drivers/${card#*:}" $device/driver
		done
		exec "$@"
	END
	refused 3 "the kernel's driver e1000e has it" near unshare -m sh fake "$GEN" --port pci:01:00.0 "${few[@]}"
	[[ $stderr == *"dpdk-devbind.py --bind=vfio-pci 0000:01:00.0"* ]]
	refused 3 'and 0 MB are free: sysctl vm.nr_hugepages=' near unshare -m sh fake "$GEN" --port pci:0000:02:00.0 "${few[@]}"
	refused 3 'no driver is bound' near unshare -m sh fake "$GEN" --port pci:03:00.0 "${few[@]}"
	ip -n "$near" addr add 198.18.0.2/16 dev va
	ip -n "$near" route add default via 198.18.0.1
	refused 3 'it is va, and a default route leaves' near unshare -m sh fake "$GEN" --port pci:02:00.0 "${few[@]}"
}

@test "too little memory: how much is enough" {
	local enough
	for port in null: ring:loop; do
		refused 3 'raise --memory to' "$GEN" --port $port --memory 2 "${few[@]}"
		enough=$(grep -oE '[0-9]+ or more' <<<"$stderr" | cut -d ' ' -f 1)
		run -0 "$GEN" --port $port --memory "$enough" --dst 198.19.0.0/24 --rate 1k --duration 0.1
	done
	needs_root
	for port in af_packet:va af_xdp:va; do
		refused 3 'raise --memory to' near "$GEN" --port $port --memory 8 "${few[@]}"
		enough=$(grep -oE '[0-9]+ or more' <<<"$stderr" | cut -d ' ' -f 1)
		[ "$enough" -le 64 ]
		run -0 near "$GEN" --port $port --memory "$enough" --dst 198.19.0.0/24 --rate 1k --duration 0.1
	done
}
