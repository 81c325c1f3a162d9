// SPDX-License-Identifier: GPL-2.0-or-later
/* The histogram against an independent implementation's golden file and a sorted array. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "lib/hist.h"
#include "lib/rng.h"

#define GOLDEN "tests/unit/data/hist_golden.txt"

/* --- the golden file --------------------------------------------------------------------------- */

/* Inflate what @text (base64 of head and stream) holds; enough for the golden cases. */
static size_t unfold(const char *text, uint8_t *out, size_t room)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text), n = 0;
	uint8_t *bytes = malloc(len + 3);
	uLongf got = room;
	uint32_t w = 0;

	assert_non_null(bytes);
	for (size_t i = 0; i < len && text[i] != '='; i++) {
		const char *c = strchr(letters, text[i]);

		assert_non_null(c);
		w = w << 6 | (uint32_t)(c - letters);
		if (i % 4)
			bytes[n++] = (uint8_t)(w >> (6 - 2 * (i % 4)));
	}
	assert_int_equal(uncompress(out, &got, bytes + 8, n - 8), Z_OK);
	free(bytes);
	return got;
}

/* The counts that we write are byte for byte those of the other implementation. */
static void check_encoding(const struct hist *h, const char *theirs)
{
	static uint8_t a[4 << 20], b[4 << 20];
	size_t len_a = unfold(theirs, a, sizeof(a)), len_b;
	char *ours = NULL;
	struct hist back;

	assert_int_equal(hist_encode(h, &ours), 0);
	len_b = unfold(ours, b, sizeof(b));
	assert_int_equal(len_a, len_b);
	assert_memory_equal(a, b, 8);			 /* cookie, length */
	assert_memory_equal(a + 12, b + 12, 20);	 /* digits and limits */
	assert_memory_equal(b + 8, "\0\0\0\0", 4);	 /* not shifted */
	assert_memory_equal(b + 32, "\x3f\xf0\0\0\0\0\0\0", 8); /* not scaled */
	assert_memory_equal(a + 40, b + 40, len_a - 40);

	const char *const both[] = { theirs, ours };

	for (int i = 0; i < 2; i++) {
		assert_int_equal(hist_decode(&back, both[i]), 0);
		assert_int_equal(back.total, h->total);
		assert_int_equal(back.nr_counts, h->nr_counts);
		assert_int_equal(back.overflows, 0);
		assert_memory_equal(back.counts, h->counts, h->nr_counts * sizeof(*h->counts));
		if (h->total) {
			assert_int_equal(back.min, hist_least_at(h, hist_index(h, h->min)));
			assert_int_equal(back.max, hist_greatest_at(h, hist_index(h, h->max)));
		}
		hist_free(&back);
	}
	free(ours);
}

static void check_line(struct hist *h, char *line)
{
	uint64_t a, b, c;
	char encoded[65536];
	int digits;

	if (sscanf(line, "case %*s %" SCNu64 " %" SCNu64 " %d", &a, &b, &digits) == 3) {
		hist_free(h);
		assert_int_equal(hist_init(h, a, b, digits), 0);
	} else if (sscanf(line, "record %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		hist_record_n(h, a, b);
	} else if (sscanf(line, "percentile %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		assert_int_equal(hist_value_at(h, (uint32_t)a), b < h->max ? b : h->max);
	} else if (sscanf(line, "bucket %" SCNu64 " %" SCNu64 " %" SCNu64, &a, &b, &c) == 3) {
		assert_int_equal(hist_least_at(h, hist_index(h, a)), b);
		assert_int_equal(hist_greatest_at(h, hist_index(h, a)), c);
	} else if (sscanf(line, "counts %" SCNu64, &a) == 1) {
		assert_int_equal(h->nr_counts, a);
	} else if (sscanf(line, "encoded %65535s", encoded) == 1) {
		check_encoding(h, encoded);
	} else {
		assert_int_equal(line[0], '#');
	}
}

static void golden_file_agrees(void **state)
{
	static char line[65536];
	struct hist h = { 0 };
	FILE *f = fopen(GOLDEN, "re");
	int lines = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		check_line(&h, line);
		lines++;
	}
	fclose(f);
	hist_free(&h);
	assert_true(lines > 6000);
}

/* --- geometry ---------------------------------------------------------------------------------- */

static void check_geometry(const struct hist *h)
{
	uint64_t want = 0, error;

	for (size_t i = 0; i < h->nr_counts; i++) {
		uint64_t least = hist_least_at(h, i), greatest = hist_greatest_at(h, i);

		assert_int_equal(least, want); /* no hole, no overlap */
		want = greatest + 1;
		if (least > h->highest)
			continue;
		assert_int_equal(hist_index(h, least), i);
		assert_int_equal(hist_index(h, greatest), i);
		error = (greatest - least + 1) / (UINT64_C(1) << h->unit_magnitude);
		if (error > 1) /* a share of the value, at most 10^-digits */
			for (int d = 0; d < h->digits; d++)
				error *= 10;
		if (error > 1)
			assert_true(error <= least >> h->unit_magnitude);
	}
	assert_true(want > h->highest);
}

static void every_value_has_one_bucket(void **state)
{
	static const uint64_t limits[][2] = {
		{ 1, 2 }, { 1, 2047 }, { 1, 2048 }, { 1, 1000000007 }, { 1000, 60000000000 },
		{ 1023, 1 << 30 }, { 1024, 1 << 30 }, { 1, INT64_MAX }, { 1 << 20, INT64_MAX },
	};
	struct hist h;

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		for (int digits = 1; digits <= 5; digits++) {
			assert_int_equal(hist_init(&h, limits[i][0], limits[i][1], digits), 0);
			check_geometry(&h);
			hist_free(&h);
		}
	}
}

static void limits_out_of_range_are_refused(void **state)
{
	static const struct {
		uint64_t lowest, highest;
		int digits;
	} bad[] = {
		{ 0, 100, 3 }, { 1, 1, 3 }, { 51, 101, 3 }, { 1, 100, 0 }, { 1, 100, 6 }, { 1, 100, -1 },
		{ 1, (uint64_t)INT64_MAX + 1, 3 }, { UINT64_C(1) << 62, INT64_MAX, 5 },
		{ UINT64_C(1) << 46, INT64_MAX, 5 },
	};
	struct hist h;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(hist_init(&h, bad[i].lowest, bad[i].highest, bad[i].digits), -EINVAL);
		assert_null(h.counts);
		hist_free(&h);
	}
}

/* --- contents ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t random_value(struct rng *r)
{
	return rng_next(r) >> (24 + rng_below(r, 40));
}

static void percentiles_match_a_sorted_array(void **state)
{
	static uint64_t values[5000];
	struct rng r;
	struct hist h;

	(void)state;
	rng_seed(&r, 7);
	for (int round = 0; round < 20; round++) {
		size_t n = 1 + rng_below(&r, 5000);

		assert_int_equal(hist_init(&h, 1, UINT64_C(1) << 40, 1 + round % 5), 0);
		for (size_t i = 0; i < n; i++) {
			values[i] = random_value(&r);
			hist_record(&h, values[i]);
		}
		qsort(values, n, sizeof(values[0]), by_value);
		assert_int_equal(h.total, n);
		assert_int_equal(h.min, values[0]);
		assert_int_equal(h.max, values[n - 1]);
		for (uint32_t ppm = 1; ppm <= 1000000; ppm += 1 + (uint32_t)rng_below(&r, 20000)) {
			size_t rank = (n * (uint64_t)ppm + 999999) / 1000000;
			uint64_t want = hist_greatest_at(&h, hist_index(&h, values[rank - 1]));

			assert_int_equal(hist_value_at(&h, ppm), want < h.max ? want : h.max);
		}
		assert_int_equal(hist_value_at(&h, 1000000), values[n - 1]);
		hist_free(&h);
	}
}

static void merging_is_exact(void **state)
{
	struct hist all, part[3];
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	assert_int_equal(hist_init(&all, 1, 1000000, 3), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hist_init(&part[i], 1, 1000000, 3), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t v = rng_below(&r, 1100000); /* some overflow */

		hist_record(&all, v);
		hist_record(&part[rng_below(&r, 2)], v); /* the third stays empty */
	}
	assert_int_equal(hist_merge(&part[0], &part[1]), 0);
	assert_int_equal(hist_merge(&part[0], &part[2]), 0);
	assert_int_equal(hist_merge(&part[2], &part[0]), 0);
	for (int i = 0; i < 3; i += 2) {
		assert_int_equal(part[i].total, all.total);
		assert_int_equal(part[i].overflows, all.overflows);
		assert_int_equal(part[i].min, all.min);
		assert_int_equal(part[i].max, all.max);
		assert_memory_equal(part[i].counts, all.counts, all.nr_counts * sizeof(*all.counts));
	}
	assert_true(all.overflows > 0);
	for (int i = 0; i < 3; i++)
		hist_free(&part[i]);
	hist_free(&all);
}

static void other_geometries_do_not_merge(void **state)
{
	static const struct {
		uint64_t lowest, highest;
		int digits;
	} other[] = { { 1, 1000, 2 }, { 1, 1001, 3 }, { 2, 1000, 3 } };
	struct hist a, b;

	(void)state;
	assert_int_equal(hist_init(&a, 1, 1000, 3), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(hist_init(&b, other[i].lowest, other[i].highest, other[i].digits), 0);
		hist_record(&b, 5);
		assert_int_equal(hist_merge(&a, &b), -EINVAL);
		assert_int_equal(a.total, 0);
		hist_free(&b);
	}
	hist_free(&a);
}

static void the_ends_are_kept(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 1, 1000000, 3), 0);
	assert_int_equal(hist_value_at(&h, 500000), 0);
	assert_true(h.min == UINT64_MAX && h.max == 0);
	hist_record(&h, 0);
	assert_int_equal(hist_value_at(&h, 1000000), 0);
	assert_true(h.min == 0 && h.max == 0);
	hist_record(&h, 1000000);
	assert_int_equal(h.overflows, 0);
	assert_int_equal(hist_value_at(&h, 1000000), 1000000);
	hist_record_n(&h, 1000001, 3);
	hist_record(&h, UINT64_MAX);
	assert_int_equal(h.overflows, 4);
	assert_int_equal(h.total, 6);
	assert_true(h.max == UINT64_MAX);
	/* They read as highest. */
	assert_int_equal(hist_value_at(&h, 900000), hist_greatest_at(&h, hist_index(&h, 1000000)));
	hist_reset(&h);
	assert_true(!h.total && !h.overflows && h.min == UINT64_MAX && !h.max);
	assert_int_equal(hist_value_at(&h, 1000000), 0);
	hist_free(&h);
	hist_free(&h);
}

/* --- encoding ---------------------------------------------------------------------------------- */

static void random_contents_survive_encoding(void **state)
{
	struct hist h, back;
	struct rng r;
	char *text;

	(void)state;
	rng_seed(&r, 9);
	for (int round = 0; round < 20; round++) {
		assert_int_equal(hist_init(&h, 1, INT64_MAX, 1 + round % 5), 0);
		for (uint64_t i = rng_below(&r, 200); i; i--)
			hist_record_n(&h, rng_next(&r) >> (1 + rng_below(&r, 63)),
				      rng_next(&r) >> (9 + rng_below(&r, 55)));
		assert_int_equal(hist_encode(&h, &text), 0);
		assert_int_equal(hist_decode(&back, text), 0);
		assert_int_equal(back.total, h.total);
		assert_memory_equal(back.counts, h.counts, h.nr_counts * sizeof(*h.counts));
		free(text);
		hist_free(&back);
		hist_free(&h);
	}
}

/* Each count of zeros, ones and the nine-byte maximum on its own. */
static void every_width_of_count_survives(void **state)
{
	struct hist h, back;
	char *text;

	(void)state;
	for (unsigned int bit = 0; bit < 63; bit++) {
		for (int low = 0; low < 2; low++) {
			assert_int_equal(hist_init(&h, 1, 10000, 3), 0);
			hist_record_n(&h, 10 + bit * 3, (UINT64_C(1) << bit) - (low && bit));
			assert_int_equal(hist_encode(&h, &text), 0);
			assert_int_equal(hist_decode(&back, text), 0);
			assert_memory_equal(back.counts, h.counts, h.nr_counts * sizeof(*h.counts));
			free(text);
			hist_free(&back);
			hist_free(&h);
		}
	}
}

static void refused(const char *text)
{
	struct hist h;

	assert_int_equal(hist_decode(&h, text), -EINVAL);
	assert_null(h.counts);
}

static void what_is_no_encoding_is_refused(void **state)
{
	struct hist h;
	char *text;

	(void)state;
	refused("");
	refused("H");
	refused("====");
	refused("HISTFAAAABt4");
	refused("not base64!!");
	refused("HISTFAAAABt4nJNpmSzMwMDACMVMDBDACKGYX8D5ADw1Ajh\xff");
	refused("HISTFAAAABt4nJNpmSzMwMDACMVMDBDACKGYX8D5ADw1Ajg=AAAA"); /* more behind it */
	assert_int_equal(hist_init(&h, 1, 100000, 3), 0);
	for (uint64_t v = 1; v < 50000; v += 777)
		hist_record(&h, v);
	assert_int_equal(hist_encode(&h, &text), 0);
	hist_free(&h);
	for (size_t len = strlen(text); len-- > 0;) { /* every truncation */
		text[len] = '\0';
		refused(text);
	}
	free(text);
}

/* Base64 of head and deflated @plain, then decode. */
static int decode_plain(const uint8_t *plain, size_t len)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t bytes[1024] = { 0x1c, 0x84, 0x93, 0x14 };
	char text[2048], *at = text;
	uLongf z = sizeof(bytes) - 11;
	struct hist h;
	int ret;

	assert_int_equal(compress(bytes + 8, &z, plain, len), Z_OK);
	bytes[6] = (uint8_t)(z >> 8);
	bytes[7] = (uint8_t)z;
	for (size_t i = 0; i < z + 8; i += 3) {
		uint32_t w = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			*at++ = letters[w >> shift & 63];
	}
	*at = '\0';
	for (size_t pad = (3 - (z + 8) % 3) % 3; pad; pad--)
		at[-(ptrdiff_t)pad] = '=';
	ret = hist_decode(&h, text);
	hist_free(&h);
	return ret;
}

static const uint8_t good_plain[] = {
	0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, /* cookie, length, shift, digits */
	0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0xe8,	    /* 1 to 1000 */
	0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 2, 3, 4,			    /* scale; 1, two zeros, 2 */
};

static void every_field_of_the_head_is_checked(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} faults[] = {
		{ 0, 0x1d }, { 3, 0x14 }, { 7, 2 }, { 7, 4 }, { 4, 0xff }, { 11, 2 }, { 15, 0 },
		{ 15, 6 }, { 12, 1 }, { 23, 0 }, { 24, 0x80 }, { 32, 0x40 }, { 32, 0 },
		{ 42, 0x84 }, /* a number without end */
	};
	uint8_t plain[sizeof(good_plain)];

	(void)state;
	assert_int_equal(decode_plain(good_plain, sizeof(good_plain)), 0);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		memcpy(plain, good_plain, sizeof(plain));
		plain[faults[i].at] = faults[i].value;
		assert_int_equal(decode_plain(plain, sizeof(plain)), -EINVAL);
	}
	assert_int_equal(decode_plain(good_plain, 39), -EINVAL);
}

/* Sums beyond 63 bits, and a run of zeros that would wrap. */
static void counts_cannot_overflow(void **state)
{
	uint8_t plain[40 + 18];

	(void)state;
	memcpy(plain, good_plain, sizeof(good_plain));
	plain[41] = 0xfd; /* 511 zeros behind the first of 512 counts */
	plain[42] = 0x07;
	assert_int_equal(decode_plain(plain, sizeof(good_plain)), 0);
	plain[41] = 0xff; /* 512 */
	assert_int_equal(decode_plain(plain, sizeof(good_plain)), -EINVAL);
	memcpy(plain, good_plain, 40);
	plain[7] = 18;
	memset(plain + 40, 0xff, 18);
	plain[40] = plain[49] = 0xfe; /* twice INT64_MAX */
	assert_int_equal(decode_plain(plain, sizeof(plain)), -EINVAL);
	plain[7] = 9;
	assert_int_equal(decode_plain(plain, 49), 0);
	plain[40] = 0xff; /* -2^63 */
	assert_int_equal(decode_plain(plain, 49), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_file_agrees),
		cmocka_unit_test(every_value_has_one_bucket),
		cmocka_unit_test(limits_out_of_range_are_refused),
		cmocka_unit_test(percentiles_match_a_sorted_array),
		cmocka_unit_test(merging_is_exact),
		cmocka_unit_test(other_geometries_do_not_merge),
		cmocka_unit_test(the_ends_are_kept),
		cmocka_unit_test(random_contents_survive_encoding),
		cmocka_unit_test(every_width_of_count_survives),
		cmocka_unit_test(what_is_no_encoding_is_refused),
		cmocka_unit_test(every_field_of_the_head_is_checked),
		cmocka_unit_test(counts_cannot_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
