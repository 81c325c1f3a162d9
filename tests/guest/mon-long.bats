#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A table of 200,000 neighbours, after all other scenes: `make check-long` only, as the name says.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	local build=${B:-build} series kernel image
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I. -O2 -Wall -Wextra -o "$BATS_FILE_TMPDIR/mon-scenes" \
		tests/guest/mon-*.c "$build/libdststorm.a" -ljansson -lm
	for series in 6.12; do # once is enough: what it is about is mon
		kernel=$(scripts/guest-kernel "debian-$series")
		image=$(scripts/guest-image "$kernel" "$build/dststorm-mon")
		timeout 400 "$BATS_FILE_TMPDIR/mon-scenes" "$kernel" "$image" "$BATS_FILE_TMPDIR/console-$series" many \
			>"$BATS_FILE_TMPDIR/checks-$series" 2>"$BATS_FILE_TMPDIR/notes-$series" 3>&- &
	done
	wait
}

# scene SERIES NAME COUNT: exactly COUNT checks of that scene were made, and all are good.
scene()
{
	local file=$BATS_FILE_TMPDIR/checks-$1
	grep -E "^(not )?ok $2: " "$file" || echo "no check of scene $2 was made"
	if grep -q "^not ok $2: " "$file" || [ "$(grep -c "^ok $2: " "$file")" -ne "$3" ]; then
		echo "wanted $3 checks"
		tail -n 20 "$BATS_FILE_TMPDIR/notes-$1" "$BATS_FILE_TMPDIR/console-$1"
		return 1
	fi
}

@test "6.12: 200,000 neighbours: samples in time, none lost, none double, memory bounded" {
	scene 6.12 many 10
}
