/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters as people and monitoring systems look at them on any host (watch, serve): nothing is
 * set up, nothing needs root but the drops by cause, for which a trace instance of this process is
 * made and removed.
 */
#ifndef MON_VIEW_H
#define MON_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "mon/cause.h"
#include "mon/sample.h"
#include "mon/trace.h"

struct err;

struct view {
	struct sampler sampler;
	struct trace trace;
	char no_drops[256]; /* why drops cannot be told by cause; "" if they can */
};

int view_open(struct view *v, struct err *err);
void view_close(struct view *v);

/* IP packets dropped since view_open(), by cause, family (IPv4, IPv6) and origin. */
struct view_drops {
	uint64_t received[2][NR_CAUSES], own[2][NR_CAUSES];
	uint64_t overflow; /* that no row holds */
	const char *other_reason, *other_location; /* of the largest row of CAUSE_OTHER, or NULL */
};

/* @d: filled if s->has_drops. Fails only when the drops cannot be read any more. */
int view_take(struct view *v, struct sample *s, struct view_drops *d, struct err *err);

#endif
