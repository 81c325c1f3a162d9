/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets by address, of either family, when nobody says which addresses there are: a hash table
 * that grows to a bound. Two of its entries a counted address, at least, 24 bytes each.
 */
#ifndef SINK_TALLY_H
#define SINK_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/addrset.h"

struct tally_entry {
	struct addr addr;
	uint64_t pkts; /* 0: the entry is free */
};

struct tally {
	struct tally_entry *entries;
	unsigned int bits; /* log2 of the entries */
	size_t used; /* distinct addresses */
	size_t max;
};

/* For at most @max addresses. 0 or -ENOMEM. */
int tally_init(struct tally *t, size_t max);
void tally_free(struct tally *t);

/* Count one packet. Returns which one of its address it is, from 1 on; 0 if the address is new and
 * there is no room for it: then it is not counted. */
uint64_t tally_add(struct tally *t, struct addr addr);

#endif
