// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reverse map: from a next hop, a device and a gateway or on-link destination, to the entries
 * that use it. With rmap=chain they are linked; with rmap=object the next hop only knows how many
 * they are, and they are found by a walk through the table.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

struct rtcache_nexthop {
	struct hlist_node node;
	struct hlist_head entries;
	u32 dev, gateway;
	u32 bucket, nr; /* entries that use it */
};

struct rtcache_bucket {
	spinlock_t lock;
	struct hlist_head nexthops;
};

struct rtcache_bucket *rtcache_rmap_new(u32 buckets)
{
	struct rtcache_bucket *rmap = kvcalloc(buckets, sizeof(*rmap), GFP_KERNEL);

	for (u32 i = 0; rmap && i < buckets; i++) {
		spin_lock_init(&rmap[i].lock);
		INIT_HLIST_HEAD(&rmap[i].nexthops);
	}
	return rmap;
}

void rtcache_rmap_free(struct rtcache_bucket *rmap)
{
	kvfree(rmap);
}

static struct rtcache_nexthop *find(struct rtcache_bucket *b, u32 dev, u32 gateway)
{
	struct rtcache_nexthop *n;

	hlist_for_each_entry(n, &b->nexthops, node)
		if (n->dev == dev && n->gateway == gateway)
			return n;
	return NULL;
}

static struct rtcache_nexthop *make(struct rtcache_bucket *b, u32 bucket, u32 dev, u32 gateway)
{
	struct rtcache_nexthop *n = kmalloc(sizeof(*n), GFP_ATOMIC | __GFP_NOWARN);

	if (!n)
		return NULL;
	n->dev = dev;
	n->gateway = gateway;
	n->bucket = bucket;
	n->nr = 0;
	INIT_HLIST_HEAD(&n->entries);
	hlist_add_head(&n->node, &b->nexthops);
	return n;
}

static u32 bucket_of(const struct rtcache *c, const struct rtcache_table *t, u32 dev, u32 gateway)
{
	u64 hash = ((u64)dev << 32 | gateway) * (c->seed | 1);

	return (u32)((hash ^ hash >> 32) & t->mask);
}

int rtcache_rmap_add(struct rtcache *c, struct rtcache_entry *e, u32 gateway)
{
	struct rtcache_links *links = e->links;
	u32 bucket = bucket_of(c, links->table, e->dev, gateway);
	struct rtcache_bucket *b = &links->table->rmap[bucket];
	struct rtcache_nexthop *n;

	spin_lock(&b->lock);
	n = find(b, e->dev, gateway);
	if (!n)
		n = make(b, bucket, e->dev, gateway);
	if (n) {
		n->nr++;
		if (links->chained)
			hlist_add_head(&links->chain, &n->entries);
		links->nexthop = n;
	}
	spin_unlock(&b->lock);
	return n ? 0 : -ENOMEM;
}

void rtcache_rmap_del(struct rtcache_links *links)
{
	struct rtcache_nexthop *n = links->nexthop;
	struct rtcache_bucket *b = &links->table->rmap[n->bucket];
	bool last;

	spin_lock(&b->lock);
	if (links->chained)
		hlist_del(&links->chain);
	last = !--n->nr;
	if (last)
		hlist_del(&n->node);
	spin_unlock(&b->lock);
	if (last)
		kfree(n);
}

/* --- flushing --------------------------------------------------------------------------------- */

static bool uses(const struct rtcache_entry *e, const void *arg)
{
	const struct rtcache_nexthop *want = arg;

	return e->links->nexthop->dev == want->dev && e->links->nexthop->gateway == want->gateway;
}

static bool uses_dev(const struct rtcache_entry *e, const void *arg)
{
	return e->dev == *(const u32 *)arg;
}

/* Of the first entry linked to @n. NULL: there is none. The bucket's lock is held. */
static struct rtcache_entry *take_first(struct rtcache_nexthop *n)
{
	struct rtcache_links *links;

	hlist_for_each_entry(links, &n->entries, chain)
		if (refcount_inc_not_zero(&links->entry->refs))
			return links->entry;
	return NULL;
}

/* Linked entries of those next hops in bucket @b that have device @dev, and @gateway unless @any. */
static void flush_chains(struct rtcache *c, struct rtcache_bucket *b, u32 dev, u32 gateway, bool any)
{
	struct rtcache_entry *e;

	do {
		struct rtcache_nexthop *n;

		e = NULL;
		spin_lock_bh(&b->lock);
		hlist_for_each_entry(n, &b->nexthops, node) {
			if (n->dev == dev && (any || n->gateway == gateway))
				e = take_first(n);
			if (e)
				break;
		}
		spin_unlock_bh(&b->lock);
		if (e) {
			rtcache_remove(c, e, RTCACHE_FLUSHED);
			rtcache_entry_put(e);
		}
	} while (e);
}

void rtcache_flush_nexthop(struct rtcache *c, u32 dev, u32 gateway)
{
	const struct rtcache_nexthop want = { .dev = dev, .gateway = gateway };
	struct rtcache_table *t;

	rcu_read_lock();
	t = rcu_dereference(c->table);
	if (static_branch_unlikely(&rtcache_axis_object))
		rtcache_table_flush(c, t, uses, &want);
	else
		flush_chains(c, &t->rmap[bucket_of(c, t, dev, gateway)], dev, gateway, false);
	rcu_read_unlock();
}

void rtcache_flush_dev(struct rtcache *c, u32 dev)
{
	struct rtcache_table *t;

	rcu_read_lock();
	t = rcu_dereference(c->table);
	if (static_branch_unlikely(&rtcache_axis_object))
		rtcache_table_flush(c, t, uses_dev, &dev);
	else
		for (u64 i = 0; i <= t->mask; i++)
			flush_chains(c, &t->rmap[i], dev, 0, true);
	rcu_read_unlock();
}

void rtcache_rmap_each(const struct rtcache_table *t,
		       void (*each)(void *arg, u32 dev, u32 gateway, u32 nr, u32 linked), void *arg)
{
	for (u64 i = 0; i <= t->mask; i++) {
		const struct rtcache_nexthop *n;

		hlist_for_each_entry(n, &t->rmap[i].nexthops, node) {
			const struct rtcache_links *links;
			u32 linked = 0;

			hlist_for_each_entry(links, &n->entries, chain)
				linked++;
			each(arg, n->dev, n->gateway, n->nr, linked);
		}
	}
}
