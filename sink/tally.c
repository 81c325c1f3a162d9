// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tally.h"

#include <errno.h>
#include <stdlib.h>

#define TALLY_BITS 12u /* entries to begin with: 96 KiB */

int tally_init(struct tally *t, size_t max)
{
	t->bits = TALLY_BITS;
	t->used = 0;
	t->max = max;
	t->entries = calloc((size_t)1 << t->bits, sizeof(*t->entries));
	return t->entries ? 0 : -ENOMEM;
}

void tally_free(struct tally *t)
{
	free(t->entries);
	t->entries = NULL;
}

/* The entry of @addr, or the free one where it belongs. */
static struct tally_entry *tally_find(const struct tally *t, struct addr addr)
{
	uint64_t key = addr.lo ^ addr.hi * UINT64_C(0xbf58476d1ce4e5b9);
	size_t mask = ((size_t)1 << t->bits) - 1;
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - t->bits);

	while (t->entries[i].pkts &&
	       (t->entries[i].addr.lo != addr.lo || t->entries[i].addr.hi != addr.hi))
		i = (i + 1) & mask;
	return &t->entries[i];
}

static int tally_grow(struct tally *t)
{
	struct tally bigger = {.bits = t->bits + 1, .used = t->used, .max = t->max};

	bigger.entries = calloc((size_t)1 << bigger.bits, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)1 << t->bits; i++) {
		if (t->entries[i].pkts)
			*tally_find(&bigger, t->entries[i].addr) = t->entries[i];
	}
	free(t->entries);
	*t = bigger;
	return 0;
}

uint64_t tally_add(struct tally *t, struct addr addr)
{
	struct tally_entry *e = tally_find(t, addr);

	if (e->pkts)
		return ++e->pkts;
	/* Half full is the most: probing stays short, and a free entry always ends a search. */
	if (t->used >= t->max || (t->used == (size_t)1 << (t->bits - 1) && tally_grow(t)))
		return 0;
	e = tally_find(t, addr);
	e->addr = addr;
	t->used++;
	return e->pkts = 1;
}
