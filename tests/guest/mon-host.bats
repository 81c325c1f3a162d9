#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dststorm-mon on any host: without a guest, and where it changes something, in a namespace of its own.

# shellcheck disable=SC2030,SC2031 # each test is a subshell of its own, as it should be
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

both='{"interfaces":[{"mac":"02:00:00:00:00:0a","name":"in","addresses":["198.18.0.1/16"]},{"mac":"02:00:00:00:00:0b","name":"out","addresses":["198.19.0.1/16"]}],"sysctls":[["net.ipv4.neigh.v1.retrans_time_ms",2000]]}'

@test "--once prints a sample, without root too" {
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$mon" --once
	[ "$status" -eq 0 ]
	[[ $output == *'"gc_thresh3"'* ]]
	[ -z "$stderr" ]
}

@test "wrong usage is told with exit status 2" {
	for args in "" "--once --stdio" "--no-such-option" "--port" "--once more" "watch serve" \
		"watch --interval 0" "watch --interval 1x" "watch --listen 127.0.0.1:1" "serve --json" \
		"serve --listen localhost:1" "serve --listen 127.0.0.1:65536" "serve --listen 127.0.0.1" \
		"--once --interval 2" "watch --state x"; do
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
	run "$mon" --stdio --state "$state" </dev/null
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"standard input: give a pipe"* ]]
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
		'{"sysctls":[["net.ipv4.nonsense",1]]}' '{"routes":[{"prefix":"198.18.9.1/24","type":"blackhole"}]}' \
		'{"routes":[{"prefix":"198.18.9.0/24","type":"via"}]}' '{"routes":[{"prefix":"198.18.9.0/24","type":"x"}]}' \
		'{"routes":[{"prefix":"198.18.9.0/24","type":"via","via":"2001:2::1"}]}' \
		'{"interfaces":[{"mac":"02:00:00:00:00:0a","name":"in","addresses":["198.18.0.1"]}]}'; do
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

@test "addresses and routes of both families are set, and put back after a crash" {
	need_root
	run inside "
		routes='{\"interfaces\":[{\"mac\":\"02:00:00:00:00:0a\",\"name\":\"in\",\"addresses\":[\"198.18.0.1/16\",\"2001:2:0:1::1/64\"]},
			{\"mac\":\"02:00:00:00:00:0b\",\"name\":\"out\",\"addresses\":[\"198.19.0.1/16\",\"2001:2:0:2::1/64\"]}],\"routes\":[
			{\"prefix\":\"198.18.9.0/24\",\"type\":\"blackhole\"},{\"prefix\":\"2001:2:0:9::/64\",\"type\":\"prohibit\"},
			{\"prefix\":\"198.18.10.0/24\",\"type\":\"via\",\"via\":\"198.19.0.9\"},
			{\"prefix\":\"2001:2:0:a::/64\",\"type\":\"via\",\"via\":\"2001:2:0:2::9\"}]}'
		ip link add w0 type veth peer name w1
		sysctl -qw net.ipv4.conf.w0.forwarding=1 net.ipv4.conf.all.accept_redirects=0
		mkfifo '$BATS_TEST_TMPDIR/in'
		\"\$mon\" --stdio --state \"\$state\" <'$BATS_TEST_TMPDIR/in' &
		exec 7>'$BATS_TEST_TMPDIR/in'
		ask \"\$(tr -d '\n' <<<\$routes)\" >&7
		sleep 1
		ip route; ip -6 route; ip -6 -o addr show tentative
		sysctl net.ipv6.conf.all.forwarding
		kill -9 \$!
		wait \$! || true
		echo after
		true | \"\$mon\" --stdio --state \"\$state\"
		ip route; ip -6 route; ip -o addr
		sysctl net.ipv4.conf.w0.forwarding net.ipv4.conf.all.accept_redirects net.ipv4.ip_forward net.ipv6.conf.all.forwarding"
	echo "$output"
	[ "$status" -eq 0 ]
	local before=${output%%after*} after=${output##*after}
	[[ $before == *'blackhole 198.18.9.0/24'* ]]
	[[ $before == *'198.18.10.0/24 via 198.19.0.9 dev v1'* ]]
	[[ $before == *'prohibit 2001:2:0:9::/64'* ]]
	[[ $before == *'2001:2:0:a::/64 via 2001:2:0:2::9 dev v1'* ]]
	[[ $before != *tentative* ]]
	[[ $before == *'net.ipv6.conf.all.forwarding = 1'* ]]
	[[ $after != *198.1* ]] && [[ $after != *2001:2:* ]]
	[[ $after == *'w0.forwarding = 1'*'accept_redirects = 0'*'ip_forward = 0'*'net.ipv6.conf.all.forwarding = 0'* ]]
}

@test "watch prints a table in each interval, without root too, and says what needs root" {
	run --separate-stderr timeout --preserve-status 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$mon" watch --interval 0.3
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(grep -c 'every 0.3 s' <<<"$output")" -ge 2 ]
	[[ $output == *thresh3*IPv4*IPv6*'top devices'*'drops by cause:'*root* ]]
	[[ $output != *$'\033'* ]]
}

@test "watch --json is one line of JSON in each interval, and ends when nobody reads" {
	timeout --preserve-status 1 "$mon" watch --json --interval 0.3 >"$BATS_TEST_TMPDIR/lines"
	/usr/bin/python3 - "$BATS_TEST_TMPDIR/lines" <<-'EOF'
		import json, sys
		lines = [json.loads(l) for l in open(sys.argv[1])]
		assert len(lines) >= 3, lines
		for a, b in zip(lines, lines[1:]):
		    assert 0.2e9 < b["t_ns"] - a["t_ns"] < 1e9
		assert all(l["v"] == 1 and l["event"] == "watch" and l["neigh"]["ipv6"]["gc_thresh3"] for l in lines)
		assert all("drops_pkts" in l or l["drops_why"] for l in lines)
	EOF
	set -o pipefail
	timeout 10 "$mon" watch --json --interval 0.1 | head -n 2 >/dev/null
}

@test "watch lists the devices with the most neighbours" {
	need_root
	run inside "
		ip link set v0 up; ip link set v1 up
		for i in 1 2 3; do ip neigh add 198.18.0.\$i lladdr 02:00:00:00:00:01 dev v0 nud permanent; done
		for i in 1 2 3 4; do ip neigh add 198.19.0.\$i lladdr 02:00:00:00:00:01 dev v1 nud permanent; done
		timeout --preserve-status 0.5 \"\$mon\" watch"
	[ "$status" -eq 0 ]
	[[ $output == *'top devices'*$'\n'v1*' 4 '*$'\n'v0*' 3 '* ]]
}

@test "watch fits into its terminal, is redrawn when that is resized, and leaves it as it was" {
	/usr/bin/python3 - "$mon" <<-'EOF'
		import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time
		master, slave = pty.openpty()
		size = lambda rows, cols: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
		size(6, 40)
		before = termios.tcgetattr(slave)
		p = subprocess.Popen([sys.argv[1], "watch", "--interval", "0.2"], stdout=slave, stdin=slave,
		    env={**os.environ, "TERM": "xterm"})
		def collect(s):
		    out, end = b"", time.time() + s
		    while select.select([master], [], [], max(0, end - time.time()))[0]:
		        out += os.read(master, 65536)
		    return out.decode()
		small = collect(1)
		assert small.startswith("\033[2J\033[H"), repr(small)
		for frame in small.split("\033[H")[1:-1]:
		    lines = [re.sub("\033\\[[0-9]*[A-Z]", "", l) for l in frame.split("\r\n")]
		    assert len(lines) <= 6 and max(map(len, lines)) <= 40, lines
		size(50, 200)
		p.send_signal(signal.SIGWINCH)
		large = collect(1)
		assert "\033[2J" in large and "drops by cause" in large, repr(large)
		p.terminate()
		assert p.wait(5) == 0
		assert termios.tcgetattr(slave) == before
	EOF
}

@test "watch ends with q, and stopped or ended in any way leaves its terminal as it was" {
	/usr/bin/python3 - "$mon" <<-'EOF'
		import fcntl, os, pty, select, signal, subprocess, sys, termios, time
		def start(stdin=None):
		    master, slave = pty.openpty()
		    fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x18\0\x50\0\0\0\0\0")
		    p = subprocess.Popen([sys.argv[1], "watch", "--interval", "0.1"], stdout=slave,
		        stdin=slave if stdin is None else stdin, env={**os.environ, "TERM": "xterm"},
		        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(1, termios.TIOCSCTTY, 0)))
		    return master, slave, p
		rest = {}
		def said(master, text):
		    out, end = rest.get(master, b""), time.time() + 10
		    while text not in out:
		        assert select.select([master], [], [], max(0, end - time.time()))[0], (text, out[-2000:])
		        assert time.time() < end, (text, out[-2000:])
		        out += os.read(master, 65536)
		    rest[master] = out.split(text, 1)[1]
		mode = lambda fd: termios.tcgetattr(fd)
		raw = lambda fd: not mode(fd)[3] & (termios.ICANON | termios.ECHO)
		def ends(how, status=0):
		    master, slave, p = start()
		    said(master, b"q: quit")
		    assert raw(slave)
		    how(master, p)
		    assert p.wait(5) == status, how
		    assert mode(slave) == found
		    os.close(master), os.close(slave)
		    rest.clear()
		m, s = pty.openpty()
		found = mode(s)
		ends(lambda m, p: os.write(m, b"xyq"))
		for key in b"\x03", b"\x1c":
		    ends(lambda m, p: os.write(m, key))
		for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
		    ends(lambda m, p: p.send_signal(number))
		# Not from a terminal: its q is nobody's, and the terminal for the output is left alone.
		r, w = os.pipe()
		os.write(w, b"q")
		master, slave, p = start(r)
		said(master, b"neighbours")
		time.sleep(0.3)
		assert p.poll() is None and mode(slave) == found
		p.terminate()
		assert p.wait(5) == 0
		# A shell's job: stopped, in the background, in the foreground again.
		job, tty = pty.fork()
		if not job:
		    os.environ["TERM"] = "xterm"
		    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
		do = lambda line: os.write(tty, line)
		do(b"PS1=; before=$(stty -g); \"%s\" watch --interval 0.1\n" % sys.argv[1].encode())
		said(tty, b"q: quit")
		do(b"\x1a")
		said(tty, b"Stopped")
		do(b"[ \"$(stty -g)\" = \"$before\" ] && echo as''was; bg\n")
		said(tty, b"aswas")
		said(tty, b"every 0.1 s\x1b[K")	# in the background, and without a key
		do(b"jobs -r | grep -c watch | sed s/1/run''ning/; fg\n")
		said(tty, b"running")
		said(tty, b"q: quit")
		do(b"q")
		time.sleep(0.3)
		do(b"[ \"$(stty -g)\" = \"$before\" ] && echo still''so $?; exit\n")
		said(tty, b"stillso 0")
		os.close(tty)
		os.waitpid(job, 0)
	EOF
}

# serving COMMANDS: run them while it serves; `code METHOD PATH [FILE]` prints status and headers.
serving()
{
	need_root
	run inside "
		code() { /usr/bin/python3 - \"\$@\" <<-'EOF'
			import sys, http.client
			c = http.client.HTTPConnection('127.0.0.1', 9718, timeout=5)
			c.request(sys.argv[1], sys.argv[2], body='x' if sys.argv[1] == 'POST' else None)
			r = c.getresponse(); body = r.read()
			print(r.status, r.getheader('Content-Type'), r.getheader('Allow'))
			if len(sys.argv) > 3: open(sys.argv[3], 'wb').write(body)
			EOF
		}
		ip link set lo up
		\"\$mon\" serve &
		sleep 0.5
		$1
		kill \$!
		wait \$!"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "serve answers GET /metrics and nothing else, and ends in order" {
	serving "code GET /metrics; code GET /; code GET /metrics/x; code POST /metrics; code HEAD /metrics; code DELETE /metrics
		[ \"\$(ss -Hltn | wc -l)\" -eq 1 ]; ss -Hltn"
	[[ $output == *$'\n200 text/plain; version=0.0.4; charset=utf-8 None\n404 '*$'\n404 '*$'\n405 '*GET$'\n405 '*$'\n405 '* ]]
	[[ $output == *127.0.0.1:9718* ]]
	[[ $output == *'serving http://127.0.0.1:9718/metrics'* ]]
}

@test "serve takes one sample a second at most" {
	serving "for i in 1 2 3; do code GET /metrics '$BATS_TEST_TMPDIR/m'\$i; done"
	cmp "$BATS_TEST_TMPDIR/m1" "$BATS_TEST_TMPDIR/m2" || cmp "$BATS_TEST_TMPDIR/m2" "$BATS_TEST_TMPDIR/m3"
}

@test "Prometheus's own checker has nothing to say about the metrics" {
	local promtool
	promtool=$(scripts/promtool) || skip "NO PROMTOOL: $(scripts/promtool 2>&1)"
	serving "code GET /metrics '$BATS_TEST_TMPDIR/metrics'"
	[ "$(grep -c '^dststorm_' "$BATS_TEST_TMPDIR/metrics")" -gt 40 ]
	run "$promtool" check metrics <"$BATS_TEST_TMPDIR/metrics"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run "$promtool" check metrics <<<'dststorm_x_ms 1' # it would have something to say
	[ -n "$output" ]
}
