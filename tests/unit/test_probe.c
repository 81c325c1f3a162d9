// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/probe.h"
#include "lib/rng.h"

/* The layout on the wire, byte by byte, as the header has it. */
static void known_bytes(void **state)
{
	static const uint8_t want[PROBE_LEN] = { 0xd5, 0x7a, 0x01, 0x02, 0x11, 0x22,
						 0x33, 0x44, 0x55, 0x66, 0x01, 0x23,
						 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	const struct probe p = { .stream = 1, .shard = 2, .seq = 0x112233445566,
				 .due_ns = 0x0123456789abcdef };
	uint8_t at[PROBE_LEN + 2] = { [PROBE_LEN] = 0xee, [PROBE_LEN + 1] = 0xee };

	(void)state;
	probe_encode(at, &p);
	assert_memory_equal(at, want, PROBE_LEN);
	assert_int_equal(at[PROBE_LEN], 0xee);
}

static void check_round_trip(const struct probe *p)
{
	uint8_t at[PROBE_LEN + 1];
	struct probe q = { 0 };

	probe_encode(at + 1, p); /* never aligned */
	assert_int_equal(probe_decode(at + 1, &q), 0);
	assert_int_equal(q.stream, p->stream);
	assert_int_equal(q.shard, p->shard);
	assert_int_equal(q.seq, p->seq);
	assert_int_equal(q.due_ns, p->due_ns);
}

static void what_is_written_is_read(void **state)
{
	static const uint64_t seqs[] = { 0, 1, 0xffff, 0x10000, 0xffffffff, PROBE_SEQ_MAX };
	struct probe p;
	struct rng r;

	(void)state;
	for (size_t k = 0; k < sizeof(seqs) / sizeof(*seqs); k++) {
		p = (struct probe){ .stream = 255, .shard = 254, .seq = seqs[k],
				    .due_ns = UINT64_MAX };
		check_round_trip(&p);
	}
	rng_seed(&r, 1);
	for (unsigned int k = 0; k < 10000; k++) {
		p = (struct probe){ .stream = (uint8_t)rng_next(&r), .shard = (uint8_t)rng_next(&r),
				    .seq = rng_next(&r) & PROBE_SEQ_MAX, .due_ns = rng_next(&r) };
		check_round_trip(&p);
	}
}

static void another_magic_is_no_probe(void **state)
{
	const struct probe p = { .seq = 5 };
	uint8_t at[PROBE_LEN];
	struct probe q;

	(void)state;
	for (unsigned int bit = 0; bit < 16; bit++) {
		probe_encode(at, &p);
		at[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(probe_decode(at, &q), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_bytes),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(another_magic_is_no_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
