// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of text: one that begins with '!' is excluded, any other is added. What is in the set is
 * known from the pieces, each parsed alone: the point is to check merging, subtracting, numbering.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/addrset.h"
#include "lib/err.h"

#define MAX_PIECES 64u

typedef unsigned __int128 u128;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct piece {
	bool exclude;
	u128 first, last;
};

struct model {
	struct piece piece[MAX_PIECES];
	unsigned int nr;
};

static u128 num(struct addr a)
{
	return (u128)a.hi << 64 | a.lo;
}

static struct addr addr(u128 n)
{
	return (struct addr){ .hi = (uint64_t)(n >> 64), .lo = (uint64_t)n };
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static bool model_has(const struct model *m, u128 a)
{
	bool in = false;

	for (unsigned int k = 0; k < m->nr; k++)
		if (m->piece[k].first <= a && a <= m->piece[k].last) {
			if (m->piece[k].exclude)
				return false;
			in = true;
		}
	return in;
}

/* A line that the set took has a meaning of its own; one that it refused has a sentence. */
static void add_line(struct addrset *set, struct model *m, const char *line)
{
	bool exclude = *line == '!';
	struct err err = { "" };
	struct addrset alone;
	int ret;

	line += exclude;
	ret = exclude ? addrset_exclude(set, line, &err) : addrset_add(set, line, &err);
	addrset_init(&alone);
	/* Alone it is of the right family. */
	check(addrset_add(&alone, line, NULL) == (ret == -EAFNOSUPPORT ? 0 : ret));
	check(!ret == !err.text[0] && !strchr(err.text, '\n'));
	if (!ret) {
		check(!addrset_seal_filter(&alone, NULL) && alone.nr_ranges == 1);
		check(alone.family == set->family);
		m->piece[m->nr++] = (struct piece){ exclude, num(alone.ranges[0].first),
						    num(alone.ranges[0].last) };
	}
	addrset_free(&alone);
}

static void check_member(const struct addrset *set, const struct model *m, u128 a)
{
	uint64_t i;
	bool has = addrset_find(set, addr(a), &i);

	check(has == model_has(m, a));
	if (!has)
		return;
	check(i < addrset_count(set));
	check(num(addrset_at(set, i)) == a);
}

/* Members and others change only next to the ends of pieces. */
static void check_members(const struct addrset *set, const struct model *m)
{
	for (unsigned int k = 0; k < m->nr; k++)
		for (u128 d = 0; d < 3; d++) { /* the first and the last of all wrap to each other */
			check_member(set, m, m->piece[k].first + d - 1);
			check_member(set, m, m->piece[k].last + d - 1);
		}
}

static void check_ranges(const struct addrset *set)
{
	uint64_t count = 0;

	for (size_t k = 0; k < set->nr_ranges; k++) {
		const struct addrset_range *r = &set->ranges[k];

		check(num(r->first) <= num(r->last));
		check(set->family == AF_INET6 || num(r->last) <= UINT32_MAX);
		check(!k || num(r->first) > num(set->ranges[k - 1].last) + 1);
		check(r->first_index == count);
		count += (uint64_t)(num(r->last) - num(r->first)) + 1;
	}
	check(count == addrset_count(set) && count);
	check(addrset_within(set, set));
}

static void check_burst(const struct addrset *set)
{
	uint64_t idx6[100], hi[100], lo[100], i;
	uint32_t idx[100], out[100];

	for (unsigned int k = 0; k < 100; k++) {
		idx6[k] = (k * UINT64_C(0x9e3779b97f4a7c15) >> (k & 15)) % set->count;
		idx[k] = (uint32_t)idx6[k];
	}
	addrset_at6(set, idx6, hi, lo, 100);
	for (unsigned int k = 0; k < 100; k++) {
		struct addr a = addrset_at(set, idx6[k]);

		check(hi[k] == a.hi && lo[k] == a.lo);
		check(addrset_find(set, a, &i) && i == idx6[k]);
	}
	if (set->family != AF_INET)
		return;
	addrset_at4(set, idx, out, 100);
	for (unsigned int k = 0; k < 100; k++) {
		check(out[k] == addrset_at(set, idx[k]).lo);
		check(addrset_find(set, (struct addr){ .lo = out[k] }, &i) && i == idx[k]);
	}
}

/* Nothing left: then no end of a piece is a member. */
static void check_sealed(struct addrset *set, const struct model *m)
{
	struct err err = { "" };
	int ret = addrset_seal(set, &err);

	if (ret) {
		check(err.text[0] != '\0');
		if (ret == -E2BIG)
			return;
		for (unsigned int k = 0; k < m->nr; k++)
			check(!model_has(m, m->piece[k].first) && !model_has(m, m->piece[k].last));
		return;
	}
	check_ranges(set);
	check_members(set, m);
	check_burst(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model m = { .nr = 0 };
	struct addrset set;
	char *text, *line, *rest;

	if (size > 4096)
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	addrset_init(&set);
	for (line = strtok_r(text, "\n", &rest); line && m.nr < MAX_PIECES;
	     line = strtok_r(NULL, "\n", &rest))
		add_line(&set, &m, line);
	check_sealed(&set, &m);
	addrset_free(&set);
	free(text);
	return 0;
}
