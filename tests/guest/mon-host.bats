#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-mon on any host: without a guest, and where it changes something, in a namespace of its own.

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	mon=$PWD/${B:-build}/dststorm-mon
	[ "${B#/}" = "${B:-}" ] || mon=$B/dststorm-mon
	state=$BATS_TEST_TMPDIR/state
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip "needs root for a namespace of its own"
}

# Requests on stdin, answers in $output.
talk()
{
	"$mon" --stdio --state "$state"
}

# inside COMMANDS: run them by bash in a new network namespace with the two ends of a veth pair.
inside()
{
	unshare --net bash -euc "
		ip link add v0 address 02:00:00:00:00:0a type veth peer name v1 address 02:00:00:00:00:0b
		mon='$mon' state='$state'
		ask() { printf '{\"v\":1,\"id\":1,\"method\":\"configure\",\"params\":%s}\n' \"\$1\"; }
		$1"
}

both='{"interfaces":[{"mac":"02:00:00:00:00:0a","name":"in","address":"198.18.0.1/16"},{"mac":"02:00:00:00:00:0b","name":"out","address":"198.19.0.1/16"}],"sysctls":[["net.ipv4.neigh.v1.retrans_time_ms",2000]]}'

@test "--once prints a sample, without root too" {
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$mon" --once
	[ "$status" -eq 0 ]
	[[ $output == *'"gc_thresh3"'* ]]
	[ -z "$stderr" ]
}

@test "wrong usage is told with exit status 2" {
	for args in "" "--once --stdio" "--no-such-option" "--port" "--once more"; do
		# shellcheck disable=SC2086 # words
		run "$mon" $args
		[ "$status" -eq 2 ]
	done
}

@test "a port that cannot be opened is one line and exit status 3" {
	run "$mon" --port /no/such/port --state "$state"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"/no/such/port"* ]]
}

@test "what is no request is answered, and the next one too" {
	run talk <<-'EOF'
		this is no JSON
		{"id":4,"method":"hello"}
		{"v":1,"id":5,"method":"arm"}
		{"v":1,"id":6,"method":"nonsense"}
		{"v":1,"id":7}
		{"v":1,"id":8,"method":"panic"}
		{"v":1,"id":9,"method":"hello"}
	EOF
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 7 ]
	[[ ${lines[0]} == *'"id":0,"error"'* ]]
	[[ ${lines[1]} == *'"id":0,"error"'* ]]
	[[ ${lines[2]} == *'in the state idle'* ]]
	[[ ${lines[3]} == *nonsense* ]]
	[[ ${lines[5]} == *--test-hooks* ]]
	[[ ${lines[6]} == *'"role":"mon"'* ]]
}

@test "bad configurations are one sentence with code 2" {
	for params in '{"interfaces":[{"mac":"nonsense","name":"in"}]}' \
		'{"interfaces":[{"mac":"02:00:00:00:00:0a"}]}' '{"hide_cause":"nonsense"}' \
		'{"neigh_events":3}' '{"sysctls":[["net.ipv4.ip_forward"]]}' '{"sysctls":[["../etc/x",1]]}' \
		'{"sysctls":[["net.ipv4.nonsense",1]]}'; do
		need_root
		run inside "ask '$params' | \"\$mon\" --stdio --state \"\$state\""
		[ "$status" -eq 0 ]
		[[ $output == *'"error":{"code":2,"text":"'* ]]
	done
}

@test "interfaces are set up, and everything is put back at the end" {
	need_root
	run inside "
		before=\$(cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/neigh/v1/retrans_time_ms)
		{ ask '$both'; sleep 1; ip -o -4 addr show >&2; cat /proc/sys/net/ipv4/ip_forward >&2
		  cat /proc/sys/net/ipv4/neigh/v1/retrans_time_ms >&2; [ -s \"\$state\" ]; } |
			\"\$mon\" --stdio --state \"\$state\"
		[ ! -e \"\$state\" ]
		echo after
		ip -o -4 addr show
		ip -o link show up
		[ \"\$before\" = \"\$(cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/neigh/v1/retrans_time_ms)\" ]"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${output%after*} == *'"ifname":"v0"'* ]]
	[[ ${output%after*} == *'198.18.0.1/16 brd 198.18.255.255'* ]]
	[[ ${output%after*} == *$'\n1\n2000'* ]]
	[[ ${output#*after} != *'198.1'* ]]
	[[ ${output#*after} != *' v'[01]* ]]
}

@test "after a crash everything is put back at the next start" {
	need_root
	run inside "
		before=\$(cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/neigh/v1/retrans_time_ms)
		mkfifo '$BATS_TEST_TMPDIR/in'
		\"\$mon\" --stdio --state \"\$state\" <'$BATS_TEST_TMPDIR/in' &
		exec 7>'$BATS_TEST_TMPDIR/in'
		ask '$both' >&7
		sleep 1
		kill -9 \$!
		wait \$! || true
		ip -o -4 addr show | grep -q 198.19.0.1
		echo after
		echo '{\"v\":1,\"id\":2,\"method\":\"hello\"}' | \"\$mon\" --stdio --state \"\$state\"
		ip -o -4 addr show
		[ ! -e \"\$state\" ]
		[ \"\$before\" = \"\$(cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/neigh/v1/retrans_time_ms)\" ]"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${output#*after} == *'"restored":'[1-9]* ]]
	[[ ${output#*after} != *'198.1'* ]]
}

@test "an interface with a default route is refused" {
	need_root
	run inside "
		ip link set v0 up
		ip link set v1 up
		ip addr add 10.0.0.1/24 dev v0
		ip route add default via 10.0.0.2
		ask '$both' | \"\$mon\" --stdio --state \"\$state\""
	[ "$status" -eq 0 ]
	[[ $output == *'"code":2'*'v0 carries a default route'* ]]
}

@test "SIGTERM ends it in order" {
	need_root
	run inside "
		mkfifo '$BATS_TEST_TMPDIR/in'
		\"\$mon\" --stdio --state \"\$state\" <'$BATS_TEST_TMPDIR/in' &
		exec 7>'$BATS_TEST_TMPDIR/in'
		ask '$both' >&7
		sleep 1
		kill \$!
		wait \$!
		ip -o -4 addr show
		[ ! -e \"\$state\" ]"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *'inet 198.1'* ]]
}
