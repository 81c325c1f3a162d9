// SPDX-License-Identifier: GPL-2.0-or-later
/* Address sets of IPv6, and sets from files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/addrset.h"
#include "lib/err.h"
#include "lib/rng.h"

#define MODEL_SIZE 1024u

typedef unsigned __int128 u128;

static struct addr addr(u128 n)
{
	return (struct addr){ .hi = (uint64_t)(n >> 64), .lo = (uint64_t)n };
}

static u128 num(struct addr a)
{
	return (u128)a.hi << 64 | a.lo;
}

#define LAB ((u128)UINT64_C(0x2001000200000000) << 64)

static void make(struct addrset *set, const char *add, const char *exclude)
{
	addrset_init(set);
	if (exclude)
		assert_int_equal(addrset_exclude(set, exclude, NULL), 0);
	assert_int_equal(addrset_add(set, add, NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void a_whole_64_but_one(void **state)
{
	struct err err = { "" };
	struct addrset set;
	uint64_t i;

	(void)state;
	make(&set, "2001:2::/64", "2001:2::");
	assert_int_equal(set.family, AF_INET6);
	assert_int_equal(addrset_count(&set), UINT64_MAX);
	assert_true(num(addrset_at(&set, 0)) == LAB + 1);
	assert_true(num(addrset_at(&set, UINT64_MAX - 1)) == LAB + UINT64_MAX);
	assert_true(addrset_find(&set, addr(LAB + UINT64_MAX), &i) && i == UINT64_MAX - 1);
	assert_false(addrset_has(&set, addr(LAB)));
	assert_false(addrset_has(&set, addr(LAB + UINT64_MAX + 1)));
	addrset_free(&set);

	assert_int_equal(addrset_add(&set, "2001:2::/64", &err), 0);
	assert_int_equal(addrset_seal(&set, &err), -E2BIG);
	assert_non_null(strstr(err.text, "exclude one"));
	for (unsigned int k = 0; k < 40; k++) /* which can still be done */
		assert_int_equal(addrset_exclude(&set, "2001:2::7", NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	assert_int_equal(addrset_count(&set), UINT64_MAX);
	addrset_free(&set);
	assert_int_equal(addrset_add(&set, "::/0", NULL), 0);
	assert_int_equal(addrset_seal(&set, &err), -E2BIG);
	addrset_free(&set);
}

/* A filter may be of any size; nobody counts it. */
static void filters_have_any_size(void **state)
{
	struct addrset all, lab, part;

	(void)state;
	addrset_init(&all);
	addrset_init(&lab);
	assert_int_equal(addrset_add(&all, "::/0", NULL), 0);
	assert_int_equal(addrset_seal_filter(&all, NULL), 0);
	assert_int_equal(addrset_add(&lab, "2001:2::/48", NULL), 0);
	assert_int_equal(addrset_exclude(&lab, "2001:2:0:7::/64", NULL), 0);
	assert_int_equal(addrset_seal_filter(&lab, NULL), 0);
	assert_true(addrset_has(&all, addr(0)) && addrset_has(&all, addr(~(u128)0)));
	assert_true(addrset_has(&lab, addr(LAB + ((u128)6 << 64))));
	assert_false(addrset_has(&lab, addr(LAB + ((u128)7 << 64))));
	make(&part, "2001:2:0:6::5-2001:2:0:6::9", NULL);
	assert_true(addrset_within(&part, &lab) && addrset_within(&part, &all));
	addrset_free(&part);
	make(&part, "2001:2:0:6:ffff:ffff:ffff:ffff-2001:2:0:7::", NULL);
	assert_false(addrset_within(&part, &lab));
	addrset_free(&part);
	addrset_free(&lab);
	assert_int_equal(addrset_exclude(&lab, "2001:2::/48", NULL), 0);
	assert_int_equal(addrset_seal_filter(&lab, NULL), -EINVAL);
	addrset_free(&lab);
	addrset_free(&all);
}

/* --- against a bitmap ------------------------------------------------------------------------- */

static void random_piece(struct rng *r, u128 base, char *text, unsigned int *first,
			 unsigned int *last)
{
	char a[46], b[46];
	unsigned int length = 128 - (unsigned int)rng_below(r, 8);
	unsigned int host = (1u << (128 - length)) - 1;

	*first = (unsigned int)rng_below(r, MODEL_SIZE);
	*last = *first + (unsigned int)rng_below(r, MODEL_SIZE - *first) % 40;
	if (rng_below(r, 2)) { /* the model begins where prefixes of this length may */
		*first &= ~host;
		*last = *first | host;
		sprintf(text, "%s/%u", addr_text(AF_INET6, addr(base + *first), a), length);
	} else {
		sprintf(text, "%s-%s", addr_text(AF_INET6, addr(base + *first), a),
			addr_text(AF_INET6, addr(base + *last), b));
	}
}

static void compare_with_model(const struct addrset *set, const bool *model, u128 base)
{
	static uint64_t idx[MODEL_SIZE], hi[MODEL_SIZE], lo[MODEL_SIZE];
	unsigned int n = 0;
	uint64_t i;

	for (unsigned int k = 0; k < MODEL_SIZE; k++) {
		assert_int_equal(addrset_find(set, addr(base + k), &i), model[k]);
		if (!model[k])
			continue;
		assert_int_equal(i, n);
		assert_true(num(addrset_at(set, n)) == base + k);
		n++;
	}
	assert_int_equal(addrset_count(set), n);
	for (unsigned int k = 0; k < n; k++)
		idx[k] = k * UINT64_C(2654435761) % n;
	addrset_at6(set, idx, hi, lo, n);
	for (unsigned int k = 0; k < n; k++)
		assert_true(((u128)hi[k] << 64 | lo[k]) == num(addrset_at(set, idx[k])));
	addrset_at6(set, idx, hi, idx, n);
	assert_memory_equal(idx, lo, n * sizeof(*lo));
}

static void random_set(struct rng *r, u128 base)
{
	unsigned int pieces = 1 + (unsigned int)rng_below(r, rng_below(r, 2) ? 6 : 80), first, last;
	bool in[MODEL_SIZE] = { 0 }, cut[MODEL_SIZE] = { 0 }, any = false;
	struct addrset set;
	char text[100];

	addrset_init(&set);
	for (unsigned int k = 0; k < pieces; k++) {
		bool exclude = rng_below(r, 3) == 0;

		random_piece(r, base, text, &first, &last);
		assert_int_equal((exclude ? addrset_exclude : addrset_add)(&set, text, NULL), 0);
		for (unsigned int a = first; a <= last; a++)
			(exclude ? cut : in)[a] = true;
	}
	for (unsigned int k = 0; k < MODEL_SIZE; k++)
		any |= in[k] &= !cut[k];
	assert_int_equal(addrset_seal(&set, NULL), any ? 0 : -EINVAL);
	if (any)
		compare_with_model(&set, in, base);
	addrset_free(&set);
}

static void random_sets_equal_a_bitmap(void **state)
{
	/* Both ends, the middle, and across the halves of an address. */
	const u128 bases[] = { 0, LAB, ((u128)1 << 127) - MODEL_SIZE / 2,
			       LAB + ((u128)5 << 64) - MODEL_SIZE / 2, ~(u128)0 - MODEL_SIZE + 1 };
	struct rng r;

	(void)state;
	rng_seed(&r, 6);
	for (unsigned int k = 0; k < 800; k++)
		random_set(&r, bases[k % 5]);
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
	assert_int_equal(set.nr_ranges, 0);
	addrset_free(&set);
}

static void bad_text_is_refused(void **state)
{
	static const char *const none[] = { ":", ":::", "1::2::3", "2001:2", "2001:2::g", "::1 ",
					    "[::1]", "::1-", "::1-1.2.3.4", "::1.2.3", "12345::",
					    "2001:2::1-2001:2::2-2001:2::3", "::/-1", "::1-::2/127" };
	static const char *const length[] = { "::/", "::/129", "::/08", "::/1000", "::/x" };

	(void)state;
	for (size_t k = 0; k < sizeof(none) / sizeof(*none); k++)
		if (strcmp(none[k], "::/-1"))
			check_refused(none[k], -EINVAL, "is no address set: write");
	for (size_t k = 0; k < sizeof(length) / sizeof(*length); k++)
		check_refused(length[k], -EINVAL, "prefix length is a number from 0 to 128");
	check_refused("2001:2::1/64", -EINVAL, "write 2001:2::/64");
	check_refused("2001:2::2-2001:2::1", -EINVAL, "swap");
	check_refused("fe80::1%eth0", -EINVAL, "scope");
	check_refused("::ffff:1.2.3.4", -EINVAL, "write it as IPv4");
	check_refused("::ffff:0:0/96", -EINVAL, "write it as IPv4");
	check_refused("::5-::ffff:0:1", -EINVAL, "write it as IPv4");
}

static void families_do_not_mix(void **state)
{
	struct err err = { "" };
	struct addrset set;

	(void)state;
	addrset_init(&set);
	assert_int_equal(addrset_add_addr(&set, AF_INET6, addr(LAB), NULL), 0);
	assert_int_equal(addrset_add(&set, "1.2.3.4", &err), -EAFNOSUPPORT);
	assert_non_null(strstr(err.text, "make two sets"));
	assert_int_equal(addrset_exclude(&set, "1.2.3.0/24", &err), -EAFNOSUPPORT);
	assert_int_equal(addrset_add_addr(&set, AF_INET, addr(9), &err), -EAFNOSUPPORT);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	assert_int_equal(addrset_count(&set), 1);
	addrset_free(&set);
}

/* --- files ------------------------------------------------------------------------------------ */

static char path[] = "/tmp/test_addrset6.XXXXXX";

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void files_hold_what_people_write(void **state)
{
	static const char text[] = "# the lab\n\n198.19.0.7\r\n  198.19.0.0/30 # four\n"
				   "\t198.19.0.7\t\n198.19.0.2-198.19.0.4#no space\n#\n   \n198.19.0.9";
	struct addrset set;

	(void)state;
	write_file(text, sizeof(text) - 1);
	addrset_init(&set);
	assert_int_equal(addrset_add_file(&set, path, addrset_add, NULL), 0);
	write_file("198.19.0.1\n", 11);
	assert_int_equal(addrset_add_file(&set, path, addrset_exclude, NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	assert_int_equal(addrset_count(&set), 6); /* 0 2 3 4 7 9 */
	assert_int_equal(addrset_at(&set, 5).lo, 0xc6130009);
	addrset_free(&set);
}

static void check_file(const char *text, const char *says)
{
	char want[200];
	struct err err = { "" };
	struct addrset set;

	write_file(text, strlen(text));
	addrset_init(&set);
	assert_true(addrset_add_file(&set, path, addrset_add, &err) < 0);
	snprintf(want, sizeof(want), "%s:%s", path, says);
	if (strncmp(err.text, want, strlen(want)))
		fail_msg("\"%s\" does not begin with \"%s\"", err.text, want);
	addrset_free(&set);
}

static void errors_name_file_and_line(void **state)
{
	static char longest[3000];
	struct err err = { "" };
	struct addrset set;

	(void)state;
	check_file("1.2.3.4\n\n1.2.3\n", "3: '1.2.3' is no address set");
	check_file("1.2.3.4\n::1", "2: '::1' is IPv6");
	check_file("# x\n1.2.3.4 1.2.3.5\n", "2: '1.2.3.4 1.2.3.5' is no");
	memset(longest, ' ', sizeof(longest) - 1);
	memcpy(longest, "1.2.3.4\n", 8);
	check_file(longest, "2: a line of more than");
	addrset_init(&set);
	assert_int_equal(addrset_add_file(&set, "/nonexistent/x", addrset_add, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x: No such file"));
	assert_int_equal(addrset_add_file(&set, "/tmp", addrset_add, &err), -EISDIR);
	addrset_free(&set);
}

/* A million lines, each twice, in no order: well within a second of the processor's time. */
static void a_million_lines(void **state)
{
	struct addrset set;
	clock_t begun;
	FILE *f = fopen(path, "w");
	uint64_t i;

	(void)state;
	assert_non_null(f);
	for (uint32_t k = 0; k < 1000000; k++) {
		uint32_t a = k % 500000 * UINT32_C(2654435761) % (1u << 20) * 2;

		fprintf(f, "2001:2::%x:%x\n", a >> 16, a & 0xffff);
	}
	assert_int_equal(fclose(f), 0);
	begun = clock();
	addrset_init(&set);
	assert_int_equal(addrset_add_file(&set, path, addrset_add, NULL), 0);
	assert_int_equal(addrset_seal(&set, NULL), 0);
	/* About half a second; what must not come back is the square of a million. */
	assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 5);
	assert_int_equal(addrset_count(&set), 500000);
	assert_int_equal(set.nr_ranges, 500000);
	for (uint32_t k = 0; k < 500000; k += 997)
		assert_true(addrset_find(&set, addrset_at(&set, k), &i) && i == k);
	addrset_free(&set);
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_64_but_one),
		cmocka_unit_test(filters_have_any_size),
		cmocka_unit_test(random_sets_equal_a_bitmap),
		cmocka_unit_test(bad_text_is_refused),
		cmocka_unit_test(families_do_not_mix),
		cmocka_unit_test(files_hold_what_people_write),
		cmocka_unit_test(errors_name_file_and_line),
		cmocka_unit_test(a_million_lines),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
