/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets by IPv4 address when no schedule says which addresses there are: a hash table that grows.
 */
#ifndef SINK_TALLY_H
#define SINK_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
	uint32_t addr;
	uint64_t pkts; /* 0: the entry is free */
};

struct tally {
	struct tally_entry *entries;
	unsigned int bits; /* log2 of the entries */
	size_t used; /* distinct addresses */
};

int tally_init(struct tally *t); /* 0 or -ENOMEM */
void tally_free(struct tally *t);

/* Count one packet. Returns 1 if the address is new, 0 if not, -ENOMEM. */
int tally_add(struct tally *t, uint32_t addr);

#endif
