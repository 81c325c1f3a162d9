// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/track.c sink/track_init.c sink/track_loss.c sink/track_draw.c sink/track_finish.c sink/tally.c
/*
 * track: known answers and edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/err.h"
#include "sink/track.h"
#include "tests/unit/sched_make.h"

#define NET_N 0xc6130000u /* 198.19.0.0 */
#define T0    UINT64_C(5000000000000)

/* --- known answers ---------------------------------------------------------------------------- */

/* Ten destinations in order, 1000 packets/s: each is visited every 10 ms. */
static void ten(struct addrset *set, struct track *t, uint64_t total, uint32_t repeat)
{
	struct sched s;

	addrset_init(set);
	assert_int_equal(addrset_add(set, "198.19.0.0-198.19.0.9", NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
	assert_int_equal(sched_make(&s, SCHED_SEQUENTIAL, 10, 1, 0, 1, repeat, 1000, total, NULL),
			 0);
	assert_int_equal(track_init(t, &(struct track_stream_conf){set, &s, 1, 0}, 1, 10, NULL), 0);
	track_start(t, T0);
}

static void arrive(struct track *t, uint64_t seq, uint32_t index, uint64_t arrival_ns)
{
	struct track_probe p = {.arrival_ns = arrival_ns,
				.dst.lo = NET_N + index,
				.probe = {.seq = seq, .due_ns = T0 + seq * 1000000}};

	track_batch(t, &p, 1);
}

static int keep(void *arg, const struct track_destination *d)
{
	((struct track_destination *)arg)[d->addr.lo - NET_N] = *d;
	return 0;
}

/* Destination 3 loses its first two packets, 4 one in the middle, 5 the last three, 6 all, 7 none.
 */
static void known_gaps(void **state)
{
	static const uint8_t lost[10] = {[3] = 0x03, [4] = 0x04, [5] = 0x38, [6] = 0x3f};
	struct track_destination d[10] = {0};
	struct addrset set;
	struct track t;

	(void)state;
	ten(&set, &t, 60, 1);
	for (uint32_t seq = 0; seq < 60; seq++) {
		if (!(lost[seq % 10] >> seq / 10 & 1))
			arrive(&t, seq, seq % 10, T0 + seq * 1000000 + 250);
	}
	track_sent_all(&t);
	track_finish(&t);
	assert_int_equal(track_each(&t, keep, d), 0);
	assert_int_equal(d[3].gap_ns, 20000000);
	assert_int_equal(d[3].first_delivery_ns,
			 20000250); /* from the due time of the lost first */
	assert_int_equal(d[4].gap_ns, 10000000);
	assert_int_equal(d[4].first_delivery_ns, 250);
	assert_int_equal(d[5].gap_ns, 30000000);
	assert_int_equal(d[6].gap_ns, 60000000);
	assert_false(d[6].seen);
	assert_int_equal(d[7].gap_ns, 0);
	assert_int_equal(d[7].received, 6);
	assert_int_equal(track_counts(&t).destinations_seen, 9);
	assert_int_equal(track_counts(&t).destinations_expected, 10);
	assert_int_equal(track_counts(&t).destinations_unseen, 1);
	assert_int_equal(track_counts(&t).lost_pkts, 2 + 1 + 3 + 6);
	assert_int_equal(track_hist(&t, TRACK_GAP)->max, 60000000);
	assert_int_equal(track_hist(&t, TRACK_GAP)->total, 10);
	assert_int_equal(track_resolution_ns(&t), 10000000);
	track_free(&t);
	addrset_free(&set);
}

/* A packet that is overtaken by the next one to the same destination is no gap. */
static void reordering_is_no_gap(void **state)
{
	struct addrset set;
	struct track t;

	(void)state;
	ten(&set, &t, 20, 1);
	for (uint32_t seq = 0; seq < 20; seq++) {
		if (seq != 4)
			arrive(&t, seq, seq % 10, T0 + seq * 1000000);
	}
	arrive(&t, 4, 4, T0 + 21000000);
	track_sent_all(&t);
	track_finish(&t);
	assert_int_equal(track_counts(&t).reordered_pkts, 1);
	assert_int_equal(track_counts(&t).lost_pkts, 0);
	assert_int_equal(track_hist(&t, TRACK_GAP)->max, 0);
	/* ... but its first delivery is what it was: the second packet came first. */
	assert_int_equal(track_hist(&t, TRACK_FIRST_DELIVERY)->max, 10000000);
	track_free(&t);
	addrset_free(&set);
}

/* Three packets a visit: a gap within a visit is short, one across visits is long. */
static void gaps_with_repeat(void **state)
{
	struct track_destination d[10] = {0};
	struct addrset set;
	struct track t;

	(void)state;
	ten(&set, &t, 90, 3);
	for (uint32_t seq = 0; seq < 90; seq++) {
		if (seq != 4 && seq != 8 && seq != 36 && seq != 37)
			arrive(&t, seq, seq / 3 % 10, T0 + seq * 1000000);
	}
	track_sent_all(&t);
	track_finish(&t);
	assert_int_equal(track_each(&t, keep, d), 0);
	assert_int_equal(d[1].gap_ns, 1000000); /* number 4, the middle one: until 5 */
	assert_int_equal(d[2].gap_ns, 30000000 - 2000000 + 2000000); /* 8, 36 and 37: until 38 */
	assert_int_equal(track_resolution_ns(&t), 30000000);
	track_free(&t);
	addrset_free(&set);
}

/* Window of 1024: numbers leave it in words of 64. */
static void window_edges(void **state)
{
	struct addrset set;
	struct track t;

	(void)state;
	ten(&set, &t, 100000, 1);
	arrive(&t, 1023, 3, T0);
	arrive(&t, 0, 0, T0); /* still inside */
	assert_int_equal(track_counts(&t).rx_pkts, 2);
	arrive(&t, 1024, 4, T0);
	arrive(&t, 63, 3, T0); /* out, with the first word */
	assert_int_equal(track_counts(&t).late_pkts, 1);
	arrive(&t, 64, 4, T0); /* the first that is in */
	arrive(&t, 64, 4, T0);
	arrive(&t, 1023, 3, T0);
	assert_int_equal(track_counts(&t).dup_pkts, 2);
	assert_int_equal(track_counts(&t).rx_pkts, 4);
	arrive(&t, 99999, 9, T0); /* far over the window: everything else is final */
	arrive(&t, 1024, 4, T0);
	assert_int_equal(track_counts(&t).late_pkts, 2);
	arrive(&t, 100000, 0, T0); /* not in the schedule */
	assert_int_equal(track_counts(&t).foreign_pkts, 1);
	track_finish(&t);
	assert_int_equal(track_counts(&t).lost_pkts, 100000 - 5);
	track_free(&t);
	addrset_free(&set);
}

/* Forty billion numbers in one jump: whole passes are judged at once, or this would never end. */
static void a_long_jump(void **state)
{
	const uint64_t total = UINT64_C(40000000000);
	struct track_destination d[10] = {0};
	struct addrset set;
	struct track t;

	(void)state;
	ten(&set, &t, total, 1);
	arrive(&t, 5, 5, T0 + 5000000);
	arrive(&t, total / 2, 0, T0 + total / 2 * 1000000);
	track_sent_all(&t);
	track_finish(&t);
	assert_int_equal(track_each(&t, keep, d), 0);
	assert_int_equal(track_counts(&t).lost_pkts, total - 2);
	assert_int_equal(d[0].received, 1);
	assert_int_equal(d[0].first_delivery_ns, total / 2 * 1000000);
	assert_int_equal(d[0].gap_ns, total / 2 * 1000000);
	assert_int_equal(d[5].received, 1);
	assert_int_equal(d[5].gap_ns, (total - 10) * 1000000);
	assert_int_equal(d[9].received, 0);
	assert_int_equal(d[9].gap_ns, total * 1000000);
	track_free(&t);
	addrset_free(&set);
}

static void refusals(void **state)
{
	struct addrset set;
	struct track t;
	struct sched s;
	struct err err;

	(void)state;
	ten(&set, &t, 100, 1);
	assert_int_equal(track_sent(&t, 0, 0, &(uint64_t){101}, 1, &err), -EINVAL);
	assert_int_equal(track_sent(&t, 0, 1, &(uint64_t){1}, 1, &err), -EINVAL);
	assert_int_equal(track_sent(&t, 1, 0, &(uint64_t){1}, 1, &err), -EINVAL);
	assert_int_equal(track_sent(&t, 0, 0, (uint64_t[]){UINT64_MAX, 2}, 2, &err), -EINVAL);
	track_free(&t);
	assert_int_equal(
		sched_make(&s, SCHED_SEQUENTIAL, 10, 1, 0, 1, 1, 1000, UINT64_C(10) << 32, NULL),
		0);
	assert_int_equal(track_init(&t, &(struct track_stream_conf){&set, &s, 1, 0}, 1, 10, &err),
			 -E2BIG);
	assert_non_null(strstr(err.text, "more destinations"));
	addrset_free(&set);
}

/* A million destinations, four passes, every seventh packet lost. */
static void a_million(void **state)
{
	const uint64_t n = 1000000, total = 4 * n;
	struct track_probe batch[TRACK_BATCH];
	struct sched_slot slot;
	struct addrset set;
	unsigned int k = 0;
	struct sched s;
	struct track t;
	uint64_t lost = 0;

	(void)state;
	addrset_init(&set);
	assert_int_equal(addrset_add(&set, "10.0.0.0-10.15.66.63", NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	assert_int_equal(addrset_count(&set), n);
	assert_int_equal(sched_make(&s, SCHED_PERMUTE, n, 7, 0, 1, 1, 1000000, total, NULL), 0);
	assert_int_equal(track_init(&t, &(struct track_stream_conf){&set, &s, 1, 0}, 1, 16, NULL), 0);
	for (uint64_t seq = 0; seq < total; seq++) {
		if (seq % 7 == 3) {
			lost++;
			continue;
		}
		sched_slot(&s, seq, &slot);
		batch[k++] = (struct track_probe){.dst = addrset_at(&set, slot.index),
						  .arrival_ns = T0 + seq * 1000 + 77,
						  .probe = {.seq = seq, .due_ns = T0 + seq * 1000}};
		if (k == TRACK_BATCH) {
			track_batch(&t, batch, k);
			k = 0;
		}
	}
	track_batch(&t, batch, k);
	track_sent_all(&t);
	track_finish(&t);
	assert_int_equal(track_counts(&t).rx_pkts, total - lost);
	assert_int_equal(track_counts(&t).lost_pkts, lost);
	assert_int_equal(track_counts(&t).destinations_seen, n);
	assert_int_equal(track_counts(&t).foreign_pkts, 0);
	/* 7 does not divide the million, so no destination loses two packets in a row. */
	assert_int_equal(track_hist(&t, TRACK_GAP)->max, 1000000000);
	assert_int_equal(track_hist(&t, TRACK_FIRST_DELIVERY)->max, 1000000077);
	track_free(&t);
	addrset_free(&set);
}

/* --- without a schedule ----------------------------------------------------------------------- */

static void unscheduled(struct track *t, uint8_t stream, uint64_t seq, uint32_t dst)
{
	struct track_probe p = {.dst.lo = dst, .probe = {.stream = stream, .seq = seq}};

	track_batch(t, &p, 1);
}

static int sum_received(void *arg, const struct track_destination *d)
{
	*(uint64_t *)arg += d->received;
	return 0;
}

static void free_account(void **state)
{
	uint64_t received = 0;
	struct track t;

	(void)state;
	assert_int_equal(track_init_free(&t, 10, NULL), 0);
	for (uint64_t seq = 5000; seq < 30000; seq++) { /* does not begin at 0, 5000 addresses */
		if (seq % 10 != 1)
			unscheduled(&t, 0, seq, NET_N + (uint32_t)(seq % 5000));
	}
	unscheduled(&t, 0, 29999, NET_N); /* duplicate */
	unscheduled(&t, 0, 29991, NET_N + 7); /* reordered */
	unscheduled(&t, 0, 5000, NET_N); /* late */
	unscheduled(&t, 9, 0, 0); /* another flow, and an address of zeros */
	unscheduled(&t, 9, 3, UINT32_MAX);
	track_finish(&t);
	assert_int_equal(track_counts(&t).rx_pkts, 22500 + 1 + 2);
	assert_int_equal(track_counts(&t).dup_pkts, 1);
	assert_int_equal(track_counts(&t).late_pkts, 1);
	assert_int_equal(track_counts(&t).reordered_pkts, 1);
	assert_int_equal(track_counts(&t).lost_pkts, 2500 - 1 + 2);
	assert_int_equal(track_counts(&t).destinations_seen, 4500 + 2);
	assert_int_equal(track_each(&t, sum_received, &received), 0);
	assert_int_equal(received, track_counts(&t).rx_pkts);
	track_free(&t);
}

/* The first to arrive was not the first sent; and more flows than there are. */
static void free_edges(void **state)
{
	struct track t;

	(void)state;
	assert_int_equal(track_init_free(&t, 10, NULL), 0);
	unscheduled(&t, 0, 1000000, NET_N);
	unscheduled(&t, 0, 999999, NET_N);
	assert_int_equal(track_counts(&t).reordered_pkts, 1);
	assert_int_equal(track_lost(&t), 0);
	for (uint32_t i = 0; i < 300; i++) {
		struct track_probe p = {
			.dst.lo = NET_N,
			.probe = {.stream = (uint8_t)(i & 15), .shard = (uint8_t)(i >> 4)}};

		track_batch(&t, &p, 1);
	}
	/* Flow (0, 0) has its window far above 0: late; 255 new flows; the rest is foreign. */
	assert_int_equal(track_counts(&t).late_pkts, 1);
	assert_int_equal(track_counts(&t).foreign_pkts, 300 - TRACK_FREE_FLOWS);
	track_free(&t);
}

/* Number @seq of a schedule without a rate, sent to where it belongs. */
static void arrive_drawn(struct track *t, uint64_t seq, uint64_t arrival_ns)
{
	uint32_t index = (uint32_t)sched_index(&t->streams->flows->sched, seq);
	struct track_probe p = {.arrival_ns = arrival_ns,
				.dst.lo = NET_N + index,
				.probe = {.seq = seq, .due_ns = arrival_ns}};

	track_batch(t, &p, 1);
}

/*
 * A random order without a rate has every number of the wire, and is walked up to the one that came.
 * One that the time since the start forbids is foreign (or else this would take days), and what comes
 * after it is accounted as before. Whoever was not told the start takes it to be a second ago.
 */
static void no_farther_than_time_allows(void **state)
{
	struct sched_conf conf = {.order = SCHED_UNIFORM, .n = 10, .seed = 1, .nr_shards = 1,
				  .repeat = 1, .total = UINT64_MAX};
	struct addrset set;
	struct sched s;
	struct track t;

	(void)state;
	addrset_init(&set);
	assert_int_equal(addrset_add(&set, "198.19.0.0-198.19.0.9", NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	assert_int_equal(sched_init(&s, &conf, NULL), 0);
	for (int told = 0; told < 2; told++) {
		uint64_t since_ns = told ? 0 : 1000000000 - 40000, last;

		assert_int_equal(track_init(&t, &(struct track_stream_conf){&set, &s, 1, 0}, 1, 10,
					    NULL), 0);
		if (told)
			track_start(&t, T0);
		arrive_drawn(&t, 0, T0); /* in the window: anything goes */
		arrive_drawn(&t, 1023, T0);
		arrive_drawn(&t, PROBE_SEQ_MAX - 1, T0 + 40000);
		assert_int_equal(track_counts(&t).foreign_pkts, 1);
		last = (since_ns + 40000) / TRACK_LEAST_NS;
		arrive_drawn(&t, last + 1, T0 + 40000);
		assert_int_equal(track_counts(&t).foreign_pkts, 2);
		assert_int_equal(track_lost(&t), 1022);
		arrive_drawn(&t, told ? last : 10000, T0 + 40000);
		arrive_drawn(&t, 10001, T0 + 40004);
		assert_int_equal(track_counts(&t).foreign_pkts, 2);
		assert_int_equal(track_counts(&t).rx_pkts, 4);
		track_finish(&t);
		assert_int_equal(track_counts(&t).lost_pkts, 10002 - 4);
		track_free(&t);
	}
	addrset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_gaps),
		cmocka_unit_test(gaps_with_repeat),
		cmocka_unit_test(reordering_is_no_gap),
		cmocka_unit_test(window_edges),
		cmocka_unit_test(a_long_jump),
		cmocka_unit_test(refusals),
		cmocka_unit_test(free_account),
		cmocka_unit_test(free_edges),
		cmocka_unit_test(a_million),
		cmocka_unit_test(no_farther_than_time_allows),
	};

	return cmocka_run_group_tests_name("track_known", tests, NULL, NULL);
}
