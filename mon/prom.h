/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample as Prometheus reads it: text format 0.0.4, base units, counters that end in _total. The
 * number of series is fixed (no label is an address or an interface). What the kernel or the rights
 * of the user keep back is left out, never 0. Pure.
 */
#ifndef MON_PROM_H
#define MON_PROM_H

#include <stdio.h>

struct sample;
struct view_drops;

#define PROM_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* @drops: read only if s->has_drops. */
void prom_write(FILE *to, const struct sample *s, const struct view_drops *drops,
		const char *version);

#endif
