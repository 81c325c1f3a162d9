// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "lib/addrset.h"
#include "lib/err.h"
#include "lib/rng.h"

static struct addr ip(uint32_t a)
{
	return (struct addr){ .lo = a };
}

/* The index, or -1. */
static int64_t index_of(const struct addrset *set, struct addr a)
{
	uint64_t i;

	return addrset_find(set, a, &i) ? (int64_t)i : -1;
}

/* A sealed set of the NULL-terminated @add without the NULL-terminated @exclude. */
static void make(struct addrset *set, const char *const *add, const char *const *exclude)
{
	addrset_init(set);
	for (; exclude && *exclude; exclude++) /* exclusions first: the order must not matter */
		assert_int_equal(addrset_exclude(set, *exclude, NULL), 0);
	for (; *add; add++)
		assert_int_equal(addrset_add(set, *add, NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void check_range(const struct addrset *set, size_t i, const char *first, const char *last)
{
	char text[46];

	assert_true(i < set->nr_ranges);
	assert_string_equal(addr_text(AF_INET, set->ranges[i].first, text), first);
	assert_string_equal(addr_text(AF_INET, set->ranges[i].last, text), last);
}

static void one_address(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("198.19.0.1"), NULL);
	assert_int_equal(set.family, AF_INET);
	assert_int_equal(addrset_count(&set), 1);
	check_range(&set, 0, "198.19.0.1", "198.19.0.1");
	assert_int_equal(addrset_at(&set, 0).lo, 0xc6130001);
	assert_int_equal(index_of(&set, ip(0xc6130001)), 0);
	assert_int_equal(index_of(&set, ip(0xc6130000)), -1);
	assert_int_equal(index_of(&set, ip(0xc6130002)), -1);
	addrset_free(&set);
	addrset_free(&set);
}

static void prefix_without_some(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("198.19.0.0/16"), LIST("198.19.0.1", "198.19.255.255"));
	assert_int_equal(addrset_count(&set), 65534);
	assert_int_equal(set.nr_ranges, 2);
	check_range(&set, 0, "198.19.0.0", "198.19.0.0");
	check_range(&set, 1, "198.19.0.2", "198.19.255.254");
	addrset_free(&set);
}

static void min_equals_max(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("0.0.0.0-0.0.0.0", "255.255.255.255-255.255.255.255", "10.0.0.1/32"), NULL);
	assert_int_equal(addrset_count(&set), 3);
	assert_int_equal(addrset_at(&set, 0).lo, 0);
	assert_int_equal(addrset_at(&set, 1).lo, 0x0a000001);
	assert_int_equal(addrset_at(&set, 2).lo, 0xffffffff);
	assert_int_equal(index_of(&set, ip(0xffffffff)), 2);
	addrset_free(&set);
}

static void check_full(const struct addrset *set)
{
	static const uint32_t idx[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	uint32_t out[6];

	assert_int_equal(addrset_count(set), UINT64_C(1) << 32);
	assert_int_equal(set->nr_ranges, 1);
	addrset_at4(set, idx, out, 6);
	assert_memory_equal(out, idx, sizeof(out));
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(addrset_at(set, idx[i]).lo, idx[i]);
		assert_int_equal(index_of(set, ip(idx[i])), idx[i]);
	}
}

static void full_range(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("0.0.0.0/0"), NULL);
	check_full(&set);
	addrset_free(&set);
	make(&set, LIST("0.0.0.0-255.255.255.255"), NULL);
	check_full(&set);
	addrset_free(&set);
	/* Overlaps are one address, not two: 2^32 is never exceeded. */
	make(&set, LIST("0.0.0.0/0", "0.0.0.0-255.255.255.255", "128.0.0.0/1", "1.2.3.4"), NULL);
	check_full(&set);
	addrset_free(&set);
	make(&set, LIST("0.0.0.0/1", "128.0.0.0/1"), NULL);
	check_full(&set);
	addrset_free(&set);
}

/* The last address has no successor: nothing may wrap to the first. */
static void ends_do_not_wrap(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("255.255.255.255", "0.0.0.0", "255.255.255.254"), NULL);
	assert_int_equal(set.nr_ranges, 2);
	check_range(&set, 0, "0.0.0.0", "0.0.0.0");
	check_range(&set, 1, "255.255.255.254", "255.255.255.255");
	addrset_free(&set);
	make(&set, LIST("0.0.0.0/0"), LIST("0.0.0.0", "255.255.255.255"));
	assert_int_equal(addrset_count(&set), (UINT64_C(1) << 32) - 2);
	check_range(&set, 0, "0.0.0.1", "255.255.255.254");
	addrset_free(&set);
	make(&set, LIST("255.0.0.0/8"), LIST("255.128.0.0-255.255.255.255"));
	check_range(&set, 0, "255.0.0.0", "255.127.255.255");
	assert_int_equal(index_of(&set, ip(0xffffffff)), -1);
	assert_int_equal(index_of(&set, ip(0)), -1);
	addrset_free(&set);
}

static void neighbours_become_one(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("10.0.1.0/24", "10.0.0.0/24", "10.0.2.5", "10.0.2.0-10.0.2.4"), NULL);
	assert_int_equal(set.nr_ranges, 1);
	check_range(&set, 0, "10.0.0.0", "10.0.2.5");
	addrset_free(&set);
	make(&set, LIST("10.0.0.0/24", "10.0.1.0/24"), LIST("10.0.0.255-10.0.1.0"));
	assert_int_equal(set.nr_ranges, 2);
	assert_int_equal(addrset_at(&set, 254).lo, 0x0a0000fe);
	assert_int_equal(addrset_at(&set, 255).lo, 0x0a000101);
	addrset_free(&set);
}

static void one_exclusion_over_many_ranges(void **state)
{
	struct addrset set;

	(void)state;
	make(&set, LIST("10.0.0.0/24", "10.0.2.0/24", "10.0.4.0/24", "10.0.6.0/24"),
	     LIST("10.0.0.128-10.0.4.127", "10.0.4.255-10.0.6.0", "1.0.0.0/8", "11.0.0.0/8"));
	assert_int_equal(set.nr_ranges, 3);
	check_range(&set, 0, "10.0.0.0", "10.0.0.127");
	check_range(&set, 1, "10.0.4.128", "10.0.4.254");
	check_range(&set, 2, "10.0.6.1", "10.0.6.255");
	addrset_free(&set);
}

static void within(void **state)
{
	struct addrset lab, in, out, holes;

	(void)state;
	make(&lab, LIST("198.18.0.0/16", "198.19.0.0/16"), NULL);
	make(&in, LIST("198.18.255.255-198.19.0.0", "198.18.0.0"), NULL);
	make(&out, LIST("198.19.255.255-198.20.0.0"), NULL);
	make(&holes, LIST("198.18.0.0/15"), LIST("198.18.7.7"));
	assert_true(addrset_within(&in, &lab));
	assert_true(addrset_within(&lab, &lab));
	assert_true(addrset_within(&holes, &lab));
	assert_false(addrset_within(&lab, &holes));
	assert_false(addrset_within(&out, &lab));
	addrset_free(&lab);
	addrset_free(&in);
	addrset_free(&out);
	addrset_free(&holes);
}

/* --- against a bitmap ------------------------------------------------------------------------- */

#define MODEL_SIZE 2048u

/* A random prefix, range or address near @base, or clipped at an end of the address space. */
static void random_piece(struct rng *r, uint32_t base, char *text, uint32_t *first, uint32_t *last)
{
	char a[46], b[46];
	unsigned int length = 32 - (unsigned int)rng_below(r, 9);
	uint32_t host = (uint32_t)(UINT64_C(0xffffffff) >> length);

	*first = base + (uint32_t)rng_below(r, MODEL_SIZE);
	*last = *first + (uint32_t)rng_below(r, base + MODEL_SIZE - 1 - *first + 1);
	if (rng_below(r, 4))
		*last = *first + (*last - *first) % 32;
	switch (rng_below(r, 3)) {
	case 0:
		*last = *first;
		sprintf(text, "%s", addr_text(AF_INET, ip(*first), a));
		break;
	case 1:
		host = length == 32 ? 0 : host;
		*first &= ~host;
		*last = *first | host;
		sprintf(text, "%s/%u", addr_text(AF_INET, ip(*first), a), length);
		break;
	default:
		sprintf(text, "%s-%s", addr_text(AF_INET, ip(*first), a),
			addr_text(AF_INET, ip(*last), b));
	}
}

/* Every reader against the bitmap. */
static void compare_with_model(const struct addrset *set, const bool *model, uint32_t base)
{
	static uint32_t idx[MODEL_SIZE], out[MODEL_SIZE];
	uint32_t n = 0;

	for (uint32_t k = 0; k < MODEL_SIZE; k++) {
		int64_t i = index_of(set, ip(base + k));

		assert_int_equal(i, model[k] ? (int64_t)n : -1);
		if (!model[k])
			continue;
		assert_int_equal(addrset_at(set, n).lo, base + k);
		assert_int_equal(addrset_at(set, n).hi, 0);
		n++;
	}
	assert_int_equal(addrset_count(set), n);
	for (uint32_t k = 0; k < n; k++)
		idx[k] = (uint32_t)(k * UINT64_C(2654435761) % n);
	addrset_at4(set, idx, out, n);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(out[k], addrset_at(set, idx[k]).lo);
	for (size_t k = 1; k < set->nr_ranges; k++)
		assert_true(set->ranges[k].first.lo > set->ranges[k - 1].last.lo + 1);
}

static void random_set(struct rng *r, uint32_t base)
{
	unsigned int pieces = 1 + (unsigned int)rng_below(r, rng_below(r, 2) ? 6 : 120);
	bool in[MODEL_SIZE] = { 0 }, cut[MODEL_SIZE] = { 0 }, any = false;
	uint32_t first, last;
	struct addrset set;
	char text[64];

	addrset_init(&set);
	for (unsigned int k = 0; k < pieces; k++) {
		bool exclude = rng_below(r, 3) == 0;

		random_piece(r, base, text, &first, &last);
		assert_int_equal(exclude ? addrset_exclude(&set, text, NULL) :
					   addrset_add(&set, text, NULL),
				 0);
		for (uint32_t a = first;; a++) {
			(exclude ? cut : in)[a - base] = true;
			if (a == last)
				break;
		}
	}
	for (uint32_t k = 0; k < MODEL_SIZE; k++)
		any |= in[k] &= !cut[k];
	assert_int_equal(addrset_seal(&set, NULL), any ? 0 : -EINVAL);
	if (any)
		compare_with_model(&set, in, base);
	addrset_free(&set);
}

static void random_sets_equal_a_bitmap(void **state)
{
	/* Both ends of the address space, and the middle, where the sign bit changes. */
	static const uint32_t bases[] = { 0, 0xc6120000, 0x7ffffc00, UINT32_MAX - MODEL_SIZE + 1 };
	struct rng r;

	(void)state;
	rng_seed(&r, 2024);
	for (unsigned int k = 0; k < 1200; k++)
		random_set(&r, bases[k % 4]);
}

/* From 1 range to many: the burst changes its method on the way, its answers never. */
static void bursts_over_any_number_of_ranges(void **state)
{
	uint32_t idx[100], out[100];
	struct addrset set;
	char text[64];
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (unsigned int ranges = 1; ranges <= 3000; ranges += ranges < 20 ? 1 : 331) {
		addrset_init(&set);
		for (unsigned int k = 0; k < ranges; k++) {
			sprintf(text, "%u.%u.%u.0/%u", 1 + k / 100, k % 100, k % 7, 25 + k % 8);
			assert_int_equal(addrset_add(&set, text, NULL), 0);
		}
		assert_int_equal(addrset_seal(&set, NULL), 0);
		assert_int_equal(set.nr_ranges, ranges);
		for (unsigned int n = 0; n < 100; n++) {
			for (unsigned int k = 0; k < 100; k++)
				idx[k] = (uint32_t)rng_below(&r, set.count);
			memset(out, 0xee, sizeof(out));
			addrset_at4(&set, idx, out, n);
			for (unsigned int k = 0; k < n; k++)
				assert_int_equal(out[k], addrset_at(&set, idx[k]).lo);
			assert_int_equal(out[n], 0xeeeeeeee);
			addrset_at4(&set, idx, idx, n);
			assert_memory_equal(idx, out, n * sizeof(*out));
		}
		addrset_free(&set);
	}
}

/* --- what is refused -------------------------------------------------------------------------- */

static void check_refused(const char *text, int code, const char *says)
{
	struct err err = { "" };
	struct addrset set;

	addrset_init(&set);
	assert_int_equal(addrset_add(&set, text, &err), code);
	if (!strstr(err.text, says))
		fail_msg("'%s': \"%s\" does not say \"%s\"", text, err.text, says);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(addrset_exclude(&set, text, NULL), code);
	assert_int_equal(set.nr_ranges + set.nr_excludes, 0);
	addrset_free(&set);
}

static void bad_text_is_refused(void **state)
{
	static const char *const none[] = {
		"", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-4", "01.2.3.4", "1.2.3.4 ",
		" 1.2.3.4", "1.2.3.4-", "-1.2.3.4", "1.2.3.4-5", "1.2.3.4-1.2.3.5-1.2.3.6",
		"1.2.3.4-1.2.3.5/32", "0x1020304", "host.example", "1.2.3.4\n", "/8", "-",
		"111111111111111111111111111111111111111111111111111111111111111111111111111",
	};
	static const char *const length[] = { "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/08",
					      "1.2.3.4/+8", "1.2.3.4/8 ", "1.2.3.4/100",
					      "1.2.3.4/255.0.0.0" };

	(void)state;
	for (size_t k = 0; k < sizeof(none) / sizeof(*none); k++)
		check_refused(none[k], -EINVAL, "is no address set: write");
	for (size_t k = 0; k < sizeof(length) / sizeof(*length); k++)
		check_refused(length[k], -EINVAL, "prefix length is a number from 0 to 32");
	check_refused("198.19.0.1/16", -EINVAL, "write 198.19.0.0/16");
	check_refused("0.0.0.1/0", -EINVAL, "write 0.0.0.0/0");
	check_refused("1.2.3.5-1.2.3.4", -EINVAL, "swap");
}

static void empty_sets_say_why(void **state)
{
	struct err err = { "" };
	struct addrset set;

	(void)state;
	addrset_init(&set);
	assert_int_equal(addrset_seal(&set, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nothing was added"));
	assert_int_equal(addrset_exclude(&set, "0.0.0.0/0", &err), 0);
	assert_int_equal(addrset_seal(&set, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nothing was added"));
	assert_int_equal(addrset_add(&set, "10.0.0.0/8", &err), 0);
	assert_int_equal(addrset_seal(&set, &err), -EINVAL);
	assert_non_null(strstr(err.text, "excluded"));
	addrset_free(&set);
}

static void sealed_sets_stay(void **state)
{
	struct err err = { "" };
	struct addrset set;

	(void)state;
	make(&set, LIST("10.0.0.0/30"), NULL);
	assert_int_equal(addrset_add(&set, "10.0.0.9", &err), -EINVAL);
	assert_int_equal(addrset_exclude(&set, "10.0.0.1", &err), -EINVAL);
	assert_int_equal(addrset_seal(&set, &err), 0);
	assert_int_equal(addrset_count(&set), 4);
	addrset_free(&set);
	assert_int_equal(addrset_add(&set, "10.0.0.9", &err), 0); /* free makes it new */
	addrset_free(&set);
}

static void text_of_addresses(void **state)
{
	char buf[46];

	(void)state;
	assert_string_equal(addr_text(AF_INET, ip(0xc6130001), buf), "198.19.0.1");
	assert_string_equal(addr_text(AF_INET, ip(0xffffffff), buf), "255.255.255.255");
	assert_string_equal(addr_text(AF_INET6, (struct addr){ 0x2001000200000000, 1 }, buf),
			    "2001:2::1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address),
		cmocka_unit_test(prefix_without_some),
		cmocka_unit_test(min_equals_max),
		cmocka_unit_test(full_range),
		cmocka_unit_test(ends_do_not_wrap),
		cmocka_unit_test(neighbours_become_one),
		cmocka_unit_test(one_exclusion_over_many_ranges),
		cmocka_unit_test(within),
		cmocka_unit_test(random_sets_equal_a_bitmap),
		cmocka_unit_test(bursts_over_any_number_of_ranges),
		cmocka_unit_test(bad_text_is_refused),
		cmocka_unit_test(empty_sets_say_why),
		cmocka_unit_test(sealed_sets_stay),
		cmocka_unit_test(text_of_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
