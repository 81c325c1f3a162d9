/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The templates of a stream, and which packet has which: packet seq the one that entry seq modulo
 * nr_cycle of the cycle names. Sizes take turns by weight, spread as evenly as they can be; a replay
 * goes through its packets in the order of the file.
 */
#ifndef GEN_TEMPLATES_H
#define GEN_TEMPLATES_H

#include <stdint.h>

#include "gen/template.h"

struct err;
struct scenario_stream;

struct templates {
	struct template *list;
	uint32_t nr;
	uint32_t *cycle; /* NULL: entry i is i */
	uint32_t nr_cycle;
	uint32_t widest; /* of the list; what a buffer is given first where templates share a tag */
	uint32_t skipped_pkts; /* of a replay: not of the stream's family, no probe fits, ... */
};

/* Shards, MACs and number of a stream, in @f; the rest of it is filled in. Tags from *@tag on are
 * used up. Returns 0, or negative errno with a sentence. */
int templates_init(struct templates *t, const struct scenario_stream *stream,
		   struct template_fields *f, uint32_t *tag, struct err *err);
void templates_free(struct templates *t); /* also valid on zeroed templates */

static inline uint32_t templates_at(const struct templates *t, uint64_t seq)
{
	uint32_t i = (uint32_t)(seq % t->nr_cycle);

	return t->cycle ? t->cycle[i] : i;
}

/* Bytes, without FCS, of the first @n packets of lane @lane of @nr_lanes. */
uint64_t templates_bytes(const struct templates *t, uint64_t n, uint32_t lane, uint32_t nr_lanes);

/* The greatest frame, without FCS. */
static inline uint32_t templates_len_max(const struct templates *t)
{
	return t->list[t->widest].len;
}

#endif
