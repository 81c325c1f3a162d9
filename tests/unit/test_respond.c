// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/respond.c sink/answers.c
/* Each rule of the responder, and the queue of its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/err.h"
#include "sink/answers.h"
#include "sink/respond.h"

#define NET   0xc6130000u /* 198.19.0.0 */
#define DUT   (NET + 1)
#define ASKER 0xc6130001u

struct rig {
	struct addrset set[2];
	const struct addrset *sets[2];
	uint32_t dut[2];
	struct respond_conf conf;
	struct respond r;
};

/* 198.19.0.0/16, DUT addresses included, and a single far one: the DUT rule must hold by itself. */
static void rig_init(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	for (unsigned int i = 0; i < 2; i++) {
		addrset_init(&g->set[i]);
		g->sets[i] = &g->set[i];
	}
	assert_int_equal(addrset_add(&g->set[0], "198.19.0.0/16", NULL), 0);
	assert_int_equal(addrset_seal(&g->set[0], NULL), 0);
	assert_int_equal(addrset_add(&g->set[1], "198.18.255.7", NULL), 0);
	assert_int_equal(addrset_seal(&g->set[1], NULL), 0);
	g->dut[0] = DUT;
	g->dut[1] = 0xc6120001u;
	g->conf = (struct respond_conf){.sets = g->sets,
					.nr_sets = 2,
					.dut = g->dut,
					.nr_dut = 2,
					.seed = 1,
					.answer_ratio = 1,
					.answer_probe = 1};
}

static void rig_free(struct rig *g)
{
	respond_free(&g->r);
	addrset_free(&g->set[0]);
	addrset_free(&g->set[1]);
}

static void refuses(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(respond_decide(&g.r, ASKER, NET + 2), RESPOND_ANSWER);
	assert_int_equal(respond_decide(&g.r, ASKER, 0xc612ff07u), RESPOND_ANSWER);
	assert_int_equal(respond_decide(&g.r, 0, NET + 2), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, NET + 2, NET + 2), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, NET + 9, DUT), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, NET + 9, 0xc6120001u), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, ASKER, NET - 1), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, ASKER, NET + 65536), RESPOND_REFUSE);
	rig_free(&g);
}

static unsigned int answering(struct rig *g, double ratio, uint64_t seed, uint8_t *who)
{
	unsigned int n = 0;

	g->conf.answer_ratio = ratio;
	g->conf.seed = seed;
	assert_int_equal(respond_init(&g->r, &g->conf, NULL), 0);
	for (uint32_t i = 2; i < 65536; i++) {
		int yes = respond_decide(&g->r, ASKER, NET + i) == RESPOND_ANSWER;

		/* The same for ever. */
		assert_int_equal(respond_decide(&g->r, ASKER, NET + i) == RESPOND_ANSWER, yes);
		who[i] = (uint8_t)yes;
		n += (unsigned int)yes;
	}
	respond_free(&g->r);
	return n;
}

/* Six standard deviations of the binomial: fails by chance once in 10^9, and the seeds are fixed.
 */
static void ratio(void **state)
{
	static uint8_t a[65536], b[65536];
	const double n = 65534;
	struct rig g;

	(void)state;
	rig_init(&g);
	assert_int_equal(answering(&g, 0, 1, a), 0);
	assert_int_equal(answering(&g, 1, 1, a), 65534);
	for (double r = 0.01; r < 1; r += 0.07)
		assert_true(fabs(answering(&g, r, 5, a) - n * r) < 6 * sqrt(n * r * (1 - r)));
	answering(&g, 0.5, 1, a);
	answering(&g, 0.5, 1, b);
	assert_memory_equal(a, b, sizeof(a));
	answering(&g, 0.5, 2, b);
	assert_memory_not_equal(a, b, sizeof(a));
	rig_free(&g);
}

static void kth_probe(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	g.conf.answer_probe = 3;
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	for (unsigned int i = 1; i <= 70000; i++)
		assert_int_equal(respond_decide(&g.r, ASKER, NET + 5),
				 i < 3 ? RESPOND_SILENT : RESPOND_ANSWER);
	/* Others count on their own; what is refused does not count. */
	assert_int_equal(respond_decide(&g.r, ASKER, NET + 6), RESPOND_SILENT);
	assert_int_equal(respond_decide(&g.r, 0, NET + 6), RESPOND_REFUSE);
	assert_int_equal(respond_decide(&g.r, ASKER, 0xc612ff07u), RESPOND_SILENT);
	assert_int_equal(respond_decide(&g.r, ASKER, NET + 6), RESPOND_SILENT);
	assert_int_equal(respond_decide(&g.r, ASKER, NET + 6), RESPOND_ANSWER);
	assert_int_equal(respond_decide(&g.r, ASKER, 0xc612ff07u), RESPOND_SILENT);
	assert_int_equal(respond_decide(&g.r, ASKER, 0xc612ff07u), RESPOND_ANSWER);
	rig_free(&g);
}

static void bad_values(void **state)
{
	struct err err;
	struct rig g;

	(void)state;
	rig_init(&g);
	g.conf.answer_ratio = 1.01;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.conf.answer_ratio = NAN;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.conf.answer_ratio = 1;
	g.conf.delay_ms = -1;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.conf.delay_ms = 0.5;
	g.conf.answer_probe = 0;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "answer_probe"));
	g.conf.answer_probe = 1;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), 0);
	assert_int_equal(g.r.delay_ns, 500000);
	rig_free(&g);
}

/* In order, none before its time, across growth and wrap-around. */
static void queue(void **state)
{
	struct answers a = {0};
	uint64_t pushed = 0, popped = 0;
	struct answer *in;
	size_t n;

	(void)state;
	assert_int_equal(answers_next_ns(&a), UINT64_MAX);
	for (uint64_t now = 0; now < 3000; now++) {
		for (uint64_t i = 0; i < now % 7; i++) {
			in = answers_push(&a);
			assert_non_null(in);
			in->due_ns = now + 500;
			memcpy(in->frame, &pushed, sizeof(pushed));
			pushed++;
		}
		for (n = 0; answers_due(&a, n, now); n++) {
			assert_memory_equal(answers_due(&a, n, now)->frame, &popped, 8);
			assert_true(answers_due(&a, n, now)->due_ns <= now);
			popped++;
		}
		answers_pop(&a, n);
		assert_true(answers_next_ns(&a) > now);
	}
	assert_true(popped > 5000);
	assert_int_equal(a.tail - a.head, pushed - popped);
	answers_free(&a);
}

static void queue_is_bounded(void **state)
{
	struct answers a = {0};

	(void)state;
	for (unsigned int i = 0; i < ANSWERS_MAX; i++)
		assert_non_null(answers_push(&a));
	assert_null(answers_push(&a));
	answers_pop(&a, 1);
	assert_non_null(answers_push(&a));
	answers_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses),   cmocka_unit_test(ratio),
		cmocka_unit_test(kth_probe), cmocka_unit_test(bad_values),
		cmocka_unit_test(queue),     cmocka_unit_test(queue_is_bounded),
	};

	return cmocka_run_group_tests_name("respond", tests, NULL, NULL);
}
