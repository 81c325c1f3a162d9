// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/answer.h"
#include "gen/coverage.h"
#include "gen/lane.h"
#include "gen/plan.h"
#include "gen/seen.h"
#include "lib/err.h"

struct sums {
	uint64_t intended, sent, bytes, refused, waiting, first_ns, last_ns, distinct, pps, achieved;
};

static uint64_t get(const _Atomic uint64_t *counter)
{
	return lanes_get(counter);
}

static void add_time(struct sums *s, uint64_t first, uint64_t last)
{
	if (first && (!s->first_ns || first < s->first_ns))
		s->first_ns = first;
	if (last > s->last_ns)
		s->last_ns = last;
}

/* From when the first packet was due: a late start does not make the rest faster than asked. */
static uint64_t achieved(const struct sums *s, uint64_t t0_ns)
{
	if (s->last_ns <= t0_ns || !s->sent)
		return 0;
	return (uint64_t)((double)(s->sent - 1) * 1e9 / (double)(s->last_ns - t0_ns) + 0.5);
}

/* --- one stream ------------------------------------------------------------------------------- */

static int distinct_of(const struct stats_source *src, uint32_t i, const uint64_t *sent,
		       uint64_t *distinct)
{
	const struct sched *sched = &src->plan->streams[i].sched;

	if (!src->lanes->nr)
		return 0;
	if (sched_is_cyclic(sched->order) || sched->order == SCHED_WINDOW)
		return coverage_distinct(sched, sent, src->lanes->nr, distinct);
	*distinct = seen_distinct(&src->seen[i]);
	return 0;
}

static int stream_sums(const struct stats_source *src, uint32_t i, uint64_t *sent, struct sums *s)
{
	const struct plan_stream *p = &src->plan->streams[i];
	const struct lanes *l = src->lanes;

	for (uint32_t lane = 0; lane < l->nr; lane++) {
		const struct lane_counters *c = lanes_counters(l, i, lane);

		sent[lane] = get(&c->sent_pkts);
		s->sent += sent[lane];
		s->bytes += templates_bytes(&p->templates, sent[lane], lane, l->nr);
		s->refused += get(&c->refused_pkts);
		s->waiting += get(&c->waiting_pkts);
		add_time(s, get(&c->first_tx_ns), get(&c->last_tx_ns));
	}
	/* Without a rate nothing is intended but what the port was offered. */
	s->intended = src->plan->unlimited ? s->sent + s->waiting : p->sched.total;
	s->pps = plan_mean_pps(p);
	s->achieved = achieved(s, l->t0_ns + p->start_ns);
	return distinct_of(src, i, sent, &s->distinct);
}

static void add_sums(struct sums *to, const struct sums *s)
{
	to->intended += s->intended;
	to->sent += s->sent;
	to->bytes += s->bytes;
	to->refused += s->refused;
	to->distinct += s->distinct;
	to->pps += s->pps;
	to->achieved += s->achieved;
	add_time(to, s->first_ns, s->last_ns);
}

/* What streams and their totals have in common. */
static json_t *sums_json(const struct sums *s, uint64_t asked)
{
	return json_pack("{sI sI sI sI sI sI sI sI sI sI sI}",
		"intended_pkts", (json_int_t)s->intended, "sent_pkts", (json_int_t)s->sent,
		"unsent_pkts", (json_int_t)(s->intended - s->sent),
		"sent_bytes", (json_int_t)s->bytes,
		"destinations_asked", (json_int_t)asked,
		"destinations_sent", (json_int_t)s->distinct,
		"rate_intended_pps", (json_int_t)s->pps, "rate_achieved_pps", (json_int_t)s->achieved,
		"first_tx_ns", (json_int_t)s->first_ns, "last_tx_ns", (json_int_t)s->last_ns,
		"refused_pkts", (json_int_t)s->refused);
}

static json_t *stream_json(const struct stats_source *src, uint32_t i, const struct sums *s,
			   const uint64_t *sent)
{
	const struct plan_stream *p = &src->plan->streams[i];
	bool estimated = src->lanes->nr && seen_estimates(&src->seen[i]);
	json_t *json = sums_json(s, p->asked), *lanes = json_array();

	for (uint32_t lane = 0; lane < src->lanes->nr; lane++)
		json_array_append_new(lanes, json_integer((json_int_t)sent[lane]));
	json_object_set_new(json, "name", json_string(p->stream->name));
	json_object_set_new(json, "destinations_error_ppm", json_integer(estimated ? SEEN_ERROR_PPM : 0));
	if (p->stream->replay)
		json_object_set_new(json, "replay_skipped_pkts",
				    json_integer(p->templates.skipped_pkts));
	json_object_set_new(json, "lanes", lanes);
	return json;
}

/* --- all of them ------------------------------------------------------------------------------ */

static json_t *streams_json(const struct stats_source *src, struct sums *total)
{
	uint64_t *sent = calloc(src->lanes->nr + 1, sizeof(*sent));
	json_t *list = sent ? json_array() : NULL;

	for (uint32_t i = 0; list && i < src->plan->nr_streams; i++) {
		struct sums s = { 0 };

		if (stream_sums(src, i, sent, &s)) {
			json_decref(list);
			list = NULL;
			break;
		}
		add_sums(total, &s);
		json_array_append_new(list, stream_json(src, i, &s, sent));
	}
	free(sent);
	return list;
}

static json_t *lanes_json(const struct lanes *l)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->nr; i++) {
		uint64_t refused, sent = lanes_sent(l, i, &refused);

		json_array_append_new(list, json_pack("{sI sI}", "sent_pkts", (json_int_t)sent,
						      "refused_pkts", (json_int_t)refused));
	}
	return list;
}

json_t *stats_json(const struct stats_source *src)
{
	const struct answer *a = src->answer;
	struct sums total = { 0 };
	json_t *streams = streams_json(src, &total), *json, *more;

	if (!streams)
		return NULL;
	json = sums_json(&total, src->plan->asked);
	more = json_pack("{ss sI sI sI sI sI sI sI so so}", "state", src->state,
			 "t_ns", (json_int_t)src->t_ns,
			 "arp_requests", (json_int_t)a->arp_requests,
			 "arp_replies", (json_int_t)a->arp_replies,
			 "nd_requests", (json_int_t)a->nd_requests,
			 "nd_replies", (json_int_t)a->nd_replies, "icmp_rx", (json_int_t)a->icmp_rx,
			 "rx_pkts", (json_int_t)a->rx_pkts, "lanes", lanes_json(src->lanes),
			 "streams", streams);
	json_object_update(json, more);
	json_decref(more);
	return json;
}

int stats_write(const json_t *stats, FILE *file, const char *name, struct err *err)
{
	if (!stats)
		return err_set(err, -ENOMEM, "no memory for statistics");
	if (json_dumpf(stats, file, JSON_COMPACT) || fputc('\n', file) == EOF || fflush(file))
		return err_set(err, -EIO, "statistics not written to %s: %s", name, strerror(errno));
	return 0;
}
