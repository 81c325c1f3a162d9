/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of route lookups, read under RCU.
 *
 * The table is set-associative. A set is one cache line: seven pointers to entries, and a word with
 * a tag, one byte of the hash, of each. A lookup compares all tags at once and then touches the
 * entry that it wants and, but once in 256, no other: two cache lines in all. A set that is full
 * gives up the entry that was used longest ago. So the number of entries is bounded by design, and
 * an insertion costs the same however many there are.
 *
 *	lookup		rtcache_find()		under rcu_read_lock()
 *	use		rtcache_touch()
 *	change		rtcache_insert(), the flushes: any context but hard interrupts
 *	time		rtcache_tick()
 *
 * An entry holds a reference to its object, which the environment gives back when told to
 * (rtcache_ops.release): at once when the entry leaves the table, while lookups that found it may
 * still go on. So an object has to stay readable for a grace period after its last reference.
 *
 * Locks, in this order: a set's, a batch's, a list's of the timers (two: the lower address first), a
 * bucket's of the reverse map. All of them are taken with bottom halves disabled.
 *
 * Time is any unsigned clock that wraps (jiffies); it is always an argument. Nothing here depends on
 * anything but its arguments: the same calls with the same seed give the same state.
 */
#ifndef RTCACHE_H
#define RTCACHE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "axes.h"
#include "key.h"

enum {
	RTCACHE_WAYS = 7,
	RTCACHE_BATCH = 15, /* marks that a CPU collects; as many as the kernel's pagevecs had */
};

/* What the cache itself counts, per CPU. */
enum rtcache_stat {
	RTCACHE_INSERTED,
	RTCACHE_REPLACED, /* a stale entry of the same key */
	RTCACHE_RACED,	  /* somebody else inserted the same meanwhile */
	RTCACHE_EVICTED_SET,
	RTCACHE_EVICTED_FULL,
	RTCACHE_EXPIRED,
	RTCACHE_FLUSHED,
	RTCACHE_NO_ROOM,
	RTCACHE_NO_MEMORY,
	RTCACHE_REARMED,
	RTCACHE_REHOMED,
	RTCACHE_BATCHES,
	RTCACHE_NR_STATS,
};

struct rtcache_list {
	spinlock_t lock;
	struct list_head entries; /* least recently used first */
};

/* What a lookup reads: one cache line, and its neighbours in memory are others' like it. */
struct rtcache_entry {
	struct rtcache_key key;
	void *obj;
	u32 gen, conf; /* when these have changed, the result may have, too */
	u32 flags;     /* the environment's */
	u32 used;      /* time of the last use that was marked */
	refcount_t refs; /* one is the table's */
	u32 dev;
	struct rtcache_links *links;
} ____cacheline_aligned;

/* The rest of it, which only changes need. With rmap=object it ends before the chain. */
struct rtcache_links {
	struct rtcache_entry *entry;
	union {
		struct list_head timer; /* under home's lock */
		struct rcu_head rcu;
	};
	struct rtcache_list *home; /* NULL: on no list. Changes under its lock, and the new one's */
	struct rtcache_nexthop *nexthop;
	struct rtcache_table *table; /* that it is, or was, in */
	struct rtcache *cache;
	u64 hash;
	bool chained;
	struct hlist_node chain; /* of nexthop, under its bucket's lock */
};

struct rtcache_set {
	u64 tags; /* byte i: of slot i, 0: empty; the last byte is 0 */
	struct rtcache_entry __rcu *slot[RTCACHE_WAYS];
} __aligned(64);

/* Readers of lookup=rwlock take it to read, every writer takes it to write. */
struct rtcache_lock {
	rwlock_t lock;
} ____cacheline_aligned;

struct rtcache_table {
	u64 mask; /* sets, a power of two, less 1 */
	u64 lock_mask;
	struct rtcache_lock *locks;
	struct rtcache_set *sets;
	struct rtcache_bucket *rmap; /* as many as sets */
};

struct rtcache_batch {
	spinlock_t lock;
	unsigned int nr;
	struct rtcache_entry *entries[RTCACHE_BATCH]; /* each with a reference */
};

struct rtcache_cpu {
	u64 stat[RTCACHE_NR_STATS];
	struct rtcache_list timers;
	struct rtcache_batch batch;
};

struct rtcache_ops {
	void (*release)(void *obj);
};

/* Times are in the unit of @now. */
struct rtcache_limits {
	u32 buckets;	/* sets: a power of two, 1 to 2^24 */
	u32 max_size;	/* entries, at least 1 */
	u32 gc_thresh;	/* above it, entries live shorter the nearer max_size comes */
	u32 gc_elasticity; /* entries in a set: 1 to RTCACHE_WAYS */
	u32 gc_timeout;	/* an entry that was not used for longer goes; at least 1 */
	u32 gc_min_interval; /* between two sweeps that insertions cause */
};

struct rtcache {
	struct rtcache_table __rcu *table;
	struct rtcache_cpu __percpu *cpu;
	u64 seed;
	struct rtcache_limits limits;
	const struct rtcache_ops *ops;

	atomic_t count ____cacheline_aligned;
	atomic_t hand; /* the set that a sweep looks at next */
	u32 swept, ticked; /* when */
	struct rtcache_list timers;
	struct kmem_cache *entries, *links, *chained; /* links without, and with a chain */
};

/* What an insertion says besides the key. */
struct rtcache_value {
	void *obj; /* the reference becomes the cache's, if the insertion succeeds */
	u32 gen, conf, flags;
	u32 dev, gateway; /* gateway, or the destination if it is on-link */
};

/*
 * Create a cache. May sleep.
 * Returns NULL for want of memory. The limits have to be valid (rtcache_limits_check()).
 */
struct rtcache *rtcache_create(const struct rtcache_limits *limits, u64 seed,
			       const struct rtcache_ops *ops);

/* Nobody looks anything up any more. May sleep; all callbacks have run when it returns. */
void rtcache_destroy(struct rtcache *c);

/* NULL, or the sentence that says what is wrong. */
const char *rtcache_limits_check(const struct rtcache_limits *limits);

/*
 * Change limits; entries are lost when the number of sets changes. May sleep; one caller at a time.
 * Returns 0, -EINVAL or -ENOMEM (nothing has changed).
 */
int rtcache_set_limits(struct rtcache *c, const struct rtcache_limits *limits);

/*
 * Insert, or replace. Under rcu_read_lock().
 * Returns 0; -EEXIST: there is a valid one already; -ENOMEM, -ENOSPC: no entry, or no room to be had.
 */
int rtcache_insert(struct rtcache *c, const struct rtcache_key *key, u64 hash,
		   const struct rtcache_value *v, u32 now);

/* Remove @e if it is still there. Under rcu_read_lock(). */
void rtcache_remove(struct rtcache *c, struct rtcache_entry *e, enum rtcache_stat why);

/* Mark a use: stamp it, and re-arm its timer. Under rcu_read_lock(). */
void rtcache_touch_slow(struct rtcache *c, struct rtcache_entry *e, u32 now);

/* Apply all marks that CPUs have collected. */
void rtcache_drain(struct rtcache *c, u32 now);

/* Let time pass: remove what was not used for too long. Not under rcu_read_lock(), which it takes. */
void rtcache_tick(struct rtcache *c, u32 now);

/* Remove everything; all entries of device @dev; those by @gateway of it. */
void rtcache_flush(struct rtcache *c);
void rtcache_flush_dev(struct rtcache *c, u32 dev);
void rtcache_flush_nexthop(struct rtcache *c, u32 dev, u32 gateway);

/* Sum over CPUs. */
u64 rtcache_stat_sum(const struct rtcache *c, enum rtcache_stat stat);
extern const char *const rtcache_stat_names[RTCACHE_NR_STATS];

/* --- lookup ----------------------------------------------------------------------------------- */

#define RTCACHE_ONES 0x0101010101010101ull
/* The top bit of each of the seven tags. */
#define RTCACHE_TOPS 0x0080808080808080ull

/* Never 0: that is an empty slot. */
static __always_inline u8 rtcache_tag(u64 hash)
{
	u8 tag = (u8)(hash >> 56);

	return tag ? tag : 1;
}

/* The top bit of each byte that may be @tag: surely of those that are, rarely of others. */
static __always_inline u64 rtcache_match(u64 tags, u8 tag)
{
	u64 other = tags ^ tag * RTCACHE_ONES;

	return (other - RTCACHE_ONES) & ~other & RTCACHE_TOPS;
}

static __always_inline struct rtcache_lock *rtcache_lock_of(const struct rtcache_table *t, u64 hash)
{
	return &t->locks[hash & t->lock_mask];
}

static __always_inline struct rtcache_entry *rtcache_set_find(const struct rtcache_set *set,
							      const struct rtcache_key *key, u64 hash)
{
	u64 found = rtcache_match(READ_ONCE(set->tags), rtcache_tag(hash));

	for (; found; found &= found - 1) {
		struct rtcache_entry *e = rcu_dereference(set->slot[__ffs(found) >> 3]);

		/* An insertion writes the pointer and then the tag, a removal the other way. */
		if (likely(e && rtcache_key_same(&e->key, key)))
			return e;
	}
	return NULL;
}

/*
 * The entry of @key, or NULL; @hash: rtcache_hash(key, c->seed). Under rcu_read_lock(), and good
 * until it ends. Whether it is still valid (gen, conf) is for the caller to see.
 */
static __always_inline struct rtcache_entry *rtcache_find(struct rtcache *c,
							  const struct rtcache_key *key, u64 hash)
{
	struct rtcache_table *t = rcu_dereference(c->table);
	struct rtcache_set *set = &t->sets[hash & t->mask];
	struct rtcache_entry *e;

	if (!static_branch_unlikely(&rtcache_axis_rwlock))
		return rtcache_set_find(set, key, hash);
	read_lock_bh(&rtcache_lock_of(t, hash)->lock);
	e = rtcache_set_find(set, key, hash);
	read_unlock_bh(&rtcache_lock_of(t, hash)->lock);
	return e;
}

/* As rtcache_touch_slow(), which it calls when there is anything to do. */
static __always_inline void rtcache_touch(struct rtcache *c, struct rtcache_entry *e, u32 now)
{
	/* A store that changes nothing would still take the line from other CPUs. */
	if (READ_ONCE(e->used) != now)
		rtcache_touch_slow(c, e, now);
}

static __always_inline void rtcache_count(struct rtcache *c, enum rtcache_stat stat)
{
	this_cpu_inc(c->cpu->stat[stat]);
}

#endif
