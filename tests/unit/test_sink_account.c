// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/account.c sink/answers.c sink/respond.c sink/tally.c
// needs: sink/track.c sink/track_loss.c sink/track_finish.c
/* From a frame to its counter, and to the answer that waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "sink/account.h"
#include "tests/unit/sched_make.h"

#define NET 0xc6130000u /* 198.19.0.0 */
#define MS  UINT64_C(1000000)

struct rig {
	struct addrset set;
	struct sched sched;
	struct account a;
};

static void rig_init(struct rig *g, double delay_ms, uint32_t answer_probe)
{
	const struct addrset *sets[] = {&g->set};
	const uint32_t dut = NET + 1;

	memset(g, 0, sizeof(*g));
	addrset_init(&g->set);
	assert_int_equal(addrset_add(&g->set, "198.19.0.0/24", NULL), 0);
	assert_int_equal(addrset_seal(&g->set, NULL), 0);
	assert_int_equal(sched_make(&g->sched, SCHED_SEQUENTIAL, 256, 1, 0, 1, 1, 1000, 1000, NULL),
			 0);
	assert_int_equal(track_init(&g->a.track, &(struct track_stream_conf){&g->set, &g->sched, 1},
				    1, 10, NULL),
			 0);
	assert_int_equal(respond_init(&g->a.respond,
				      &(struct respond_conf){.sets = sets,
							     .nr_sets = 1,
							     .dut = &dut,
							     .nr_dut = 1,
							     .answer_ratio = 1,
							     .delay_ms = delay_ms,
							     .answer_probe = answer_probe},
				      NULL),
			 0);
	g->a.answers_arp = true;
}

static void rig_free(struct rig *g)
{
	account_free(&g->a);
	addrset_free(&g->set);
}

/* "Who has 198.19.0.@target? Tell 198.19.0.@sender." */
static void ask(struct rig *g, uint8_t sender, uint8_t target, uint64_t now_ns)
{
	uint8_t f[42] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0,	9,  8, 6,
			 0,   1,   8,	0,   6,	  4,   0, 1, 2, 0, 0,	0,  0, 9,
			 198, 19,  0,	0,   0,	  0,   0, 0, 0, 0, 198, 19, 0, 0};

	f[31] = sender;
	f[41] = target;
	account_frame(&g->a, f, sizeof(f), now_ns);
}

static void answers_wait(void **state)
{
	const struct answer *answer;
	struct rig g;

	(void)state;
	rig_init(&g, 2.5, 1);
	ask(&g, 1, 7, 10 * MS);
	ask(&g, 1, 8, 11 * MS);
	assert_int_equal(answers_next_ns(&g.a.answers), 12 * MS + MS / 2);
	assert_null(answers_due(&g.a.answers, 0, 12 * MS + MS / 2 - 1));
	answer = answers_due(&g.a.answers, 0, 12 * MS + MS / 2);
	assert_non_null(answer);
	assert_null(answers_due(&g.a.answers, 1, 13 * MS));
	assert_non_null(answers_due(&g.a.answers, 1, 14 * MS));
	/* To the asker, by the one who was asked. */
	assert_memory_equal(answer->frame, "\x02\0\0\0\0\x09\x02\xd5\xc6\x13\0\x07\x08\x06", 14);
	assert_memory_equal(answer->frame + 20, "\0\2\x02\xd5\xc6\x13\0\x07\xc6\x13\0\x07", 12);
	assert_memory_equal(answer->frame + 32, "\x02\0\0\0\0\x09\xc6\x13\0\x01", 10);
	rig_free(&g);
}

static void one_counter_each(void **state)
{
	uint8_t junk[60] = {0};
	struct rig g;

	(void)state;
	rig_init(&g, 0, 2);
	ask(&g, 1, 7, 1); /* silent, then answered */
	ask(&g, 1, 7, 2);
	ask(&g, 9, 1, 3); /* the DUT's */
	ask(&g, 7, 7, 4); /* an announcement */
	account_frame(&g.a, junk, sizeof(junk), 5);
	account_frame(&g.a, junk, 0, 6);
	memcpy(junk + 12, (uint8_t[]){8, 0, 0x45}, 3);
	account_frame(&g.a, junk, sizeof(junk), 7);
	assert_int_equal(g.a.counts.frames_pkts, 7);
	assert_int_equal(g.a.counts.arp_requests, 4);
	assert_int_equal(g.a.counts.arp_silent, 1);
	assert_int_equal(g.a.counts.arp_refused, 2);
	assert_int_equal(g.a.answers.tail - g.a.answers.head, 1);
	assert_int_equal(g.a.counts.other_pkts, 2);
	assert_int_equal(g.a.counts.bad_csum_pkts, 1);
	assert_int_equal(g.a.first_ns, 1);
	assert_int_equal(g.a.last_ns, 7);
	rig_free(&g);
}

/* An unspecified sender is refused by its address, 0.0.0.0. */
static void duplicate_address_detection(void **state)
{
	uint8_t f[42] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 8, 6,
			 0,   1,   8,	0,   6,	  4,   0, 1, 2, 0, 0, 0, 0, 9};
	struct rig g;

	(void)state;
	rig_init(&g, 0, 1);
	memcpy(f + 38, "\xc6\x13\0\x07", 4);
	account_frame(&g.a, f, sizeof(f), 1);
	assert_int_equal(g.a.counts.arp_requests, 1);
	assert_int_equal(g.a.counts.arp_refused, 1);
	assert_int_equal(answers_next_ns(&g.a.answers), UINT64_MAX);
	rig_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_wait),
		cmocka_unit_test(one_counter_each),
		cmocka_unit_test(duplicate_address_detection),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
