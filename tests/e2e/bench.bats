#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/bench: that it measures and writes what it says. Never how fast anything is.

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# Its output goes to a build folder of this test, with the programs of the real one.
	real=$(readlink -f "${B:-build}")
	export B=$BATS_TEST_TMPDIR/build
	mkdir "$B"
	ln -s "$real"/dststorm-* "$B"
}

# A PATH with everything but $1.
hide()
{
	local bin=$BATS_TEST_TMPDIR/bin

	mkdir "$bin"
	ln -s /usr/bin/* /usr/sbin/* "$bin" 2>/dev/null || true
	rm "$bin/$1"
	export PATH=$bin
}

# The rows of the only JSON, judged by python: check EXPRESSION with r (by name) and d (all).
check()
{
	/usr/bin/python3 - "$B"/bench/*.json "$1" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
r = {row["row"]: row for row in d["rows"]}
assert eval(sys.argv[2]), json.dumps(d, indent=1)
EOF
}

# bats test_tags=long
@test "gen and sink are measured against their peers, and every sample is kept" {
	run -0 scripts/bench --quick gen sink
	[[ $output == *"testpmd flowgen"* ]]
	check 'd["v"] == 1 and d["quick"] and all(d["machine"][k] for k in ("cpu", "kernel", "cpus"))'
	check 'all(d["versions"][k] for k in ("dststorm", "dpdk", "tcpdump", "libpcap"))'
	check 'list(r) == ["gen-flowgen", "gen-txonly", "gen-huge-flowgen", "gen-huge-txonly", "gen-flat",
		"gen-udp-checksum", "gen-ipv6", "gen-lanes", "sink-pcap"]'
	check 'not any(row["missing"] for row in d["rows"])'
	for row in gen-flowgen gen-txonly sink-pcap; do
		check "r['$row']['ours']['samples'][0]['value'] > 1e5 and r['$row']['peer']['samples'][0]['value'] > 1e5"
		check "abs(r['$row']['ratio'] * r['$row']['peer']['median'] / r['$row']['ours']['median'] - 1) < 1e-9"
		check "r['$row']['met'] == (round(r['$row']['ratio'], 2) >= r['$row']['bar'])"
	done
	# The smallest set is sent over and over, the greatest is not.
	check '[s["destinations"] for s in r["gen-flat"]["ours"]["samples"]][:2] == [1024, 65536]'
	check 'r["gen-flat"]["ratio"] >= 1 and r["gen-flat"]["met"] == (round(r["gen-flat"]["ratio"], 2) <= 1.15)'
	# The capture is gone.
	[ "$(find "$B/bench" -type f | wc -l)" -eq 1 ]
}

@test "a peer that is missing costs its row, and the line says what to do" {
	hide tcpdump
	run -3 scripts/bench --quick sink
	[[ $output == *"tcpdump is missing: install it with scripts/deps run test"* ]]
	check 'r["sink-pcap"]["met"] is None and "tcpdump" in r["sink-pcap"]["missing"]'
}

@test "programs that are not built are told" {
	rm "$B/dststorm-gen"
	run -3 scripts/bench --quick gen
	[[ $output == *"dststorm-gen is missing: run make"* ]]
}

@test "an unknown part is a usage error, and nothing is measured" {
	run -2 scripts/bench --quick everything
	[[ $output == *"'everything' is none of gen, sink, veth, live, rtcache, guest"* ]]
	[ ! -e "$B/bench" ]
}
