/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files captured from Debian's kernels, for the tests of mon/: "6.1/hist". */
#ifndef TESTS_UNIT_MON_FILE_H
#define TESTS_UNIT_MON_FILE_H

#include <stdio.h>
#include <stdlib.h>

static const char *const mon_kernels[] = {"6.1", "6.12"};

/* malloc'ed without a byte to spare, so that reading beyond the end is seen by sanitizers. */
static inline char *mon_file(const char *kernel, const char *name, size_t *len)
{
	char path[128], *whole = malloc(1 << 20), *exact;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/data/mon/%s/%s", kernel, name);
	f = fopen(path, "rb");
	if (!f || !whole) {
		fprintf(stderr, "cannot read %s: run the tests in the root of the tree\n", path);
		abort();
	}
	*len = fread(whole, 1, 1 << 20, f);
	fclose(f);
	exact = realloc(whole, *len ? *len : 1);
	return exact ? exact : whole;
}

#endif
