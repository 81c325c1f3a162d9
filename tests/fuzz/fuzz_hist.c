// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoded histograms. An input that begins with '=' is head and counts, which are deflated here, so
 * that the checks behind the inflater are reached; any other is the text itself. What is accepted
 * survives being encoded and decoded again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/hist.h"

#define DEEP_MAX (1u << 18) /* counts; above, the looping would be all that is measured */

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			__builtin_trap();                                                          \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_values(const struct hist *h)
{
	uint64_t total = 0, last = 0;

	for (size_t i = 0; i < h->nr_counts; i++)
		total += h->counts[i];
	CHECK(total == h->total && !h->overflows);
	for (uint32_t ppm = 0; ppm <= 1000000; ppm += 50000) {
		uint64_t v = hist_value_at(h, ppm);

		CHECK(v >= last && v <= h->max);
		last = v;
	}
	CHECK(h->total ? h->min <= h->max && last == h->max : h->min == UINT64_MAX && !h->max);
}

static void check_again(const struct hist *h)
{
	struct hist back;
	char *text = NULL;

	CHECK(!hist_encode(h, &text));
	CHECK(!hist_decode(&back, text));
	CHECK(back.nr_counts == h->nr_counts && back.total == h->total && back.min == h->min &&
	      back.max == h->max && back.lowest == h->lowest && back.highest == h->highest);
	CHECK(!memcmp(back.counts, h->counts, h->nr_counts * sizeof(*h->counts)));
	if (h->total < UINT64_MAX / 2) {
		CHECK(!hist_merge(&back, h) && back.total == 2 * h->total);
		hist_record(&back, h->highest);
		hist_record(&back, UINT64_MAX);
		CHECK(back.total == 2 * h->total + 2 && back.overflows == 1);
	}
	hist_free(&back);
	free(text);
}

/* Base64 of @data as what an encoder would have made of it. */
static char *wrap(const uint8_t *data, size_t size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uLongf len = compressBound(size);
	uint8_t *bytes = calloc(1, 8 + len + 3);
	char *text = malloc((8 + len + 3) / 3 * 4 + 5), *at = text;
	size_t all;

	CHECK(bytes && text && compress2(bytes + 8, &len, data, size, 1) == Z_OK);
	memcpy(bytes, "\x1c\x84\x93\x14", 4);
	for (unsigned int i = 0; i < 4; i++)
		bytes[4 + i] = (uint8_t)(len >> (24 - 8 * i));
	all = 8 + len;
	for (size_t i = 0; i < all; i += 3) {
		uint32_t w = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			*at++ = letters[w >> shift & 63];
	}
	*at = '\0';
	for (size_t pad = (3 - all % 3) % 3; pad; pad--)
		at[-(ptrdiff_t)pad] = '=';
	free(bytes);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool plain = size && data[0] == '=';
	char *text = plain ? wrap(data + 1, size - 1) : strndup((const char *)data, size);
	struct hist h;
	int ret;

	CHECK(text);
	ret = hist_decode(&h, text);
	free(text);
	if (ret) {
		CHECK(ret == -EINVAL && !h.counts);
		return 0;
	}
	if (h.nr_counts <= DEEP_MAX) {
		check_values(&h);
		check_again(&h);
	}
	hist_free(&h);
	return 0;
}
