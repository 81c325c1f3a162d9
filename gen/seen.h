/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distinct destinations of a random order, counted by walking what was sent once more: a bit for each
 * destination, up to 2^32 of them. Beyond that it is an estimate (HyperLogLog, Flajolet, Fusy,
 * Gandouet, Meunier 2007), with a standard error of SEEN_ERROR_PPM.
 *
 * It follows the lanes at leisure, in the main thread, and costs them nothing.
 */
#ifndef GEN_SEEN_H
#define GEN_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sched.h"

struct err;

#define SEEN_ERROR_PPM 4063u /* 1.04 / sqrt(2^16) */

struct seen {
	const struct sched *s;
	uint32_t nr_lanes;
	uint64_t *walked; /* packets of each lane that are counted already */
	uint64_t *bits;	  /* or NULL */
	uint8_t *ranks;	  /* 2^16 of them, or NULL */
	uint64_t distinct; /* with bits */
};

/* Returns 0 or -ENOMEM with a sentence. Does nothing for orders that need no counting. */
int seen_init(struct seen *c, const struct sched *s, uint32_t nr_lanes, struct err *err);
void seen_free(struct seen *c); /* also valid on a zeroed one */

/* Count what lanes have @sent since, at most @most packets of it (UINT64_MAX: all). Returns how many
 * it were. */
uint64_t seen_advance(struct seen *c, const uint64_t *sent, uint64_t most);

uint64_t seen_distinct(const struct seen *c);

static inline bool seen_estimates(const struct seen *c)
{
	return c->ranks;
}

#endif
