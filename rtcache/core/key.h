/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a lookup asks for, and its hash. */
#ifndef RTCACHE_KEY_H
#define RTCACHE_KEY_H

#include <linux/types.h>

/* All 24 bytes count: there is no padding. */
struct rtcache_key {
	union {
		struct { /* as they lie on a little-endian machine */
			__be32 daddr, saddr;
			u32 net;   /* of the namespace; no two have the same */
			u32 mark;
			u32 uid;   /* of the socket; 0 on input */
			u32 where; /* rtcache_where() */
		};
		u64 word[3];
	};
};

enum {
	RTCACHE_OUTPUT = 1,
	RTCACHE_LINK = 2, /* output with the scope of a link: no gateway may be used */
	RTCACHE_IFINDEX_BITS = 22, /* interfaces with a greater index are not cached */
};

/* @how: RTCACHE_OUTPUT and RTCACHE_LINK, or 0. @tos: what routing sees of it. */
static inline u32 rtcache_where(u32 ifindex, u8 tos, unsigned int how)
{
	return ifindex << 10 | (u32)tos << 2 | how;
}

/* Word by word: what is written in halves cannot be read in one for a while. */
static __always_inline struct rtcache_key rtcache_key_make(__be32 daddr, __be32 saddr, u32 net, u32 mark,
							   u32 uid, u32 where)
{
	return (struct rtcache_key){ .word = { (__force u32)daddr | (u64)(__force u32)saddr << 32,
					       net | (u64)mark << 32, uid | (u64)where << 32 } };
}

static __always_inline bool rtcache_key_same(const struct rtcache_key *a, const struct rtcache_key *b)
{
	return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]) | (a->word[2] ^ b->word[2]));
}

/*
 * The addresses, which a sender chooses, are multiplied by a secret: nobody can make many of them fall
 * together. The low bits choose the set, the top byte is the tag. (No product of 128 bits: kernel code
 * that has one realigns its stack.)
 */
static __always_inline u64 rtcache_hash(const struct rtcache_key *key, u64 seed)
{
	u64 hash = key->word[0] * (seed | 1);

	hash ^= hash >> 32;
	hash = (hash ^ key->word[1] ^ key->word[2] * 0xbf58476d1ce4e5b9ull) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

#endif
