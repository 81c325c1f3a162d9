// SPDX-License-Identifier: GPL-2.0-or-later
#include "sched.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "err.h"
#include "sched_parts.h"

#define NS_PER_S UINT64_C(1000000000)

typedef sched_u128 u128;

/* --- life ------------------------------------------------------------------------------------- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* 1 / @a modulo @m, where they have no common divisor: Euclid's algorithm. 0 for m = 1. */
static uint64_t reciprocal(uint64_t a, uint64_t m)
{
	uint64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1 % m;

	while (r1) {
		uint64_t quotient = r0 / r1, rest = r0 % r1;
		uint64_t t = (uint64_t)((u128)quotient * t1 % m);

		t = t0 >= t ? t0 - t : t0 + (m - t);
		r0 = r1;
		r1 = rest;
		t0 = t1;
		t1 = t;
	}
	return t0;
}

static int init_stride(struct sched *s, int64_t stride, struct err *err)
{
	uint64_t size = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;

	if (!stride)
		return err_set(err, -EINVAL, "a stride of 0 stays where it is: give another one");
	s->stride = size % s->n;
	if (stride < 0 && s->stride)
		s->stride = s->n - s->stride;
	s->gcd = gcd(s->n, s->stride);
	s->cycle = s->n / s->gcd;
	s->stride_over_n = (uint64_t)(((u128)s->stride << 64) / s->n);
	s->one_over_cycle = UINT64_MAX / s->cycle;
	s->unstride = reciprocal(s->stride / s->gcd, s->cycle);
	return 0;
}

static int init_window(struct sched *s, const struct sched_conf *conf, struct err *err)
{
	uint64_t divisor = gcd(conf->rate.pps, conf->new_pps);

	if (!conf->window || conf->window > s->n_shard)
		return err_set(err, -EINVAL, "a window of %" PRIu64 " destinations: give 1 to %" PRIu64,
			       conf->window, s->n_shard);
	if (conf->new_pps > conf->rate.pps)
		return err_set(err, -EINVAL, "%" PRIu64 " new destinations/s need as many packets/s, "
			       "and the rate is %" PRIu64 ": lower them or raise it", conf->new_pps,
			       conf->rate.pps);
	s->window = conf->window;
	s->slide = divisor ? conf->new_pps / divisor : 0;
	s->per = divisor ? conf->rate.pps / divisor : 1;
	return 0;
}

static bool is_share(double x)
{
	return x >= 0 && x <= 1;
}

static int init_hot(struct sched *s, const struct sched_conf *conf, struct err *err)
{
	double exact = conf->hot_destinations * (double)s->n;
	/* 0.07 of 100 are 7, not the 8 that roundings make of them. */
	double nr = ceil(exact - fmin(exact * 0x1p-48, 1e-6));

	if (!is_share(conf->hot_packets) || !is_share(conf->hot_destinations))
		return err_set(err, -EINVAL, "%g of the packets to %g of the destinations: both are "
			       "shares from 0 to 1", conf->hot_packets, conf->hot_destinations);
	s->nr_hot = nr < (double)s->n ? (uint64_t)nr : s->n;
	/* Without a rest the first ones get it all. */
	s->hot_threshold = s->nr_hot == s->n ? UINT64_MAX : (uint64_t)ldexp(conf->hot_packets, 63);
	if (!s->nr_hot && s->hot_threshold)
		return err_set(err, -EINVAL, "%g of the packets to none of the destinations: give a "
			       "share of the destinations above 0", conf->hot_packets);
	return 0;
}

static int init_order(struct sched *s, const struct sched_conf *conf, struct err *err)
{
	switch (s->order) {
	case SCHED_SEQUENTIAL:
	case SCHED_PERMUTE:
	case SCHED_UNIFORM:
		return 0;
	case SCHED_STRIDE:
		return init_stride(s, conf->stride, err);
	case SCHED_WINDOW:
		return init_window(s, conf, err);
	case SCHED_HOT:
		return init_hot(s, conf, err);
	case SCHED_ZIPF:
		if (!(conf->zipf_s > 0 && conf->zipf_s <= ZIPF_S_MAX))
			return err_set(err, -EINVAL, "an exponent of %g: give one above 0, at most %g",
				       conf->zipf_s, ZIPF_S_MAX);
		zipf_init(&s->zipf, s->n, conf->zipf_s);
		return 0;
	}
	return err_set(err, -EINVAL, "there is no order %d", (int)s->order);
}

static int check(const struct sched_conf *c, struct err *err)
{
	if (!c->n)
		return err_set(err, -EINVAL, "the set of destinations is empty: add some");
	if (!c->nr_shards || c->nr_shards > 255)
		return err_set(err, -EINVAL, "%" PRIu32 " shards: give 1 to 255", c->nr_shards);
	if (c->shard >= c->nr_shards)
		return err_set(err, -EINVAL,
			       "shard %" PRIu32 " of %" PRIu32
			       ": shards are numbered 0 to %" PRIu32,
			       c->shard, c->nr_shards, c->nr_shards - 1);
	if (c->order <= SCHED_WINDOW && c->shard >= c->n)
		return err_set(err, -EINVAL,
			       "shard %" PRIu32 " of %" PRIu32 " has none of the %" PRIu64
			       " destinations: use at most %" PRIu64 " shards",
			       c->shard, c->nr_shards, c->n, c->n);
	if (!c->repeat)
		return err_set(err, -EINVAL, "0 packets for each visit: give at least 1");
	if (c->repeat > 1 && !sched_is_cyclic(c->order))
		return err_set(err, -EINVAL, "%" PRIu32 " packets for each visit: only sequential, "
			       "permute and stride have visits", c->repeat);
	return 0;
}

int sched_init(struct sched *s, const struct sched_conf *conf, struct err *err)
{
	uint64_t key = conf->seed;
	int ret = check(conf, err);

	if (ret)
		return ret;
	*s = (struct sched){ .order = conf->order, .n = conf->n, .shard = conf->shard,
			     .nr_shards = conf->nr_shards, .repeat = conf->repeat,
			     .rate = conf->rate, .total = conf->total };
	if (s->order <= SCHED_WINDOW)
		s->n_shard = (s->n - s->shard - 1) / s->nr_shards + 1;
	perm_init(&s->perm, s->n, conf->seed);
	key = rng_splitmix64(&key) + conf->shard;
	for (unsigned int i = 0; i < 2; i++)
		s->key[i] = rng_splitmix64(&key);
	return init_order(s, conf, err);
}

/* --- one packet ------------------------------------------------------------------------------- */

uint64_t sched_zipf_again(const struct zipf *z, uint64_t h)
{
	uint64_t rank;

	while (!zipf_try(z, rng_splitmix64(&h), &rank))
		;
	return rank;
}

static uint64_t zipf_place(const struct sched *s, uint64_t h)
{
	uint64_t rank;

	return (zipf_try(&s->zipf, h, &rank) ? rank : sched_zipf_again(&s->zipf, h)) - 1;
}

/* Position in the endless row, of packet @seq. */
static u128 window_position(const struct sched *s, uint64_t seq)
{
	uint64_t k = (uint64_t)((u128)seq * s->slide / s->per);

	return (u128)k + (seq - k) % s->window;
}

static uint64_t visit_position(const struct sched *s, uint64_t visit)
{
	return s->shard + s->nr_shards * visit;
}

/* Index before the permutation. */
static uint64_t place(const struct sched *s, uint64_t seq)
{
	switch (s->order) {
	case SCHED_SEQUENTIAL:
	case SCHED_PERMUTE:
		break;
	case SCHED_STRIDE:
		return sched_stride_at(s, visit_position(s, seq / s->repeat % s->n_shard));
	case SCHED_WINDOW:
		return visit_position(s, (uint64_t)(window_position(s, seq) % s->n_shard));
	case SCHED_UNIFORM:
		return sched_scale(sched_hash(s, seq), s->n);
	case SCHED_ZIPF:
		return zipf_place(s, sched_hash(s, seq));
	case SCHED_HOT:
		return sched_hot_place(s, sched_hash(s, seq));
	}
	return visit_position(s, seq / s->repeat % s->n_shard);
}

uint64_t sched_index(const struct sched *s, uint64_t seq)
{
	uint64_t at = place(s, seq);

	return sched_permutes(s) ? perm_at(&s->perm, at) : at;
}

/* --- cyclic orders ---------------------------------------------------------------------------- */

uint64_t sched_index_at(const struct sched *s, uint64_t position)
{
	if (s->order == SCHED_STRIDE)
		return sched_stride_at(s, position);
	return s->order == SCHED_PERMUTE ? perm_at(&s->perm, position) : position;
}

/* The index modulo the gcd tells how often the steps came back, the rest how many were made. */
static uint64_t stride_inverse(const struct sched *s, uint64_t index)
{
	uint64_t turn = index % s->gcd;

	return turn * s->cycle + (uint64_t)((u128)(index / s->gcd) * s->unstride % s->cycle);
}

uint64_t sched_position_of(const struct sched *s, uint64_t index)
{
	if (s->order == SCHED_STRIDE)
		return stride_inverse(s, index);
	return s->order == SCHED_PERMUTE ? perm_inverse(&s->perm, index) : index;
}

void sched_slot(const struct sched *s, uint64_t seq, struct sched_slot *slot)
{
	uint64_t visit = seq, nth = 0, pass = 0;

	/* Receivers ask for every packet: spare them the divisions of the common cases. */
	if (s->repeat != 1) {
		visit = seq / s->repeat;
		nth = seq % s->repeat;
	}
	if (visit >= s->n_shard) {
		pass = visit / s->n_shard;
		visit %= s->n_shard;
	}
	slot->index = sched_index_at(s, visit_position(s, visit));
	slot->occurrence = pass * s->repeat + nth;
	slot->first_seq = visit * s->repeat;
}

uint64_t sched_occurrences_in(const struct sched *s, uint64_t total, uint64_t first_seq)
{
	u128 pass = (u128)s->n_shard * s->repeat;
	uint64_t whole = (uint64_t)(total / pass) * s->repeat;
	uint64_t rest = (uint64_t)(total % pass);

	if (rest <= first_seq)
		return whole;
	rest -= first_seq;
	return whole + (rest < s->repeat ? rest : s->repeat);
}

uint64_t sched_occurrences(const struct sched *s, uint64_t first_seq)
{
	return sched_occurrences_in(s, s->total, first_seq);
}

uint64_t sched_revisit_ns(const struct sched *s)
{
	uint64_t rate = s->rate.pps;
	u128 seconds, rest, packets = (u128)s->n_shard * s->repeat;

	if (!rate)
		return 0;
	seconds = packets / rate;
	rest = packets % rate;
	if (seconds > UINT64_MAX / NS_PER_S - 1)
		return UINT64_MAX;
	return (uint64_t)(seconds * NS_PER_S + rest * NS_PER_S / rate);
}

/* --- distinct destinations -------------------------------------------------------------------- */

/*
 * Whether the position, 0 <= @p < n_shard, has had a packet before packet @total. It enters with
 * packet ceil((p - window + 1) * per / slide), and its turn is the first packet from there on that is
 * congruent to it.
 */
static bool window_reached(const struct sched *s, uint64_t p, uint64_t total)
{
	u128 entry, turn;

	if (p < s->window)
		return p < total;
	if (!s->slide)
		return false;
	entry = ((u128)(p - s->window + 1) * s->per + s->slide - 1) / s->slide;
	turn = entry <= p ? p - (p - (uint64_t)entry) / s->window * (u128)s->window :
			    p + (entry - p + s->window - 1) / s->window * s->window;
	return turn < total;
}

/* First turns come in the order of the positions, so halving finds how many have come. */
static uint64_t window_distinct(const struct sched *s)
{
	uint64_t from = 0, to = s->n_shard;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (window_reached(s, middle, s->total))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint64_t sched_distinct(const struct sched *s)
{
	uint64_t visits = s->total / s->repeat + !!(s->total % s->repeat);

	if (s->order == SCHED_WINDOW)
		return window_distinct(s);
	if (!sched_is_cyclic(s->order))
		return 0;
	return visits < s->n_shard ? visits : s->n_shard;
}
