// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/answer.h"
#include "gen/coverage.h"
#include "gen/lane.h"
#include "gen/plan.h"
#include "lib/err.h"

struct sums {
	uint64_t intended, sent, refused, waiting, first_ns, last_ns, distinct;
};

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_lane(struct sums *s, const struct lane_counters *c)
{
	uint64_t first = get(&c->first_tx_ns), last = get(&c->last_tx_ns);

	s->refused += get(&c->refused_pkts);
	s->waiting += get(&c->waiting_pkts);
	if (first && (!s->first_ns || first < s->first_ns))
		s->first_ns = first;
	if (last > s->last_ns)
		s->last_ns = last;
}

static int sum_up(const struct stats_source *src, uint64_t *sent, struct sums *s)
{
	const struct lanes *l = src->lanes;

	for (uint32_t i = 0; i < l->nr; i++) {
		const struct lane_counters *c = lanes_counters(l, i);

		sent[i] = get(&c->sent_pkts);
		s->sent += sent[i];
		add_lane(s, c);
	}
	/* Without a rate nothing is intended but what the port was offered. */
	s->intended = src->plan->unlimited ? s->sent + s->waiting : src->plan->sched.total;
	return l->nr ? coverage_distinct(&src->plan->sched, sent, l->nr, &s->distinct) : 0;
}

static json_t *lanes_json(const struct lanes *l, const uint64_t *sent)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->nr; i++)
		json_array_append_new(list, json_pack("{sI sI}", "sent_pkts", (json_int_t)sent[i],
			"refused_pkts",
			(json_int_t)get(&lanes_counters(l, i)->refused_pkts)));
	return list;
}

/* From when the first packet was due: a late start does not make the rest faster than asked. */
static json_int_t rate(const struct sums *s, uint64_t t0_ns)
{
	if (s->last_ns <= t0_ns || !s->sent)
		return 0;
	return (json_int_t)((double)(s->sent - 1) * 1e9 / (double)(s->last_ns - t0_ns) + 0.5);
}

static json_t *to_json(const struct stats_source *src, const struct sums *s, const uint64_t *sent)
{
	const struct plan *p = src->plan;
	const struct answer *a = src->answer;

	return json_pack("{ss sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI so}",
		"state", src->state, "t_ns", (json_int_t)src->t_ns,
		"intended_pkts", (json_int_t)s->intended, "sent_pkts", (json_int_t)s->sent,
		"unsent_pkts", (json_int_t)(s->intended - s->sent),
		"sent_bytes", (json_int_t)(s->sent * TEMPLATE_LEN),
		"destinations_asked", (json_int_t)sched_distinct(&p->sched),
		"destinations_sent", (json_int_t)s->distinct,
		"rate_intended_pps", (json_int_t)p->sched.rate.pps,
		"rate_achieved_pps", rate(s, src->lanes->t0_ns),
		"first_tx_ns", (json_int_t)s->first_ns, "last_tx_ns", (json_int_t)s->last_ns,
		"refused_pkts", (json_int_t)s->refused,
		"arp_requests", (json_int_t)a->arp_requests,
		"arp_replies", (json_int_t)a->arp_replies,
		"icmp_rx", (json_int_t)a->icmp_rx, "rx_pkts", (json_int_t)a->rx_pkts,
		"lanes", lanes_json(src->lanes, sent));
}

json_t *stats_json(const struct stats_source *src)
{
	uint64_t *sent = calloc(src->lanes->nr + 1, sizeof(*sent));
	struct sums s = { 0 };
	json_t *json = NULL;

	if (sent && !sum_up(src, sent, &s))
		json = to_json(src, &s, sent);
	free(sent);
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
