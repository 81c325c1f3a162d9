# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests of whole runs share.

setup_run()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	R=$BATS_TEST_TMPDIR/results
}

# The results directory of the only run in $R.
result_dir()
{
	local d=("$R"/*/)

	[ ${#d[@]} -eq 1 ] && echo "${d[0]%/}"
}

# A value of its summary: "neigh.ipv4.allocs".
value()
{
	/usr/bin/python3 - "$(result_dir)/summary.json" "$1" <<'EOF'
import json, sys
v = json.load(open(sys.argv[1]))
for name in sys.argv[2].split('.'):
    v = v[name]
print(json.dumps(v).strip('"'))
EOF
}

# expect NAME VALUE ...: all must be equal.
expect()
{
	local v

	while [ $# -gt 0 ]; do
		v=$(value "$1")
		[ "$v" = "$2" ] || {
			echo "$1 is $v, not $2"
			return 1
		}
		shift 2
	done
}

# Every file of the run is what its schema says.
schemas_hold()
{
	/usr/bin/python3 - "$(result_dir)" configs/schema <<'EOF'
import json, sys, jsonschema
d, s = sys.argv[1:]
load = lambda name: json.load(open(f"{s}/{name}.schema.json"))
for name in "summary", "manifest":
    jsonschema.validate(json.load(open(f"{d}/{name}.json")), load(name))
for name, schema in ("samples", load("sample")), ("events", load("event")):
    lines = open(f"{d}/{name}.jsonl").read().splitlines()
    assert lines, f"no {name}"
    for line in lines:
        jsonschema.validate(json.loads(line), schema)
EOF
}

# Processes of the run, however they are called: its paths are in their command lines.
survivors()
{
	pgrep -f -- "$R|/tmp/dststorm-$(id -u)-$1[^0-9]" || true
}

# nothing_left PID: within 5 s nothing of dststorm PID is left, neither process nor socket.
nothing_left()
{
	local i

	for ((i = 0; i < 50; i++)); do
		[ -z "$(survivors "$1")" ] && ! [ -e "/tmp/dststorm-$(id -u)-$1" ] && return 0
		sleep 0.1
	done
	echo "left after 5 s: $(survivors "$1" | xargs -r ps -o pid,args -p) $(ls -d "/tmp/dststorm-$(id -u)-$1" 2>/dev/null)"
	return 1
}

neighbours_close()
{
	[ $(($(value neigh.ipv4.allocs) - $(value neigh.ipv4.destroys))) -eq \
		$(($(value neigh.ipv4.entries_after) - $(value neigh.ipv4.entries_before))) ]
}

# scenario NAME SERIES: it does what it says at its top, and every packet is accounted for. On the
# kernel of that series; on both in `make check-long`.
# shellcheck disable=SC2154 # status and output are what run of bats sets
scenario()
{
	local series

	for series in "$2" ${DSTSTORM_LONG:+6.1 6.12}; do
		rm -rf "$R"
		run ./dststorm run --quiet --results "$R" --set "dut.kernel=debian-$series" "configs/$1.yaml"
		echo "$output"
		[ "$status" -eq 0 ]
		expect valid true accounting.unexplained_pkts 0
		neighbours_close
		schemas_hold
	done
}
