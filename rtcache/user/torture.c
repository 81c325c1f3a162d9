// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtcache/user/torture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/slab.h>

#include "lib/err.h"
#include "rtcache/core/rtcache.h"
#include "rtcache/user/switches.h"

enum {
	TORTURE_MAX_SIZE = 3000,
	TORTURE_BUCKETS = 1024,
	TORTURE_DEVS = 5,
	TORTURE_LOOKUPS = 64, /* from one quiescent state to the next */
	TORTURE_HELD = 16,    /* references that a thread carries through them */
};

#define TORTURE_LIVE UINT64_C(0x600d0b7ec7600d0b)
#define TORTURE_DEAD UINT64_C(0xdead0b7ecdead0b7)

struct object {
	uint64_t mark; /* TORTURE_LIVE until it is freed */
	struct rtcache_key key;
	refcount_t refs;
	struct rcu_head rcu;
};

struct world {
	const struct torture_options *options;
	struct rtcache *cache;
	bool stop;
	uint32_t gen, clock;
	struct rtcache_limits limits;
	struct torture_result *result;
	int64_t objects;
	uint64_t poisoned, over, most;
};

struct worker {
	pthread_t thread;
	struct world *world;
	unsigned int cpu;
	uint64_t random;
	struct object *held[TORTURE_HELD];
	uint64_t lookups, hits, nr_held, inserted;
};

static struct world *torture_world; /* for objects that are freed when nobody has anything else */

static uint64_t draw(struct worker *w, uint64_t below)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (w->random >> 33) % below;
}

static void seen(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static uint32_t load(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void object_free(struct rcu_head *head)
{
	struct object *o = container_of(head, struct object, rcu);

	__atomic_store_n(&o->mark, TORTURE_DEAD, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&torture_world->objects, 1, __ATOMIC_RELAXED);
	kfree(o);
}

static void object_put(void *obj)
{
	struct object *o = obj;

	if (refcount_dec_and_test(&o->refs))
		call_rcu(&o->rcu, object_free);
}

static struct object *object_new(struct world *w, const struct rtcache_key *key)
{
	struct object *o = kmalloc(sizeof(*o), GFP_ATOMIC);

	if (!o)
		return NULL;
	o->mark = TORTURE_LIVE;
	o->key = *key;
	refcount_set(&o->refs, 1);
	__atomic_fetch_add(&w->objects, 1, __ATOMIC_RELAXED);
	return o;
}

static bool object_good(const struct object *o, const struct rtcache_key *key)
{
	return READ_ONCE(o->mark) == TORTURE_LIVE && (!key || rtcache_key_same(&o->key, key));
}

static const struct rtcache_ops object_ops = { .release = object_put };

/* --- one lookup ------------------------------------------------------------------------------- */

/* Few keys are wanted often, many seldom. */
static void draw_key(struct worker *w, struct rtcache_key *key)
{
	uint64_t nr = draw(w, draw(w, w->world->options->keys) + 1);

	*key = (struct rtcache_key){ .daddr = (uint32_t)nr, .saddr = 7, .net = 1,
				     .where = rtcache_where(1 + nr % TORTURE_DEVS, 0, 0) };
}

static void add(struct worker *w, const struct rtcache_key *key, uint64_t hash, uint32_t gen)
{
	struct world *world = w->world;
	struct rtcache_value v = { .gen = gen, .dev = key->where >> 10,
				   .gateway = (uint32_t)draw(w, 50) };
	struct object *o = object_new(world, key);

	if (!o)
		return;
	v.obj = o;
	if (rtcache_insert(world->cache, key, hash, &v, load(&world->clock)))
		object_put(o);
	else
		w->inserted++;
}

/* Keep a reference beyond this grace period, and give an older one back. */
static void hold(struct worker *w, struct object *o)
{
	struct object **place = &w->held[draw(w, TORTURE_HELD)];

	if (!refcount_inc_not_zero(&o->refs))
		return;
	if (*place) {
		if (!object_good(*place, NULL))
			seen(&w->world->poisoned);
		object_put(*place);
	}
	*place = o;
	w->nr_held++;
}

static void lookup(struct worker *w)
{
	struct world *world = w->world;
	uint32_t gen = load(&world->gen);
	struct rtcache_entry *e;
	struct rtcache_key key;
	struct object *o;
	uint64_t hash;

	draw_key(w, &key);
	hash = rtcache_hash(&key, world->cache->seed);
	e = rtcache_find(world->cache, &key, hash);
	w->lookups++;
	if (!e || e->gen != gen) {
		add(w, &key, hash, gen);
		return;
	}
	w->hits++;
	o = READ_ONCE(e->obj);
	/* The entry and its object stay what they are until the grace period ends. */
	if (!draw(w, 64))
		sched_yield();
	if (!rtcache_key_same(&e->key, &key) || !object_good(o, &key)) {
		seen(&world->poisoned);
		return;
	}
	rtcache_touch(world->cache, e, load(&world->clock));
	if (!draw(w, 4))
		hold(w, o);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	shim_cpu_set(w->cpu);
	rcu_register_thread();
	while (!READ_ONCE(w->world->stop)) {
		rcu_read_lock();
		for (unsigned int i = 0; i < TORTURE_LOOKUPS; i++)
			lookup(w);
		rcu_read_unlock();
		rcu_quiescent_state();
	}
	for (unsigned int i = 0; i < TORTURE_HELD; i++)
		if (w->held[i])
			object_put(w->held[i]);
	rcu_unregister_thread();
	return NULL;
}

/* --- what disturbs ---------------------------------------------------------------------------- */

static void change_axes(struct worker *w)
{
	struct rtcache_axes axes = { .lookup = RTCACHE_LOOKUP_RWLOCK + (unsigned int)draw(w, 2),
				     .refcnt = (unsigned int)draw(w, 3),
				     .timer = (unsigned int)draw(w, 3),
				     .touch = (unsigned int)draw(w, 2),
				     .rmap = (unsigned int)draw(w, 2) };

	if (rtcache_axes_check(&axes))
		return;
	rtcache_axes_apply(&axes);
	rtcache_flush(w->world->cache);
	w->world->result->changes++;
}

/* max_size itself stays: that there are never more is what is asserted. */
static void change_limits(struct worker *w)
{
	struct world *world = w->world;

	world->limits.buckets = 64u << draw(w, 6);
	world->limits.gc_elasticity = 1 + (uint32_t)draw(w, RTCACHE_WAYS);
	world->limits.gc_thresh = (uint32_t)draw(w, world->limits.max_size);
	world->limits.gc_timeout = 1 + (uint32_t)draw(w, 200);
	if (!rtcache_set_limits(world->cache, &world->limits))
		world->result->changes++;
}

static void disturb(struct worker *w)
{
	struct world *world = w->world;

	switch (draw(w, 400)) {
	case 0:
		if (!world->options->axes)
			change_axes(w);
		return;
	case 1:
		change_limits(w);
		return;
	case 2:
		rtcache_flush(world->cache);
		return;
	case 3 ... 12:
		rtcache_flush_dev(world->cache, 1 + (uint32_t)draw(w, TORTURE_DEVS));
		return;
	case 13 ... 60:
		rtcache_flush_nexthop(world->cache, 1 + (uint32_t)draw(w, TORTURE_DEVS),
				      (uint32_t)draw(w, 50));
		return;
	case 61 ... 62:
		__atomic_fetch_add(&world->gen, 1, __ATOMIC_RELAXED);
		return;
	default:
		__atomic_fetch_add(&world->clock, 1, __ATOMIC_RELAXED);
		rtcache_tick(world->cache, load(&world->clock));
	}
}

static void watch_size(struct world *w)
{
	uint64_t nr = (uint64_t)atomic_read(&w->cache->count);

	if (nr > w->most)
		w->most = nr;
	w->over += nr > w->limits.max_size;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* The calling thread is the last CPU. */
static void disturb_for(struct world *world, double seconds)
{
	struct worker self = { .world = world, .random = world->options->seed ^ 0x5eed };
	double until = now_s() + seconds;

	while (now_s() < until) {
		disturb(&self);
		watch_size(world);
		rcu_quiescent_state();
		usleep(200);
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static void join(struct world *world, struct worker *workers, unsigned int nr)
{
	WRITE_ONCE(world->stop, true);
	/* They may wait for a grace period, which this thread must not hold up. */
	rcu_thread_offline();
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		world->result->lookups += workers[i].lookups;
		world->result->hits += workers[i].hits;
		world->result->held += workers[i].nr_held;
		world->result->inserted += workers[i].inserted;
	}
	rcu_thread_online();
}

static int run_workers(struct world *world, struct err *err)
{
	const struct torture_options *o = world->options;
	struct worker *workers = calloc(o->threads, sizeof(*workers));
	unsigned int nr = 0;
	int ret = 0;

	if (!workers)
		return err_set(err, -ENOMEM, "no memory for %u threads", o->threads);
	for (; nr < o->threads && !ret; nr += !ret) {
		workers[nr] = (struct worker){ .world = world, .cpu = nr + 1,
					       .random = o->seed + nr };
		ret = -pthread_create(&workers[nr].thread, NULL, worker_main, &workers[nr]);
	}
	if (ret)
		err_set(err, ret, "cannot start %u threads: %s", o->threads, strerror(-ret));
	else
		disturb_for(world, o->seconds);
	join(world, workers, nr);
	free(workers);
	return ret;
}

static void note(struct world *w)
{
	struct torture_result *r = w->result;

	r->evicted = rtcache_stat_sum(w->cache, RTCACHE_EVICTED_SET) +
		     rtcache_stat_sum(w->cache, RTCACHE_EVICTED_FULL);
	r->expired = rtcache_stat_sum(w->cache, RTCACHE_EXPIRED);
	r->flushed = rtcache_stat_sum(w->cache, RTCACHE_FLUSHED);
	r->no_memory = rtcache_stat_sum(w->cache, RTCACHE_NO_MEMORY);
	r->most_entries = w->most;
	r->over = w->over;
}

static int torture_cache(struct world *w, struct err *err)
{
	int ret;

	w->cache = rtcache_create(&w->limits, w->options->seed, &object_ops);
	if (!w->cache)
		return err_set(err, -ENOMEM, "no memory for a cache");
	shim_fail_one_in(w->options->fail_one_in);
	shim_no_grace(w->options->broken);
	ret = run_workers(w, err);
	shim_fail_one_in(0);
	shim_no_grace(false);
	note(w);
	rtcache_destroy(w->cache);
	rcu_barrier(); /* objects that the last entries have let go */
	return ret;
}

int torture_run(const struct torture_options *o, struct torture_result *r, struct err *err)
{
	struct world w = { .options = o, .result = r, .clock = 1,
			   .limits = { .buckets = TORTURE_BUCKETS, .max_size = TORTURE_MAX_SIZE,
				       .gc_thresh = TORTURE_MAX_SIZE / 2, .gc_elasticity = RTCACHE_WAYS,
				       .gc_timeout = 100, .gc_min_interval = 2 } };
	long before = shim_allocated();
	int ret = switches_set(RTCACHE_REFCNT_SHARED, o->axes, err);

	if (ret)
		return ret;
	*r = (struct torture_result){ 0 };
	torture_world = &w;
	shim_cpu_set(0);
	rcu_register_thread();
	ret = torture_cache(&w, err);
	rcu_unregister_thread();
	r->poisoned = w.poisoned;
	r->leaked = w.objects + (shim_allocated() - before);
	return ret;
}
