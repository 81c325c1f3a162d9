// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"

enum { TRACE_BUFFER = 1024 * 1024 }; /* few writes: they too take CPU from the lanes */

int trace_open(struct trace *t, const char *path, struct err *err)
{
	t->file = fopen(path, "we");
	if (!t->file)
		return err_set(err, -errno, "cannot write the trace to %s: %s", path,
			       strerror(errno));
	t->path = strdup(path);
	if (!t->path)
		return err_set(err, -ENOMEM, "no memory for a trace");
	setvbuf(t->file, NULL, _IOFBF, TRACE_BUFFER);
	fputs("t_ns,lane,packets\n", t->file);
	return 0;
}

int trace_start(struct trace *t, uint32_t nr_lanes, struct err *err)
{
	t->rings = aligned_alloc(64, nr_lanes * sizeof(*t->rings));
	if (!t->rings)
		return err_set(err, -ENOMEM, "no memory for a trace of %" PRIu32 " lanes", nr_lanes);
	memset(t->rings, 0, nr_lanes * sizeof(*t->rings));
	t->nr_lanes = nr_lanes;
	return 0;
}

static char *put_number(char *to, uint64_t v)
{
	char digits[20];
	unsigned int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

/* By hand: at a million records a second printf would take the CPU that the lanes are pacing on. */
static void put_record(FILE *file, const struct trace_record *rec, uint32_t lane)
{
	char line[64], *to = put_number(line, rec->t_ns);

	*to++ = ',';
	to = put_number(to, lane);
	*to++ = ',';
	to = put_number(to, rec->packets);
	*to++ = '\n';
	fwrite_unlocked(line, 1, (size_t)(to - line), file);
}

void trace_drain(struct trace *t)
{
	for (uint32_t lane = 0; lane < t->nr_lanes; lane++) {
		struct trace_ring *r = &t->rings[lane];
		uint64_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
		uint64_t end = atomic_load_explicit(&r->written, memory_order_acquire);

		for (; at != end; at++)
			put_record(t->file, &r->records[at % TRACE_RECORDS], lane);
		atomic_store_explicit(&r->read, at, memory_order_release);
	}
}

static uint64_t trace_lost(const struct trace *t)
{
	uint64_t lost = 0;

	for (uint32_t lane = 0; lane < t->nr_lanes; lane++)
		lost += atomic_load_explicit(&t->rings[lane].lost, memory_order_relaxed);
	return lost;
}

int trace_close(struct trace *t, struct err *err)
{
	uint64_t lost;
	bool bad;
	int ret = 0;

	if (!t->file)
		return 0;
	trace_drain(t);
	lost = trace_lost(t);
	bad = ferror(t->file);
	bad |= fclose(t->file) != 0;
	if (bad)
		ret = err_set(err, -EIO, "the trace %s was not written whole: is the disk full?",
			      t->path);
	else if (lost)
		ret = err_set(err, -ENOBUFS,
			      "the trace %s lacks %" PRIu64 " bursts that came too fast to be "
			      "written: lower --rate",
			      t->path, lost);
	free(t->path);
	free(t->rings);
	memset(t, 0, sizeof(*t));
	return ret;
}
