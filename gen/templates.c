// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/templates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gen/replay.h"
#include "lib/err.h"
#include "lib/scenario.h"

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "no memory for packets");
}

/* --- sizes ------------------------------------------------------------------------------------ */

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * At each step every size is credited its weight, and the one with the most is used and pays the sum
 * (smooth weighted round robin): in every stretch of the cycle each has its share, give or take one.
 */
static int make_cycle(struct templates *t, const struct scenario_stream *stream, struct err *err)
{
	int64_t credit[SCENARIO_SIZES_MAX] = { 0 };
	uint32_t sum = 0, divisor = 0;

	for (uint32_t i = 0; i < stream->nr_sizes; i++) {
		sum += stream->sizes[i].weight;
		divisor = gcd(stream->sizes[i].weight, divisor);
	}
	t->nr_cycle = sum / divisor;
	t->cycle = calloc(t->nr_cycle, sizeof(*t->cycle));
	if (!t->cycle)
		return no_memory(err);
	for (uint32_t k = 0; k < t->nr_cycle; k++) {
		uint32_t best = 0;

		for (uint32_t i = 0; i < stream->nr_sizes; i++) {
			credit[i] += stream->sizes[i].weight;
			if (credit[i] > credit[best])
				best = i;
		}
		credit[best] -= sum;
		t->cycle[k] = best;
	}
	return 0;
}

static int make_sizes(struct templates *t, const struct scenario_stream *stream,
		      struct template_fields *f, uint32_t *tag, struct err *err)
{
	t->list = calloc(stream->nr_sizes, sizeof(*t->list));
	if (!t->list)
		return no_memory(err);
	t->nr = stream->nr_sizes;
	f->shape = stream->shape;
	memcpy(f->vlans, stream->vlans, sizeof(f->vlans));
	f->udp_checksum = stream->udp_checksum;
	f->src_port = stream->src_port;
	f->dst_port = stream->dst_port;
	f->ports_vary = stream->src_port != stream->src_port_last ||
			stream->dst_port != stream->dst_port_last;
	f->resized = t->nr > 1;
	f->tos = stream->tos;
	for (uint32_t i = 0; i < t->nr; i++) {
		f->len = stream->sizes[i].bytes;
		if (template_init(&t->list[i], f, *tag))
			return no_memory(err);
		if (t->list[i].len > t->list[t->widest].len)
			t->widest = i;
	}
	++*tag;
	return make_cycle(t, stream, err);
}

/* --- all -------------------------------------------------------------------------------------- */

int templates_init(struct templates *t, const struct scenario_stream *stream,
		   struct template_fields *f, uint32_t *tag, struct err *err)
{
	int ret;

	*t = (struct templates){ 0 };
	f->ttl = stream->ttl;
	ret = stream->replay ? replay_load(t, stream, f, tag, err) :
			       make_sizes(t, stream, f, tag, err);
	if (ret)
		templates_free(t);
	return ret;
}

void templates_free(struct templates *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		template_free(&t->list[i]);
	free(t->list);
	free(t->cycle);
	*t = (struct templates){ 0 };
}

/* The lane's packets go round, too: with a period of nr_cycle / gcd(nr_cycle, nr_lanes). */
uint64_t templates_bytes(const struct templates *t, uint64_t n, uint32_t lane, uint32_t nr_lanes)
{
	uint64_t period, whole = 0, rest = 0;

	if (t->nr == 1)
		return n * t->list[0].len;
	period = t->nr_cycle / gcd(t->nr_cycle, nr_lanes);
	for (uint64_t k = 0; k < period; k++) {
		uint16_t len = t->list[templates_at(t, lane + k * nr_lanes)].len;

		whole += len;
		rest += k < n % period ? len : 0;
	}
	return n / period * whole + rest;
}
