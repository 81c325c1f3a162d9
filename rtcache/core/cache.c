// SPDX-License-Identifier: GPL-2.0-or-later
/* A cache's life, limits and counters. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

enum { CACHE_BUCKETS_MAX = 1 << 24 };

const char *const rtcache_stat_names[RTCACHE_NR_STATS] = {
	[RTCACHE_INSERTED] = "inserted",
	[RTCACHE_REPLACED] = "replaced",
	[RTCACHE_RACED] = "raced",
	[RTCACHE_EVICTED_SET] = "evicted_set",
	[RTCACHE_EVICTED_FULL] = "evicted_full",
	[RTCACHE_EXPIRED] = "expired",
	[RTCACHE_FLUSHED] = "flushed",
	[RTCACHE_NO_ROOM] = "no_room",
	[RTCACHE_NO_MEMORY] = "no_memory",
	[RTCACHE_REARMED] = "rearmed",
	[RTCACHE_REHOMED] = "rehomed",
	[RTCACHE_BATCHES] = "batches",
};

const char *rtcache_limits_check(const struct rtcache_limits *l)
{
	if (!l->buckets || l->buckets > CACHE_BUCKETS_MAX || l->buckets & (l->buckets - 1))
		return "buckets must be a power of two, up to 16777216";
	if (!l->max_size || l->max_size > (u32)CACHE_BUCKETS_MAX * RTCACHE_WAYS)
		return "max_size must be 1 to 117440512";
	if (l->gc_thresh > l->max_size)
		return "gc_thresh must not be above max_size";
	if (!l->gc_elasticity || l->gc_elasticity > RTCACHE_WAYS)
		return "gc_elasticity must be 1 to 7: a set has that many ways";
	if (!l->gc_timeout || l->gc_timeout > S32_MAX || l->gc_min_interval > S32_MAX)
		return "gc_timeout must be at least one tick of the clock, and neither time above 2^31";
	return NULL;
}

static void cache_cpu_init(struct rtcache_cpu *cpu)
{
	rtcache_list_init(&cpu->timers);
	spin_lock_init(&cpu->batch.lock);
}

/* What rtcache_create() has made of @c so far. */
static void cache_free(struct rtcache *c)
{
	struct rtcache_table *t = rcu_dereference_protected(c->table, true);

	if (t)
		rtcache_table_free(t);
	free_percpu(c->cpu);
	kmem_cache_destroy(c->entries);
	kmem_cache_destroy(c->links);
	kmem_cache_destroy(c->chained);
	kvfree(c);
}

/* Names have to be different, and there may be several caches. */
static struct kmem_cache *make_slab(const char *what, size_t size, size_t align)
{
	static atomic_t nr;
	char name[32];

	scnprintf(name, sizeof(name), "rtcache_%s_%d", what, atomic_inc_return(&nr));
	return kmem_cache_create(name, size, align, 0, NULL);
}

struct rtcache *rtcache_create(const struct rtcache_limits *limits, u64 seed,
			       const struct rtcache_ops *ops)
{
	struct rtcache *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	struct rtcache_table *t;
	int cpu;

	if (!c)
		return NULL;
	c->seed = seed;
	c->limits = *limits;
	c->ops = ops;
	rtcache_list_init(&c->timers);
	c->entries = make_slab("entry", sizeof(struct rtcache_entry), __alignof__(struct rtcache_entry));
	c->links = make_slab("links", offsetof(struct rtcache_links, chain), 0);
	c->chained = make_slab("chained", sizeof(struct rtcache_links), 0);
	c->cpu = alloc_percpu(struct rtcache_cpu);
	t = rtcache_table_new(limits->buckets);
	RCU_INIT_POINTER(c->table, t);
	if (!c->entries || !c->links || !c->chained || !c->cpu || !t) {
		cache_free(c);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		cache_cpu_init(per_cpu_ptr(c->cpu, cpu));
	return c;
}

void rtcache_destroy(struct rtcache *c)
{
	rtcache_flush(c);
	rtcache_drain(c, 0);
	rcu_barrier();
	cache_free(c);
}

void rtcache_flush(struct rtcache *c)
{
	rcu_read_lock();
	rtcache_table_flush(c, rcu_dereference(c->table), NULL, NULL);
	rcu_read_unlock();
}

/* Nobody inserts into the old table once a grace period has passed. */
static int change_table(struct rtcache *c, u32 buckets)
{
	struct rtcache_table *old = rcu_dereference_protected(c->table, true);
	struct rtcache_table *t = rtcache_table_new(buckets);

	if (!t)
		return -ENOMEM;
	rcu_assign_pointer(c->table, t);
	synchronize_rcu();
	rtcache_table_flush(c, old, NULL, NULL);
	synchronize_rcu(); /* an entry that was found may still be about to be removed */
	rtcache_table_free(old);
	return 0;
}

int rtcache_set_limits(struct rtcache *c, const struct rtcache_limits *limits)
{
	int ret = 0;

	if (rtcache_limits_check(limits))
		return -EINVAL;
	if (limits->buckets != c->limits.buckets)
		ret = change_table(c, limits->buckets);
	if (ret)
		return ret;
	c->limits = *limits;
	rcu_read_lock();
	while ((u32)atomic_read(&c->count) > limits->max_size &&
	       rtcache_table_evict(c))
		;
	rcu_read_unlock();
	return 0;
}

u64 rtcache_stat_sum(const struct rtcache *c, enum rtcache_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(c->cpu, cpu)->stat[stat]);
	return sum;
}
