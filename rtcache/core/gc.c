// SPDX-License-Identifier: GPL-2.0-or-later
/* How many entries there may be, and how long they live. */
#include "internal.h"

/* Sets that an insertion looks at: a bounded price for the packet that happens to pay it. */
enum { GC_INSERT_SETS = 64 };

bool rtcache_gc_admit(struct rtcache *c)
{
	return atomic_add_unless(&c->count, 1, (int)READ_ONCE(c->limits.max_size));
}

/* The longest that an entry may be unused: less and less between gc_thresh and max_size. */
static u32 idle_limit(const struct rtcache *c)
{
	u32 nr = (u32)atomic_read(&c->count), max = READ_ONCE(c->limits.max_size);
	u32 thresh = READ_ONCE(c->limits.gc_thresh), timeout = READ_ONCE(c->limits.gc_timeout);

	if (nr <= thresh)
		return timeout;
	if (nr >= max)
		return 0;
	return (u32)((u64)timeout * (max - nr) / (max - thresh));
}

void rtcache_gc_relieve(struct rtcache *c, u32 now)
{
	u32 before = READ_ONCE(c->swept);

	if ((u32)atomic_read(&c->count) <= READ_ONCE(c->limits.gc_thresh) ||
	    now - before < READ_ONCE(c->limits.gc_min_interval) ||
	    cmpxchg(&c->swept, before, now) != before)
		return;
	rtcache_table_sweep(c, GC_INSERT_SETS, now, idle_limit(c));
}

static void expire_lists(struct rtcache *c, u32 now, u32 idle)
{
	int cpu;

	rtcache_timer_expire(c, &c->timers, now, idle);
	for_each_possible_cpu(cpu)
		rtcache_timer_expire(c, &per_cpu_ptr(c->cpu, cpu)->timers, now, idle);
}

/* As many sets as keep pace with two looks at each within gc_timeout. */
static u32 sets_due(const struct rtcache *c, const struct rtcache_table *t, u32 elapsed)
{
	u64 due = 2 * (t->mask + 1) * elapsed / READ_ONCE(c->limits.gc_timeout) + 1;

	return due > t->mask + 1 ? (u32)(t->mask + 1) : (u32)due;
}

void rtcache_tick(struct rtcache *c, u32 now)
{
	u32 elapsed = now - c->ticked;

	c->ticked = now;
	rtcache_drain(c, now);
	rcu_read_lock();
	expire_lists(c, now, idle_limit(c));
	/* What was inserted before the timers were switched on is on no list. */
	rtcache_table_sweep(c, sets_due(c, rcu_dereference(c->table), elapsed), now, idle_limit(c));
	rcu_read_unlock();
}
