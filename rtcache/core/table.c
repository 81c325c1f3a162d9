// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets and what is in them. */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "internal.h"

enum { TABLE_LOCKS_MAX = 4096, TABLE_TRIES = 4 };

struct rtcache_table *rtcache_table_new(u32 buckets)
{
	u32 nr_locks = buckets < TABLE_LOCKS_MAX ? buckets : TABLE_LOCKS_MAX;
	struct rtcache_table *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->mask = buckets - 1;
	t->lock_mask = nr_locks - 1;
	t->sets = kvcalloc(buckets, sizeof(*t->sets), GFP_KERNEL);
	t->locks = kvcalloc(nr_locks, sizeof(*t->locks), GFP_KERNEL);
	t->rmap = rtcache_rmap_new(buckets);
	if (!t->sets || !t->locks || !t->rmap) {
		rtcache_table_free(t);
		return NULL;
	}
	for (u32 i = 0; i < nr_locks; i++)
		rwlock_init(&t->locks[i].lock);
	return t;
}

void rtcache_table_free(struct rtcache_table *t)
{
	kvfree(t->sets);
	kvfree(t->locks);
	rtcache_rmap_free(t->rmap);
	kvfree(t);
}

/* --- one set, its lock held to write ---------------------------------------------------------- */

static struct rtcache_entry *slot_get(const struct rtcache_set *set, unsigned int i)
{
	/* Writers hold the lock. */
	return rcu_dereference_protected(set->slot[i], true);
}

static void slot_set_tag(struct rtcache_set *set, unsigned int i, u8 tag)
{
	u64 others = set->tags & ~(0xffull << (i * 8));

	WRITE_ONCE(set->tags, others | (u64)tag << (i * 8));
}

static void slot_publish(struct rtcache_set *set, unsigned int i, struct rtcache_entry *e)
{
	rcu_assign_pointer(set->slot[i], e);
	slot_set_tag(set, i, rtcache_tag(e->links->hash));
}

/* The entry is gone from the set; its object is given back, and it is freed when nobody has it. */
static void slot_remove(struct rtcache *c, struct rtcache_set *set, unsigned int i,
			enum rtcache_stat why)
{
	struct rtcache_entry *e = slot_get(set, i);

	slot_set_tag(set, i, 0);
	RCU_INIT_POINTER(set->slot[i], NULL);
	rtcache_timer_del(e->links);
	rtcache_rmap_del(e->links);
	atomic_dec(&c->count);
	rtcache_count(c, why);
	c->ops->release(e->obj);
	rtcache_entry_put(e);
}

/* RTCACHE_WAYS: it is not there. */
static unsigned int slot_of(const struct rtcache_set *set, const struct rtcache_key *key, u64 hash)
{
	u64 found = rtcache_match(set->tags, rtcache_tag(hash));

	for (; found; found &= found - 1) {
		unsigned int i = __ffs(found) >> 3;

		/* Under the lock each tag has its entry; what only seems to be one may have none. */
		if (slot_get(set, i) && rtcache_key_same(&slot_get(set, i)->key, key))
			return i;
	}
	return RTCACHE_WAYS;
}

static unsigned int slot_count(const struct rtcache_set *set)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < RTCACHE_WAYS; i++)
		nr += slot_get(set, i) != NULL;
	return nr;
}

/* The first slot that is empty, while there are fewer than @most entries. RTCACHE_WAYS: none. */
static unsigned int slot_free(const struct rtcache_set *set, unsigned int most)
{
	u64 empty = rtcache_match(set->tags, 0); /* of these the lowest surely is */

	if (!empty || (most < RTCACHE_WAYS && slot_count(set) >= most))
		return RTCACHE_WAYS;
	return __ffs(empty) >> 3;
}

/* Of the least recently used entry. RTCACHE_WAYS: the set is empty. */
static unsigned int slot_oldest(const struct rtcache_set *set)
{
	unsigned int oldest = RTCACHE_WAYS;

	for (unsigned int i = 0; i < RTCACHE_WAYS; i++) {
		const struct rtcache_entry *e = slot_get(set, i);

		/* Times wrap: what counts is their difference. */
		if (e && (oldest == RTCACHE_WAYS ||
			  (s32)(READ_ONCE(e->used) - READ_ONCE(slot_get(set, oldest)->used)) < 0))
			oldest = i;
	}
	return oldest;
}

/* --- insertion -------------------------------------------------------------------------------- */

/* Take a place in the count, if need be from the set's oldest. False: there was none. */
static bool set_admit(struct rtcache *c, struct rtcache_set *set)
{
	while (!rtcache_gc_admit(c)) {
		unsigned int oldest = slot_oldest(set);

		if (oldest == RTCACHE_WAYS)
			return false;
		slot_remove(c, set, oldest, RTCACHE_EVICTED_FULL);
	}
	return true;
}

/* The lock is held. Returns 0, -EEXIST, -ENOMEM, or -ENOSPC: nothing that is here can make room. */
static int set_insert(struct rtcache *c, struct rtcache_set *set, struct rtcache_entry *e, u32 gateway)
{
	unsigned int at = slot_of(set, &e->key, e->links->hash);

	if (at < RTCACHE_WAYS) {
		const struct rtcache_entry *old = slot_get(set, at);

		if (old->gen == e->gen && old->conf == e->conf)
			return -EEXIST;
		slot_remove(c, set, at, RTCACHE_REPLACED);
	}
	if (!set_admit(c, set))
		return -ENOSPC;
	if (rtcache_rmap_add(c, e, gateway)) {
		atomic_dec(&c->count);
		return -ENOMEM;
	}
	at = slot_free(set, READ_ONCE(c->limits.gc_elasticity));
	if (at == RTCACHE_WAYS) {
		at = slot_oldest(set);
		slot_remove(c, set, at, RTCACHE_EVICTED_SET);
	}
	rtcache_timer_add(c, e->links);
	slot_publish(set, at, e);
	return 0;
}

static int try_insert(struct rtcache *c, struct rtcache_entry *e, u32 gateway)
{
	struct rtcache_table *t = rcu_dereference(c->table);
	u64 hash = e->links->hash;
	struct rtcache_lock *lock = rtcache_lock_of(t, hash);
	int ret;

	e->links->table = t;
	write_lock_bh(&lock->lock);
	ret = set_insert(c, &t->sets[hash & t->mask], e, gateway);
	write_unlock_bh(&lock->lock);
	return ret;
}

static enum rtcache_stat outcome(int ret)
{
	switch (ret) {
	case 0:
		return RTCACHE_INSERTED;
	case -EEXIST:
		return RTCACHE_RACED;
	case -ENOMEM:
		return RTCACHE_NO_MEMORY;
	default:
		return RTCACHE_NO_ROOM;
	}
}

int rtcache_insert(struct rtcache *c, const struct rtcache_key *key, u64 hash,
		   const struct rtcache_value *v, u32 now)
{
	struct rtcache_entry *e;
	int ret = -ENOMEM;

	rtcache_gc_relieve(c, now);
	e = rtcache_entry_new(c, key, hash, v, now);
	if (e)
		ret = try_insert(c, e, v->gateway);
	/* A place that was made elsewhere may be somebody else's before it is ours. */
	for (int i = 0; ret == -ENOSPC && i < TABLE_TRIES; i++) {
		rtcache_table_evict(c);
		ret = try_insert(c, e, v->gateway);
	}
	if (ret && e)
		rtcache_entry_discard(e);
	rtcache_count(c, outcome(ret));
	return ret;
}

/* --- removal ---------------------------------------------------------------------------------- */

void rtcache_remove(struct rtcache *c, struct rtcache_entry *e, enum rtcache_stat why)
{
	struct rtcache_table *t = e->links->table;
	u64 hash = e->links->hash;
	struct rtcache_set *set = &t->sets[hash & t->mask];
	struct rtcache_lock *lock = rtcache_lock_of(t, hash);

	write_lock_bh(&lock->lock);
	for (unsigned int i = 0; i < RTCACHE_WAYS; i++) {
		if (slot_get(set, i) == e) {
			slot_remove(c, set, i, why);
			break;
		}
	}
	write_unlock_bh(&lock->lock);
}

bool rtcache_table_evict(struct rtcache *c)
{
	struct rtcache_table *t = rcu_dereference(c->table);
	bool done = false;

	for (u64 i = 0; i <= t->mask && !done; i++) {
		u64 at = (u32)atomic_inc_return(&c->hand) & t->mask;
		struct rtcache_set *set = &t->sets[at];
		struct rtcache_lock *lock = rtcache_lock_of(t, at);
		unsigned int oldest;

		if (!READ_ONCE(set->tags))
			continue;
		write_lock_bh(&lock->lock);
		oldest = slot_oldest(set);
		done = oldest < RTCACHE_WAYS;
		if (done)
			slot_remove(c, set, oldest, RTCACHE_EVICTED_FULL);
		write_unlock_bh(&lock->lock);
	}
	return done;
}

struct idle {
	u32 now, limit;
};

static bool is_idle(const struct rtcache_entry *e, const void *arg)
{
	const struct idle *idle = arg;

	return (s32)(idle->now - READ_ONCE(e->used)) > (s32)idle->limit;
}

static void set_flush(struct rtcache *c, struct rtcache_table *t, u64 at, enum rtcache_stat why,
		      bool (*match)(const struct rtcache_entry *e, const void *arg), const void *arg)
{
	struct rtcache_lock *lock = rtcache_lock_of(t, at);
	struct rtcache_set *set = &t->sets[at];

	if (!READ_ONCE(set->tags))
		return;
	write_lock_bh(&lock->lock);
	for (unsigned int i = 0; i < RTCACHE_WAYS; i++) {
		const struct rtcache_entry *e = slot_get(set, i);

		if (e && (!match || match(e, arg)))
			slot_remove(c, set, i, why);
	}
	write_unlock_bh(&lock->lock);
}

void rtcache_table_sweep(struct rtcache *c, u32 sets, u32 now, u32 idle)
{
	struct rtcache_table *t = rcu_dereference(c->table);
	struct idle arg = { .now = now, .limit = idle };

	if (sets > t->mask + 1)
		sets = (u32)(t->mask + 1);
	while (sets--)
		set_flush(c, t, (u32)atomic_inc_return(&c->hand) & t->mask, RTCACHE_EXPIRED, is_idle,
			  &arg);
}

void rtcache_table_flush(struct rtcache *c, struct rtcache_table *t,
			 bool (*match)(const struct rtcache_entry *e, const void *arg),
			 const void *arg)
{
	for (u64 at = 0; at <= t->mask; at++)
		set_flush(c, t, at, RTCACHE_FLUSHED, match, arg);
}
