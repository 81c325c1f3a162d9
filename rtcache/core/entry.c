// SPDX-License-Identifier: GPL-2.0-or-later
/* An entry's life: made, referred to, freed after a grace period. */
#include <linux/slab.h>

#include "internal.h"

/* Links on their own, or with a chain: what has none is smaller. */
static struct rtcache_links *links_new(struct rtcache *c, u64 hash)
{
	bool chained = !static_branch_unlikely(&rtcache_axis_object);
	struct rtcache_links *l = kmem_cache_alloc(chained ? c->chained : c->links,
						   GFP_ATOMIC | __GFP_NOWARN);

	if (!l)
		return NULL;
	l->home = NULL;
	l->nexthop = NULL;
	l->table = NULL;
	l->cache = c;
	l->hash = hash;
	l->chained = chained;
	return l;
}

struct rtcache_entry *rtcache_entry_new(struct rtcache *c, const struct rtcache_key *key, u64 hash,
					const struct rtcache_value *v, u32 now)
{
	struct rtcache_entry *e = kmem_cache_alloc(c->entries, GFP_ATOMIC | __GFP_NOWARN);

	if (!e)
		return NULL;
	e->links = links_new(c, hash);
	if (!e->links) {
		kmem_cache_free(c->entries, e);
		return NULL;
	}
	e->links->entry = e;
	e->key = *key;
	e->obj = v->obj;
	e->gen = v->gen;
	e->conf = v->conf;
	e->flags = v->flags;
	e->used = now;
	e->dev = v->dev;
	refcount_set(&e->refs, 1);
	return e;
}

void rtcache_entry_discard(struct rtcache_entry *e)
{
	struct rtcache_links *l = e->links;
	struct rtcache *c = l->cache;

	kmem_cache_free(l->chained ? c->chained : c->links, l);
	kmem_cache_free(c->entries, e);
}

static void free_rcu(struct rcu_head *head)
{
	rtcache_entry_discard(container_of(head, struct rtcache_links, rcu)->entry);
}

void rtcache_entry_put(struct rtcache_entry *e)
{
	if (refcount_dec_and_test(&e->refs))
		call_rcu(&e->links->rcu, free_rcu);
}
