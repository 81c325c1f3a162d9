// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtcache/user/tables.h"

#include <errno.h>
#include <sys/mman.h>

#include <linux/slab.h>
#include <urcu/rculfhash.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_memory.h>

#include "lib/err.h"

/* --- the cache -------------------------------------------------------------------------------- */

static struct rtcache *cache;

static void release_nothing(void *obj)
{
	(void)obj; /* objects outlive the tables */
}

static int rtcache_make(const struct table_keys *keys, struct err *err)
{
	static const struct rtcache_ops ops = { .release = release_nothing };
	struct rtcache_limits l = { .buckets = 1, .max_size = 2 * keys->nr, .gc_thresh = 2 * keys->nr,
				    .gc_elasticity = RTCACHE_WAYS, .gc_timeout = 1 << 30,
				    .gc_min_interval = 1 };

	/* Two keys a set: one in a thousand finds its set full. */
	while (l.buckets < keys->nr / 2)
		l.buckets *= 2;
	cache = rtcache_create(&l, keys->seed, &ops);
	if (!cache)
		return err_set(err, -ENOMEM, "no memory for a cache of %u keys", keys->nr);
	rcu_read_lock();
	for (uint32_t i = 0; i < keys->nr; i++) {
		struct rtcache_key k = table_key(i);
		struct rtcache_value v = { .obj = &keys->objects[i], .dev = 3, .gateway = 1 };

		(void)rtcache_insert(cache, &k, rtcache_hash(&k, keys->seed), &v, 0);
	}
	rcu_read_unlock();
	return 0;
}

/* As the kernel's: the reference of refcnt=shared is given back when the packet has gone. */
static inline __attribute__((always_inline)) uint32_t use(struct table_object *o, bool shared)
{
	uint32_t good;

	if (shared && !refcount_inc_not_zero(&o->refs))
		return 0;
	good = READ_ONCE(o->gen) == 0;
	if (shared)
		(void)refcount_dec_and_test(&o->refs);
	return good;
}

static uint32_t rtcache_look(const struct table_keys *keys, uint32_t at, uint32_t nr)
{
	bool shared = !static_branch_unlikely(&rtcache_axis_noref);
	uint32_t found = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct rtcache_key k = table_key(keys->order[at + i]);
		struct rtcache_entry *e;

		rcu_read_lock();
		e = rtcache_find(cache, &k, rtcache_hash(&k, keys->seed));
		if (likely(e && e->gen == 0 && e->conf == 0)) {
			rtcache_touch(cache, e, 0);
			found += use(e->obj, shared);
		}
		rcu_read_unlock();
	}
	return found;
}

static void rtcache_end(void)
{
	rtcache_destroy(cache);
}

static uint32_t rtcache_entries(void)
{
	return (uint32_t)atomic_read(&cache->count);
}

const struct table table_rtcache = { "rtcache", rtcache_make, rtcache_look, rtcache_end, rtcache_entries };

/* --- liburcu's -------------------------------------------------------------------------------- */

struct lfht_node {
	struct cds_lfht_node node;
	struct rtcache_key key;
	struct table_object *obj;
	uint32_t gen, conf;
} __aligned(64);

static struct cds_lfht *lfht;
static struct kmem_cache *lfht_slab;
static uint32_t lfht_nr;

static int lfht_match(struct cds_lfht_node *node, const void *key)
{
	return rtcache_key_same(&container_of(node, struct lfht_node, node)->key, key);
}

static int lfht_make(const struct table_keys *keys, struct err *err)
{
	unsigned long buckets = 1;

	while (buckets < keys->nr)
		buckets *= 2;
	lfht = cds_lfht_new(buckets, buckets, buckets, 0, NULL);
	lfht_slab = kmem_cache_create("lfht", sizeof(struct lfht_node), 64, 0, NULL);
	if (!lfht || !lfht_slab)
		return err_set(err, -ENOMEM, "no memory for cds_lfht with %u keys", keys->nr);
	for (lfht_nr = 0; lfht_nr < keys->nr; lfht_nr++) {
		struct lfht_node *n = kmem_cache_alloc(lfht_slab, GFP_KERNEL);

		if (!n)
			return err_set(err, -ENOMEM, "no memory for cds_lfht with %u keys", keys->nr);
		*n = (struct lfht_node){ .key = table_key(lfht_nr), .obj = &keys->objects[lfht_nr] };
		cds_lfht_node_init(&n->node);
		rcu_read_lock();
		cds_lfht_add(lfht, rtcache_hash(&n->key, keys->seed), &n->node);
		rcu_read_unlock();
	}
	return 0;
}

static uint32_t lfht_look(const struct table_keys *keys, uint32_t at, uint32_t nr)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct rtcache_key k = table_key(keys->order[at + i]);
		struct cds_lfht_node *node;
		struct cds_lfht_iter iter;

		rcu_read_lock();
		cds_lfht_lookup(lfht, rtcache_hash(&k, keys->seed), lfht_match, &k, &iter);
		node = cds_lfht_iter_get_node(&iter);
		if (likely(node)) {
			const struct lfht_node *n = container_of(node, struct lfht_node, node);

			if (likely(n->gen == 0 && n->conf == 0))
				found += use(n->obj, false);
		}
		rcu_read_unlock();
	}
	return found;
}

static void lfht_end(void)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_for_each(lfht, &iter, node) {
		rcu_read_lock();
		(void)cds_lfht_del(lfht, node);
		rcu_read_unlock();
		kmem_cache_free(lfht_slab, container_of(node, struct lfht_node, node));
	}
	(void)cds_lfht_destroy(lfht, NULL);
	kmem_cache_destroy(lfht_slab);
}

static uint32_t lfht_entries(void)
{
	return lfht_nr;
}

const struct table table_lfht = { "cds_lfht", lfht_make, lfht_look, lfht_end, lfht_entries };

/* --- DPDK's ----------------------------------------------------------------------------------- */

static struct rte_hash *rte;

/* The better half: its low bits are not those of one product alone. */
static uint32_t rte_sig(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static int want_large_pages(const struct rte_memseg_list *list, void *arg)
{
	(void)arg;
	(void)madvise(list->base_va, list->len, MADV_HUGEPAGE);
	return 0;
}

/* Once. Its memory is as that of the others: large pages, where there are any. */
static int rte_start(uint32_t nr, struct err *err)
{
	static bool started;
	char mb[16];
	/* DPDK changes none of them. */
	const char *argv[] = { "dststorm-rtcache", "--no-huge", "-m", mb, "--no-shconf", "--no-pci",
			       "--no-telemetry", "--log-level=error", NULL };

	if (started)
		return 0;
	snprintf(mb, sizeof(mb), "%u", 64 + nr / 4096);
	if (rte_eal_init(8, (char **)argv) < 0)
		return err_set(err, -EIO, "DPDK does not start: %s", rte_strerror(rte_errno));
	started = true;
	return rte_memseg_list_walk(want_large_pages, NULL);
}

static int rte_make(const struct table_keys *keys, struct err *err)
{
	struct rte_hash_parameters p = {
		.name = "bench", .entries = keys->nr + keys->nr / 4 + 64, .key_len = sizeof(struct rtcache_key),
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};
	int ret = rte_start(keys->nr, err);

	if (ret)
		return ret;
	rte = rte_hash_create(&p);
	if (!rte)
		return err_set(err, -ENOMEM, "no rte_hash with %u keys: %s", keys->nr,
			       rte_strerror(rte_errno));
	for (uint32_t i = 0; i < keys->nr; i++) {
		struct rtcache_key k = table_key(i);

		if (rte_hash_add_key_with_hash_data(rte, &k, rte_sig(rtcache_hash(&k, keys->seed)),
						    &keys->objects[i]))
			return err_set(err, -ENOSPC, "rte_hash took only %u keys", i);
	}
	return 0;
}

static uint32_t rte_look(const struct table_keys *keys, uint32_t at, uint32_t nr)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct rtcache_key k = table_key(keys->order[at + i]);
		void *obj;

		if (likely(rte_hash_lookup_with_hash_data(rte, &k, rte_sig(rtcache_hash(&k, keys->seed)),
							  &obj) >= 0))
			found += use(obj, false);
	}
	return found;
}

static void rte_end(void)
{
	rte_hash_free(rte);
}

static uint32_t rte_entries(void)
{
	return (uint32_t)rte_hash_count(rte);
}

const struct table table_rte_hash = { "rte_hash", rte_make, rte_look, rte_end, rte_entries };
