// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/answers.c sink/storm.c sink/respond.c sink/tally.c
/* What waits to be sent: answers by their due time, and storms at their rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/err.h"
#include "lib/rng.h"
#include "sink/answers.h"
#include "sink/storm.h"

#define S UINT64_C(1000000000)

/* --- answers ---------------------------------------------------------------------------------- */

#define DELAYS 5u

static void push(struct answers *a, uint64_t due_ns, const uint64_t *number)
{
	struct answer *answer = answers_push(a, due_ns);

	assert_non_null(answer);
	answer->len = 8;
	memcpy(answer->frame, number, 8);
}

/* Requests in a row, each with one of a few delays: what comes out is in the order of the due
 * times, none early, and those due together in the order in which they went in. */
static void in_order(void **state)
{
	static const uint64_t delay[DELAYS] = {0, 3, 3, 500, 5000};
	uint64_t pushed = 0, popped = 0, last_due = 0, last = 0, number;
	struct answers a = {0};
	struct answer out;
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	assert_int_equal(answers_next_ns(&a), UINT64_MAX);
	assert_int_equal(answers_pop(&a, UINT64_MAX, &out), -1);
	for (uint64_t now = 0; now < 9000; now++) {
		for (uint64_t i = 0; now < 3000 && i < now % 7; i++, pushed++)
			push(&a, now + delay[rng_below(&r, DELAYS)], &pushed);
		while (!answers_pop(&a, now, &out)) {
			memcpy(&number, out.frame, 8);
			assert_true(out.due_ns <= now && out.due_ns >= last_due);
			if (out.due_ns == last_due)
				assert_true(number > last);
			last_due = out.due_ns;
			last = number;
			popped++;
		}
		assert_true(answers_next_ns(&a) > now);
	}
	assert_true(popped > 5000);
	assert_int_equal(popped, pushed);
	assert_int_equal(a.nr, 0);
	answers_free(&a);
}

/* A burst of which the port took a part: the rest is first again, in its order. */
static void put_back(void **state)
{
	struct answers a = {0};
	struct answer out[8];
	uint64_t number;

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		push(&a, 7, &i);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(answers_pop(&a, 7, &out[i]), 0);
	for (unsigned int i = 3; i < 8; i++)
		assert_int_equal(answers_put_back(&a, &out[i]), 0);
	for (uint64_t i = 3; i < 20; i++) {
		assert_int_equal(answers_pop(&a, 7, &out[0]), 0);
		memcpy(&number, out[0].frame, 8);
		assert_int_equal(number, i);
	}
	assert_int_equal(answers_pop(&a, 7, &out[0]), -1);
	answers_free(&a);
}

/* The numbers by which equals are ordered wrap; nobody notices. */
static void turns_wrap(void **state)
{
	struct answers a = {.turn = UINT32_MAX - 2};
	struct answer out;
	uint64_t number;

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		push(&a, 1, &i);
	for (uint64_t i = 0; i < 6; i++) {
		assert_int_equal(answers_pop(&a, 1, &out), 0);
		memcpy(&number, out.frame, 8);
		assert_int_equal(number, i);
	}
	answers_free(&a);
}

static void bounded(void **state)
{
	struct answers a = {0};
	struct answer out;

	(void)state;
	for (unsigned int i = 0; i < ANSWERS_MAX; i++)
		assert_non_null(answers_push(&a, i));
	assert_null(answers_push(&a, 0));
	assert_int_equal(answers_pop(&a, 0, &out), 0);
	assert_non_null(answers_push(&a, 0));
	answers_free(&a);
}

/* --- storms ----------------------------------------------------------------------------------- */

struct rig {
	struct addrset set;
	struct respond_host dut[3];
	struct storm s;
};

static void rig_init(struct rig *g, const char *text, struct storm_conf conf)
{
	memset(g, 0, sizeof(*g));
	addrset_init(&g->set);
	assert_int_equal(addrset_add(&g->set, text, NULL), 0);
	assert_int_equal(addrset_seal(&g->set, NULL), 0);
	g->dut[0] = (struct respond_host){AF_INET, {.lo = 0xc6130001}};
	g->dut[1] = (struct respond_host){AF_INET, {.lo = 0xc6130000}};
	g->dut[2] = g->dut[0];
	conf.set = &g->set;
	conf.dut = g->dut;
	conf.nr_dut = 3;
	assert_int_equal(storm_init(&g->s, &conf, NULL), 0);
}

static void rig_free(struct rig *g)
{
	storm_free(&g->s);
	addrset_free(&g->set);
}

/* 300 a second from 2 s after t0 on, for 1.5 s: number k at 2 s + k / 300, 450 in all. */
static void on_time(void **state)
{
	struct answer out;
	struct rig g;

	(void)state;
	rig_init(&g, "198.19.0.0/28",
		 (struct storm_conf){.rate_pps = 300, .start_s = 2, .duration_s = 1.5});
	assert_int_equal(storm_next_ns(&g.s), UINT64_MAX);
	assert_int_equal(storm_take(&g.s, 100 * S, &out), -1); /* not started */
	storm_start(&g.s, 10 * S);
	for (uint64_t k = 0; k < 450; k++) {
		uint64_t due_ns = 12 * S + k * S / 300;
		uint8_t host = (uint8_t)(2 + k % 14); /* .0 and .1 are the DUT's */

		assert_int_equal(storm_next_ns(&g.s), due_ns);
		assert_int_equal(storm_take(&g.s, due_ns - 1, &out), -1);
		assert_int_equal(storm_take(&g.s, due_ns, &out), 0);
		assert_int_equal(out.due_ns, due_ns);
		assert_int_equal(out.kind, ANSWER_ANNOUNCEMENT);
		assert_int_equal(out.len, 60);
		/* Gratuitous: sender and target are the address. */
		assert_memory_equal(out.frame + 28, ((uint8_t[]){198, 19, 0, host}), 4);
		assert_memory_equal(out.frame + 38, ((uint8_t[]){198, 19, 0, host}), 4);
		assert_memory_equal(out.frame + 22, ((uint8_t[]){2, 0xd5, 198, 19, 0, host}), 6);
	}
	assert_int_equal(storm_next_ns(&g.s), UINT64_MAX);
	assert_int_equal(storm_take(&g.s, UINT64_MAX, &out), -1);
	rig_free(&g);
}

/* Who is late catches up, but after the end nothing comes any more. */
static void late(void **state)
{
	struct answer out;
	struct rig g;

	(void)state;
	rig_init(&g, "198.19.0.0/24", (struct storm_conf){.rate_pps = 1000, .duration_s = 1});
	storm_start(&g.s, S);
	for (unsigned int k = 0; k < 501; k++)
		assert_int_equal(storm_take(&g.s, S + S / 2, &out), 0);
	assert_int_equal(storm_take(&g.s, S + S / 2, &out), -1);
	assert_int_equal(storm_take(&g.s, 2 * S, &out), -1);
	assert_int_equal(storm_next_ns(&g.s), UINT64_MAX);
	rig_free(&g);
}

/* Of 2^64 - 2 addresses too, each announcement of one with another MAC. */
static void both_families(void **state)
{
	uint8_t last[3][6] = {{0}};
	struct answer out;
	struct rig g;

	(void)state;
	rig_init(&g, "2001:2:0:2::1-2001:2:0:2:ffff:ffff:ffff:fffe",
		 (struct storm_conf){.rate_pps = 1000000, .duration_s = 1e-4});
	storm_start(&g.s, 0);
	for (uint8_t k = 1; k <= 100; k++) {
		assert_int_equal(storm_take(&g.s, (k - 1u) * 1000, &out), 0);
		assert_int_equal(out.len, 86);
		assert_int_equal(out.frame[54], 136);
		assert_int_equal(out.frame[77], k); /* last byte of the target */
	}
	assert_int_equal(storm_next_ns(&g.s), UINT64_MAX);
	rig_free(&g);

	rig_init(&g, "2001:2:0:2::0-2001:2:0:2::2",
		 (struct storm_conf){.rate_pps = 1000, .duration_s = 1, .mac_changes = true});
	storm_start(&g.s, 0);
	for (unsigned int k = 0; k < 999; k++) {
		assert_int_equal(storm_take(&g.s, S - 1, &out), 0);
		assert_int_equal(out.frame[77], k % 3);
		assert_memory_equal(out.frame + 6, out.frame + 80, 6);
		assert_memory_not_equal(out.frame + 6, last[k % 3], 6);
		memcpy(last[k % 3], out.frame + 6, 6);
	}
	rig_free(&g);
}

/* In no VLAN, one, and one in another: what precedes the type, and what follows it as without. */
static void in_vlans(void **state)
{
	static const uint16_t vlans[] = {100, 10};
	static const uint8_t tags[3][10] = {{0},
					    {0x81, 0, 0, 10},
					    {0x88, 0xa8, 0, 100, 0x81, 0, 0, 10}};
	static const struct {
		const char *set;
		uint8_t type[2], len;
	} family[] = {{"198.19.0.2", {8, 6}, 60}, {"2001:2:0:2::2", {0x86, 0xdd}, 86}};
	struct answer plain, out;
	struct rig g;

	(void)state;
	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int nr = 0; nr <= 2; nr++) {
			uint8_t *frame = out.frame;

			rig_init(&g, family[f].set,
				 (struct storm_conf){.rate_pps = 1, .duration_s = 1,
						     .vlans = vlans + 2 - nr, .nr_vlans = nr});
			storm_start(&g.s, 0);
			assert_int_equal(storm_take(&g.s, 0, &out), 0);
			if (!nr)
				plain = out;
			assert_int_equal(out.len, family[f].len + 4 * nr);
			assert_memory_equal(frame, plain.frame, 12);
			assert_memory_equal(frame + 12, tags[nr], 4 * nr);
			assert_memory_equal(frame + 12 + 4 * nr, family[f].type, 2);
			assert_memory_equal(frame + 14 + 4 * nr, plain.frame + 14, family[f].len - 14);
			rig_free(&g);
		}
	}
}

static void bad_storms(void **state)
{
	struct storm_conf conf = {.rate_pps = 1, .duration_s = 1};
	struct addrset set;
	struct err err;
	struct storm s;
	struct rig g;

	(void)state;
	rig_init(&g, "198.19.0.0/24", conf);
	conf.set = &g.set;
	conf.rate_pps = 0;
	assert_int_equal(storm_init(&s, &conf, &err), -EINVAL);
	conf.rate_pps = 1;
	conf.duration_s = 0;
	assert_int_equal(storm_init(&s, &conf, &err), -EINVAL);
	conf.duration_s = 1;
	conf.start_s = -1;
	assert_int_equal(storm_init(&s, &conf, &err), -EINVAL);
	conf.start_s = 0;
	conf.nr_vlans = 3;
	assert_int_equal(storm_init(&s, &conf, &err), -EINVAL);
	conf.nr_vlans = 0;
	addrset_init(&set);
	assert_int_equal(addrset_add(&set, "198.19.0.1", NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	conf.set = &set;
	conf.dut = g.dut;
	conf.nr_dut = 3;
	assert_int_equal(storm_init(&s, &conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "DUT"));
	addrset_free(&set);
	rig_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),	 cmocka_unit_test(put_back),
		cmocka_unit_test(turns_wrap),	 cmocka_unit_test(bounded),
		cmocka_unit_test(on_time),	 cmocka_unit_test(late),
		cmocka_unit_test(both_families), cmocka_unit_test(in_vlans),
		cmocka_unit_test(bad_storms),
	};

	return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
