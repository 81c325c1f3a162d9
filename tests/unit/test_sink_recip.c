// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Division by multiplication against division.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/rng.h"
#include "sink/recip.h"

static void recip_one(uint64_t d, uint64_t n)
{
	struct recip r;

	recip_init(&r, d);
	if (recip_div(&r, n) != n / d)
		fail_msg("%llu / %llu", (unsigned long long)n, (unsigned long long)d);
}

static void reciprocals(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (uint64_t d = 1; d <= 600; d++) {
		for (uint64_t n = 0; n <= 1300; n++)
			recip_one(d, n);
	}
	for (unsigned int i = 0; i < 400000; i++) {
		uint64_t d = (rng_next(&rng) >> (2 + rng_below(&rng, 62))) | 1;
		uint64_t n = rng_next(&rng) >> (16 + rng_below(&rng, 48)), q = RECIP_MAX / d * d;

		d = rng_below(&rng, 2) || d == 1 ? d : d - 1;
		recip_one(d, n);
		recip_one(d, RECIP_MAX);
		recip_one(d, q);
		recip_one(d, q ? q - 1 : 0);
		recip_one(d, n / d * d);
		recip_one(d, n >= d ? n / d * d - 1 : 0);
	}
	for (unsigned int k = 0; k < 62; k++) {
		recip_one(UINT64_C(1) << k, RECIP_MAX);
		recip_one((UINT64_C(1) << k) + 1, RECIP_MAX);
		recip_one((UINT64_C(2) << k) - 1, RECIP_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reciprocals),
	};

	return cmocka_run_group_tests_name("recip", tests, NULL, NULL);
}
