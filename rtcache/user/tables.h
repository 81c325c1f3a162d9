/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash tables from the same keys to the same objects, with the same hash: the cache, and its peers.
 */
#ifndef RTCACHE_USER_TABLES_H
#define RTCACHE_USER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "rtcache/core/rtcache.h"

struct err;

/* What is found. */
struct table_object {
	refcount_t refs;
	uint32_t gen;
} __aligned(64);

struct table_keys {
	uint32_t nr;
	uint64_t seed; /* of the hash */
	struct table_object *objects; /* nr of them */
	const uint32_t *order; /* TABLE_ORDER numbers below nr: which are looked up */
};

enum { TABLE_ORDER = 1 << 20 };

struct table {
	const char *name;
	/* Make it, and insert all keys. Returns 0 or negative errno. */
	int (*make)(const struct table_keys *keys, struct err *err);
	/* Look up the keys order[at] to order[at + nr - 1], which is in its bounds. Returns how many were found. */
	uint32_t (*lookup)(const struct table_keys *keys, uint32_t at, uint32_t nr);
	void (*destroy)(void);
	/* Entries that are in it. */
	uint32_t (*count)(void);
};

extern const struct table table_rtcache, table_lfht, table_rte_hash;

/* The key of number @nr: one of 198.18.0.0/15 and on, from one source, by one interface. */
static inline struct rtcache_key table_key(uint32_t nr)
{
	return rtcache_key_make(__builtin_bswap32(0xc6120000u + nr), __builtin_bswap32(0xc6120002u), 1, 0, 0,
				rtcache_where(3, 0, 0));
}

#endif
