// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When was an entry used? Lists in the order of last use, so that what is too old is at the front:
 * one for all, or one per CPU, where an entry moves to the CPU that uses it.
 */
#include "internal.h"

void rtcache_list_init(struct rtcache_list *l)
{
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->entries);
}

/* Where an entry belongs that this CPU uses. Bottom halves are disabled. */
static struct rtcache_list *list_here(struct rtcache *c)
{
	if (static_branch_unlikely(&rtcache_axis_percpu_timers))
		return &this_cpu_ptr(c->cpu)->timers;
	return &c->timers;
}

void rtcache_timer_add(struct rtcache *c, struct rtcache_links *links)
{
	struct rtcache_list *l;

	if (!static_branch_unlikely(&rtcache_axis_timers))
		return;
	l = list_here(c);
	spin_lock(&l->lock);
	WRITE_ONCE(links->home, l);
	list_add_tail(&links->timer, &l->entries);
	spin_unlock(&l->lock);
}

/*
 * Lock the list that @links are on, and @other, too, if that is not NULL. Returns the list; NULL, with
 * nothing locked: they are on none, and never will be again.
 */
static struct rtcache_list *lock_home(struct rtcache_links *links, struct rtcache_list *other)
{
	struct rtcache_list *home, *first;

	while ((home = READ_ONCE(links->home))) {
		first = other && other < home ? other : home;
		spin_lock(&first->lock);
		if (other && other != home)
			spin_lock_nested(&(first == home ? other : home)->lock,
					 SINGLE_DEPTH_NESTING);
		if (likely(links->home == home))
			break;
		if (other && other != home)
			spin_unlock(&other->lock);
		spin_unlock(&home->lock);
	}
	return home;
}

void rtcache_timer_del(struct rtcache_links *links)
{
	struct rtcache_list *home = lock_home(links, NULL);

	if (!home)
		return;
	list_del(&links->timer);
	WRITE_ONCE(links->home, NULL);
	spin_unlock(&home->lock);
}

static void rearm(struct rtcache *c, struct rtcache_links *links)
{
	struct rtcache_list *here = list_here(c), *home = lock_home(links, here);

	if (!home)
		return;
	list_move_tail(&links->timer, &here->entries);
	WRITE_ONCE(links->home, here);
	if (home != here)
		spin_unlock(&here->lock);
	spin_unlock(&home->lock);
	rtcache_count(c, home == here ? RTCACHE_REARMED : RTCACHE_REHOMED);
}

/* Bottom halves are disabled. */
static void mark(struct rtcache *c, struct rtcache_entry *e, u32 now)
{
	WRITE_ONCE(e->used, now);
	if (static_branch_unlikely(&rtcache_axis_timers))
		rearm(c, e->links);
}

/* The batch's lock is held. */
static void batch_apply(struct rtcache *c, struct rtcache_batch *b, u32 now)
{
	for (unsigned int i = 0; i < b->nr; i++) {
		mark(c, b->entries[i], now);
		rtcache_entry_put(b->entries[i]);
	}
	if (b->nr)
		rtcache_count(c, RTCACHE_BATCHES);
	b->nr = 0;
}

static void collect(struct rtcache *c, struct rtcache_entry *e, u32 now)
{
	struct rtcache_batch *b = &this_cpu_ptr(c->cpu)->batch;

	/* It was removed meanwhile. */
	if (!refcount_inc_not_zero(&e->refs))
		return;
	spin_lock(&b->lock);
	b->entries[b->nr++] = e;
	if (b->nr == RTCACHE_BATCH)
		batch_apply(c, b, now);
	spin_unlock(&b->lock);
}

void rtcache_touch_slow(struct rtcache *c, struct rtcache_entry *e, u32 now)
{
	if (!static_branch_unlikely(&rtcache_axis_timers)) {
		WRITE_ONCE(e->used, now);
		return;
	}
	local_bh_disable();
	if (static_branch_unlikely(&rtcache_axis_batch))
		collect(c, e, now);
	else
		mark(c, e, now);
	local_bh_enable();
}

void rtcache_drain(struct rtcache *c, u32 now)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rtcache_batch *b = &per_cpu_ptr(c->cpu, cpu)->batch;

		spin_lock_bh(&b->lock);
		batch_apply(c, b, now);
		spin_unlock_bh(&b->lock);
	}
}

void rtcache_timer_expire(struct rtcache *c, struct rtcache_list *l, u32 now, u32 idle)
{
	for (;;) {
		struct rtcache_links *first;
		struct rtcache_entry *e;

		spin_lock_bh(&l->lock);
		first = list_first_entry_or_null(&l->entries, struct rtcache_links, timer);
		e = first ? first->entry : NULL;
		if (e && ((s32)(now - READ_ONCE(e->used)) <= (s32)idle ||
			  !refcount_inc_not_zero(&e->refs)))
			e = NULL;
		spin_unlock_bh(&l->lock);
		if (!e)
			return;
		rtcache_remove(c, e, RTCACHE_EXPIRED);
		rtcache_entry_put(e);
	}
}
