// SPDX-License-Identifier: GPL-2.0-or-later
/* The widening of 32-bit counters: mon/proc.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "mon/proc.h"

struct wide_new {
	uint32_t *now;
	unsigned rows, columns;
};

static void wide_take(void *ctx, unsigned row, unsigned column, uint64_t value)
{
	struct wide_new *n = ctx;

	if (row < n->rows)
		n->now[row * n->columns + column] = (uint32_t)value;
}

/* A CPU that was not there before starts from 0, as its counters do. */
static int wide_grow(struct proc_wide *w, unsigned rows, unsigned columns)
{
	uint32_t *last;

	if (rows <= w->rows)
		return 0;
	last = realloc(w->last, (size_t)rows * columns * sizeof(*last));
	if (!last)
		return -ENOMEM;
	memset(last + w->rows * columns, 0, (size_t)(rows - w->rows) * columns * sizeof(*last));
	w->last = last;
	w->rows = rows;
	w->columns = columns;
	return 0;
}

static unsigned wide_lines(const char *text, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static void wide_advance(struct proc_wide *w, const uint32_t *now)
{
	for (unsigned r = 0; r < w->rows; r++) {
		for (unsigned c = 0; c < w->columns; c++) {
			unsigned i = r * w->columns + c;

			w->total[c] += (uint32_t)(now[i] - w->last[i]);
			w->last[i] = now[i];
		}
	}
}

int proc_wide_lnstat(struct proc_wide *w, const char *text, size_t len, const char *const *names,
		     unsigned nr, struct err *err)
{
	struct wide_new n = {.columns = nr};
	int ret;

	if (nr > PROC_COLUMNS_MAX)
		return -EINVAL;
	if (wide_grow(w, wide_lines(text, len), nr))
		return err_set(err, -ENOMEM, "no memory for the counters of all CPUs");
	n.rows = w->rows;
	n.now = calloc((size_t)n.rows * nr + 1, sizeof(*n.now));
	if (!n.now)
		return err_set(err, -ENOMEM, "no memory for the counters of all CPUs");
	/* A row that the text lacks this time keeps its last value: nothing is gained, nothing
	 * lost. */
	if (w->last)
		memcpy(n.now, w->last, (size_t)n.rows * nr * sizeof(*n.now));
	ret = proc_lnstat(text, len, names, nr, wide_take, &n, err);
	if (ret >= 0)
		wide_advance(w, n.now);
	free(n.now);
	return ret;
}

void proc_wide_free(struct proc_wide *w)
{
	free(w->last);
	memset(w, 0, sizeof(*w));
}
