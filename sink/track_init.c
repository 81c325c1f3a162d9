// SPDX-License-Identifier: GPL-2.0-or-later
/* What track needs before the first probe, and gives back after the last. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "sink/track.h"
#include "sink/track_loss.h"

static int init_result(struct track_result *r, struct err *err)
{
	for (int i = 0; i < TRACK_HISTS; i++) {
		if (hist_init(&r->hist[i], 1, TRACK_DELAY_MAX, TRACK_DIGITS))
			return err_set(err, -ENOMEM, "no memory for three histograms");
	}
	return 0;
}

static int init_common(struct track *t, unsigned int window_bits, struct err *err)
{
	memset(t, 0, sizeof(*t));
	if (window_bits < 7 || window_bits > 30)
		return err_set(err, -EINVAL, "a window of 2^%u packets is not one of 2^7 to 2^30",
			       window_bits);
	t->window_bits = window_bits;
	return init_result(&t->rest, err);
}

int track_loss_window(struct track *t, struct track_flow *f)
{
	f->bits = calloc((size_t)1 << (t->window_bits - 6), sizeof(*f->bits));
	f->least = UINT64_MAX;
	f->nr_sent = UINT64_MAX;
	return f->bits ? 0 : -ENOMEM;
}

/* A slot counts occurrences in 32 bits; numbers on the wire have 48. */
static int init_limit(struct track_flow *f, struct err *err)
{
	uint64_t visits = UINT32_MAX / f->sched.repeat, most;

	if (!f->cyclic || __builtin_mul_overflow(f->period, visits, &most) || most > PROBE_SEQ_MAX)
		most = PROBE_SEQ_MAX;
	f->limit = f->sched.total < most ? f->sched.total : most;
	if (f->sched.rate.pps && f->limit < f->sched.total)
		return err_set(err, -E2BIG,
			       "%" PRIu64 " packets to %" PRIu64 " destinations are more than can "
			       "be told apart (%" PRIu64 "): run shorter or with more destinations",
			       f->sched.total, f->sched.n_shard, most);
	return 0;
}

static int init_no_memory(uint64_t n, size_t bytes, struct err *err)
{
	return err_set(err, -ENOMEM,
		       "no memory for %" PRIu64 " destinations of %zu bytes: take fewer", n, bytes);
}

/* As many as packets are sent to. */
static int init_slots(struct track_flow *f, struct err *err)
{
	uint64_t visits = f->limit / f->sched.repeat + !!(f->limit % f->sched.repeat);

	f->nr_slots = visits < f->sched.n_shard ? visits : f->sched.n_shard;
	if (f->nr_slots > TRACK_SLOTS_MAX)
		return err_set(err, -E2BIG,
			       "%" PRIu64 " destinations are more than can be told apart (2^32): "
			       "set a count or a rate",
			       f->nr_slots);
	f->slots = calloc(f->nr_slots + 1, sizeof(*f->slots));
	f->seen = calloc(f->nr_slots / 64 + 1, sizeof(*f->seen));
	if (!f->slots || !f->seen)
		return init_no_memory(f->nr_slots, sizeof(*f->slots), err);
	return 0;
}

static int init_draws(struct track_flow *f, struct err *err)
{
	f->nr_slots = f->sched.n;
	f->draws = calloc(f->nr_slots, sizeof(*f->draws));
	return f->draws ? 0 : init_no_memory(f->nr_slots, sizeof(*f->draws), err);
}

static void init_passes(struct track_flow *f)
{
	const struct sched *s = &f->sched;

	if (__builtin_mul_overflow(s->n_shard, (uint64_t)s->repeat, &f->period))
		f->period = UINT64_MAX;
	recip_init(&f->per_visit, s->repeat);
	/* Beyond any number of a visit all divisors are alike. */
	recip_init(&f->per_pass, s->n_shard < RECIP_MAX ? s->n_shard : RECIP_MAX + 1);
}

static int init_flow(struct track *t, struct track_flow *f, uint32_t stream,
		     const struct sched *sched, struct err *err)
{
	int ret;

	f->sched = *sched;
	f->stream = stream;
	f->cyclic = sched_is_cyclic(sched->order);
	if (f->cyclic)
		init_passes(f);
	ret = init_limit(f, err);
	if (!ret)
		ret = f->cyclic ? init_slots(f, err) : init_draws(f, err);
	if (!ret && track_loss_window(t, f))
		ret = err_set(err, -ENOMEM, "no memory for the window of a shard");
	return ret;
}

static int init_too_many(const struct track_stream *s, struct err *err)
{
	return err_set(err, -E2BIG,
		       "a random order or a window keeps %u bytes for each of %" PRIu64
		       " destinations, sent to or not, and for each of %u shards; at most 2^26 of "
		       "them: take order: permute, which keeps only what is sent",
		       TRACK_BYTES_PER_DRAW, s->n, s->nr_shards);
}

static int init_stream(struct track *t, struct track_stream *s,
		       const struct track_stream_conf *conf, struct err *err)
{
	int ret = init_result(&s->result, err);

	s->set = conf->set;
	s->n = addrset_count(conf->set);
	s->v6 = conf->set->family == AF_INET6;
	s->start_ns = conf->start_ns;
	s->cyclic = sched_is_cyclic(conf->scheds->order);
	if (!ret && !s->cyclic && s->n > TRACK_DRAWS_MAX / conf->nr_shards) {
		s->nr_shards = conf->nr_shards;
		ret = init_too_many(s, err);
		s->nr_shards = 0;
	}
	if (ret)
		return ret;
	s->flows = calloc(conf->nr_shards, sizeof(*s->flows));
	s->seen = s->cyclic ? NULL : calloc(s->n / 64 + 1, sizeof(*s->seen));
	if (!s->flows || (!s->cyclic && !s->seen))
		return err_set(err, -ENOMEM, "no memory for %u shards", conf->nr_shards);
	s->nr_shards = conf->nr_shards;
	for (uint32_t i = 0; i < s->nr_shards && !ret; i++)
		ret = init_flow(t, &s->flows[i], (uint32_t)(s - t->streams), &conf->scheds[i],
				err);
	return ret;
}

int track_init(struct track *t, const struct track_stream_conf *streams, uint32_t nr_streams,
	       unsigned int window_bits, struct err *err)
{
	int ret = init_common(t, window_bits, err);

	t->scheduled = true;
	if (!ret) {
		t->streams = calloc(nr_streams, sizeof(*t->streams));
		if (!t->streams)
			ret = err_set(err, -ENOMEM, "no memory for %u streams", nr_streams);
	}
	if (!ret)
		t->nr_streams = nr_streams;
	for (uint32_t i = 0; i < nr_streams && !ret; i++)
		ret = init_stream(t, &t->streams[i], &streams[i], err);
	if (ret)
		track_free(t);
	return ret;
}

int track_init_free(struct track *t, unsigned int window_bits, struct err *err)
{
	int ret = init_common(t, window_bits, err);

	if (!ret) {
		t->free_flows = calloc(UINT16_MAX + 1, sizeof(struct track_flow *));
		if (!t->free_flows || tally_init(&t->tally, SIZE_MAX))
			ret = err_set(err, -ENOMEM, "no memory to tell addresses apart");
	}
	if (ret)
		track_free(t);
	return ret;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void free_result(struct track_result *r)
{
	for (int i = 0; i < TRACK_HISTS; i++)
		hist_free(&r->hist[i]);
}

static void free_stream(struct track_stream *s)
{
	for (struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		free(f->bits);
		free(f->lanes);
		free(f->slots);
		free(f->seen);
		free(f->draws);
	}
	free(s->flows);
	free(s->seen);
	free_result(&s->result);
}

void track_free(struct track *t)
{
	for (uint32_t i = 0; i < t->nr_streams; i++)
		free_stream(&t->streams[i]);
	free(t->streams);
	for (size_t i = 0; t->free_flows && i <= UINT16_MAX; i++) {
		if (t->free_flows[i])
			free(t->free_flows[i]->bits);
		free(t->free_flows[i]);
	}
	free(t->free_flows);
	tally_free(&t->tally);
	free_result(&t->rest);
	memset(t, 0, sizeof(*t));
}
