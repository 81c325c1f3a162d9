// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of text: one that begins with '!' is excluded, any other is added. What is in the set is
 * known from the pieces, each parsed alone: the point is to check merging, subtracting, numbering.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/addrset.h"
#include "lib/err.h"

#define MAX_PIECES 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct piece {
	bool exclude;
	uint64_t first, last;
};

struct model {
	struct piece piece[MAX_PIECES];
	unsigned int nr;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static bool model_has(const struct model *m, uint64_t a)
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
	check(addrset_add(&alone, line, NULL) == ret);
	check(!ret == !err.text[0] && !strchr(err.text, '\n'));
	if (!ret) {
		check(!addrset_seal(&alone, NULL) && alone.nr_ranges == 1);
		m->piece[m->nr++] = (struct piece){ exclude, alone.ranges[0].first.lo,
						    alone.ranges[0].last.lo };
	}
	addrset_free(&alone);
}

static void check_member(const struct addrset *set, const struct model *m, uint64_t a)
{
	uint64_t i;
	bool has = addrset_find(set, (struct addr){ .lo = a }, &i);

	check(has == model_has(m, a));
	if (!has)
		return;
	check(i < addrset_count(set));
	check(addrset_at(set, i).lo == a && !addrset_at(set, i).hi);
}

/* Members and others change only next to the ends of pieces. */
static void check_members(const struct addrset *set, const struct model *m)
{
	for (unsigned int k = 0; k < m->nr; k++)
		for (uint64_t d = 0; d < 3; d++) {
			if (m->piece[k].first + d >= 1)
				check_member(set, m, m->piece[k].first + d - 1);
			if (m->piece[k].last + d >= 1)
				check_member(set, m, m->piece[k].last + d - 1);
		}
}

static void check_ranges(const struct addrset *set)
{
	uint64_t count = 0;

	for (size_t k = 0; k < set->nr_ranges; k++) {
		const struct addrset_range *r = &set->ranges[k];

		check(r->first.lo <= r->last.lo && r->last.lo <= UINT32_MAX);
		check(!k || r->first.lo > set->ranges[k - 1].last.lo + 1);
		check(r->first_index == count);
		count += r->last.lo - r->first.lo + 1;
	}
	check(count == addrset_count(set) && count && count <= UINT64_C(1) << 32);
	check(addrset_within(set, set));
}

static void check_burst(const struct addrset *set)
{
	uint32_t idx[100], out[100];
	uint64_t i;

	for (unsigned int k = 0; k < 100; k++)
		idx[k] = (uint32_t)((k * UINT64_C(0x9e3779b97f4a7c15) >> 11) % set->count);
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

	if (addrset_seal(set, &err)) {
		check(err.text[0] != '\0');
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
