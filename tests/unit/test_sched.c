// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/rng.h"
#include "lib/sched.h"
#include "tests/unit/sched_make.h"

typedef unsigned __int128 u128;

/* What happened to one destination while the schedule was played packet by packet. */
struct seen {
	uint64_t first_seq, packets;
};

/* The next packet's destination, as prose says it: passes over positions, `repeat` packets each. */
struct player {
	const struct sched *s;
	uint64_t position;
	uint32_t nth;
};

static uint64_t player_next(struct player *p)
{
	const struct sched *s = p->s;
	uint64_t at = p->position;

	if (++p->nth == s->repeat) {
		p->nth = 0;
		p->position += s->nr_shards;
		if (p->position >= s->n)
			p->position = s->shard;
	}
	return s->order == SCHED_PERMUTE ? perm_at(&s->perm, at) : at;
}

/* Plays the whole schedule and holds the closed form against it. */
static void play(const struct sched *s, struct seen *seen)
{
	struct player p = { .s = s, .position = s->shard };
	struct sched_slot slot;

	for (uint64_t seq = 0; seq < s->total; seq++) {
		uint64_t index = player_next(&p);
		struct seen *d = &seen[index];

		if (!d->packets)
			d->first_seq = seq;
		sched_slot(s, seq, &slot);
		assert_int_equal(slot.index, index);
		assert_int_equal(slot.occurrence, d->packets);
		assert_int_equal(slot.first_seq, d->first_seq);
		d->packets++;
	}
}

static void check(enum sched_order order, uint64_t n, uint32_t shard, uint32_t nr_shards,
		  uint32_t repeat, uint64_t total)
{
	struct seen *seen = calloc(n, sizeof(*seen));
	uint64_t distinct = 0, packets = 0;
	struct sched s;

	assert_non_null(seen);
	assert_int_equal(sched_make(&s, order, n, n * 31 + repeat, shard, nr_shards, repeat, 1000,
				    total, NULL), 0);
	play(&s, seen);
	for (uint64_t i = 0; i < n; i++) {
		if (!seen[i].packets)
			continue;
		distinct++;
		packets += seen[i].packets;
		assert_int_equal(sched_occurrences(&s, seen[i].first_seq), seen[i].packets);
	}
	assert_int_equal(packets, total);
	assert_int_equal(sched_distinct(&s), distinct);
	if (distinct < s.n_shard) /* destinations that are never reached have no packets */
		assert_int_equal(sched_occurrences(&s, distinct * repeat), 0);
	free(seen);
}

static void closed_form_equals_a_simulation(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 7, 64, 100, 255, 1000 };
	static const uint32_t repeats[] = { 1, 2, 3, 10 };
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 4; k++)
			for (uint32_t shards = 1; shards <= 5 && shards <= sizes[i]; shards++)
				for (uint32_t shard = 0; shard < shards; shard++) {
					uint64_t pass = sizes[i] * repeats[k] / shards + 1;
					uint64_t total = rng_below(&r, 4 * pass);

					check(SCHED_SEQUENTIAL, sizes[i], shard, shards, repeats[k],
					      total);
					check(SCHED_PERMUTE, sizes[i], shard, shards, repeats[k],
					      total);
				}
}

/* Where off-by-one errors live: just at, before and after the end of a visit and of a pass. */
static void edges_of_passes(void **state)
{
	(void)state;
	for (uint32_t repeat = 1; repeat <= 4; repeat++)
		for (uint64_t pass = 0; pass <= 3; pass++)
			for (uint64_t off = 0; off <= 2 * repeat; off++) {
				uint64_t total = pass * 10 * repeat + off;

				check(SCHED_PERMUTE, 30, 2, 3, repeat, total);
				if (total >= 2 * repeat)
					check(SCHED_PERMUTE, 30, 1, 3, repeat, total - 2 * repeat);
			}
}

/* Shards are disjoint and together cover the set, each address once per pass. */
static void shards_cover_the_set(void **state)
{
	const uint64_t n = 1 << 17;
	uint8_t *seen = calloc(n, 1);
	uint64_t packets = 0;

	(void)state;
	assert_non_null(seen);
	for (uint32_t shard = 0; shard < 3; shard++) {
		struct sched_slot slot;
		struct sched s;

		sched_make(&s, SCHED_PERMUTE, n, 1, shard, 3, 1, 0, 0, NULL);
		packets += s.n_shard;
		for (uint64_t seq = 0; seq < s.n_shard; seq++) {
			sched_slot(&s, seq, &slot);
			assert_int_equal(seen[slot.index]++, 0);
		}
	}
	assert_int_equal(packets, n);
	free(seen);
}

static void check_due(uint64_t rate, uint64_t seq)
{
	struct sched s;
	u128 ns;

	sched_make(&s, SCHED_SEQUENTIAL, 10, 0, 0, 1, 1, rate, 0, NULL);
	if ((u128)seq * 1000000000 / rate > UINT64_MAX)
		return;
	ns = sched_due_ns(&s, seq);
	assert_true(ns * rate <= (u128)seq * 1000000000);
	assert_true((ns + 1) * rate > (u128)seq * 1000000000);
}

static void due_is_exact(void **state)
{
	static const uint64_t rates[] = { 1, 3, 7, 1000, 14881, 999983, 1000000, 14880952,
					  1000000000, 10000000000, 18446744073, 18446744074,
					  UINT64_C(1) << 40, UINT64_MAX };
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++) {
		check_due(rates[k], 0);
		check_due(rates[k], 1);
		check_due(rates[k], UINT64_C(1000000000000));
		check_due(rates[k], (UINT64_C(1) << 48) - 1);
		for (unsigned int i = 0; i < 5000; i++)
			check_due(rates[k], rng_next(&r) >> rng_below(&r, 64));
	}
}

static void without_rate_nothing_is_due_later(void **state)
{
	struct sched s;

	(void)state;
	sched_make(&s, SCHED_SEQUENTIAL, 10, 0, 0, 1, 1, 0, 100, NULL);
	assert_int_equal(sched_due_ns(&s, 99), 0);
	assert_int_equal(sched_revisit_ns(&s), 0);
}

static void revisit_is_one_pass(void **state)
{
	struct sched s;
	struct sched_slot a, b;

	(void)state;
	sched_make(&s, SCHED_PERMUTE, 65534, 1, 0, 1, 1, 15000, 300000, NULL);
	assert_int_equal(sched_revisit_ns(&s), UINT64_C(65534) * 1000000000 / 15000);
	sched_slot(&s, 5, &a);
	sched_slot(&s, 5 + 65534, &b);
	assert_int_equal(a.index, b.index);
	sched_make(&s, SCHED_PERMUTE, 1000, 1, 1, 3, 4, 500, 0, NULL);
	assert_int_equal(sched_revisit_ns(&s), UINT64_C(333) * 4 * 2000000);
	sched_make(&s, SCHED_PERMUTE, UINT64_MAX, 1, 0, 1, 2, 1, 0, NULL);
	assert_int_equal(sched_revisit_ns(&s), UINT64_MAX);
}

/* A pass longer than any counter: arithmetic on it must not wrap. */
static void huge_sets(void **state)
{
	struct sched_slot slot;
	struct sched s;

	(void)state;
	assert_int_equal(sched_make(&s, SCHED_PERMUTE, UINT64_MAX, 1, 0, 1, UINT32_MAX, 0,
				    UINT64_MAX, NULL), 0);
	assert_int_equal(sched_distinct(&s), (UINT64_C(1) << 32) + 1);
	assert_int_equal(sched_occurrences(&s, 0), UINT32_MAX);
	sched_slot(&s, UINT64_MAX, &slot);
	assert_int_equal(slot.index, perm_at(&s.perm, (UINT64_C(1) << 32) + 1));
	assert_int_equal(slot.occurrence, 0);
	sched_make(&s, SCHED_SEQUENTIAL, UINT64_C(1) << 32, 1, 254, 255, 1, 0, 0, NULL);
	sched_slot(&s, s.n_shard - 1, &slot);
	assert_true(slot.index < s.n && slot.index + 255 >= s.n);
}

static void check_refused(uint64_t n, uint32_t shard, uint32_t nr_shards, uint32_t repeat,
			  const char *says)
{
	struct err err = { "" };
	struct sched s;

	assert_int_equal(sched_make(&s, SCHED_SEQUENTIAL, n, 0, shard, nr_shards, repeat, 1, 1,
				    &err), -EINVAL);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void contradictions_are_refused(void **state)
{
	(void)state;
	check_refused(0, 0, 1, 1, "empty");
	check_refused(10, 0, 0, 1, "give 1 to 255");
	check_refused(1000, 0, 256, 1, "give 1 to 255");
	check_refused(10, 3, 3, 1, "numbered 0 to 2");
	check_refused(2, 2, 3, 1, "at most 2 shards");
	check_refused(10, 0, 1, 0, "at least 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_form_equals_a_simulation),
		cmocka_unit_test(edges_of_passes),
		cmocka_unit_test(shards_cover_the_set),
		cmocka_unit_test(due_is_exact),
		cmocka_unit_test(without_rate_nothing_is_due_later),
		cmocka_unit_test(revisit_is_one_pass),
		cmocka_unit_test(huge_sets),
		cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
