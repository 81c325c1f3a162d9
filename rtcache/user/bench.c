// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtcache/user/bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/slab.h>

#include "lib/err.h"
#include "rtcache/user/switches.h"
#include "rtcache/user/tables.h"

enum { BENCH_ROUNDS = 5, BENCH_CHUNK = 1024, BENCH_TABLES = 3 };

static const struct table *const tables[BENCH_TABLES] = { &table_rtcache, &table_lfht, &table_rte_hash };

struct sampler {
	pthread_t thread;
	const struct table *table;
	const struct table_keys *keys;
	pthread_barrier_t *start;
	const bool *stop;
	unsigned int nr, threads;
	uint64_t lookups, found;
	double ns; /* of this thread's CPU time, a lookup */
};

static double clock_s(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *sampler_main(void *arg)
{
	struct sampler *s = arg;
	uint32_t at = TABLE_ORDER / s->threads * s->nr;
	double began;

	shim_cpu_set(s->nr + 1);
	rcu_register_thread();
	rcu_thread_offline();
	pthread_barrier_wait(s->start);
	rcu_thread_online();
	began = clock_s(CLOCK_THREAD_CPUTIME_ID);
	while (!READ_ONCE(*s->stop)) {
		s->found += s->table->lookup(s->keys, at, BENCH_CHUNK);
		s->lookups += BENCH_CHUNK;
		at = (at + BENCH_CHUNK) % TABLE_ORDER;
		rcu_quiescent_state();
	}
	s->ns = (clock_s(CLOCK_THREAD_CPUTIME_ID) - began) * 1e9 / (double)s->lookups;
	rcu_unregister_thread();
	return NULL;
}

/* Mean of the threads' ns per lookup, of CPU time: who has no core does not wait for one here. */
static int sample(const struct bench_options *o, const struct table *t, const struct table_keys *keys,
		  double *ns, struct err *err)
{
	struct sampler s[64] = { 0 };
	pthread_barrier_t start;
	bool stop = false;
	uint64_t lookups = 0, found = 0;

	pthread_barrier_init(&start, NULL, o->threads + 1);
	for (unsigned int i = 0; i < o->threads; i++) {
		s[i] = (struct sampler){ .table = t, .keys = keys, .start = &start, .stop = &stop,
					 .nr = i, .threads = o->threads };
		if (pthread_create(&s[i].thread, NULL, sampler_main, &s[i]))
			return err_set(err, -EAGAIN, "cannot start %u threads", o->threads);
	}
	rcu_thread_offline();
	pthread_barrier_wait(&start);
	usleep((useconds_t)(o->seconds * 1e6));
	WRITE_ONCE(stop, true);
	*ns = 0;
	for (unsigned int i = 0; i < o->threads; i++) {
		pthread_join(s[i].thread, NULL);
		*ns += s[i].ns / o->threads;
		lookups += s[i].lookups;
		found += s[i].found;
	}
	rcu_thread_online();
	pthread_barrier_destroy(&start);
	/* The cache may lack the few whose set was full. */
	if (found < lookups / 100 * 98)
		return err_set(err, -EIO, "%s found only %lu of %lu", t->name, found, lookups);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double sorted[BENCH_ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, BENCH_ROUNDS, sizeof(*sorted), by_value);
	return sorted[BENCH_ROUNDS / 2];
}

/* Each table's median, and the median of the rounds' ratios to the cache. */
static void print(const struct bench_options *o, double ns[BENCH_TABLES][BENCH_ROUNDS])
{
	printf("{\"keys\":%u,\"threads\":%u,\"order\":\"%s\",\"axes\":\"%s\"", o->keys, o->threads,
	       o->zipf ? "zipf" : "uniform", o->axes);
	for (unsigned int t = 0; t < BENCH_TABLES; t++) {
		double ratios[BENCH_ROUNDS];

		for (unsigned int r = 0; r < BENCH_ROUNDS; r++)
			ratios[r] = ns[t][r] / ns[0][r];
		printf(",\"%s\":{\"entries\":%u,\"ns\":%.2f,\"ratio\":%.3f,\"samples\":[", tables[t]->name,
		       tables[t]->count(), median(ns[t]), median(ratios));
		for (unsigned int r = 0; r < BENCH_ROUNDS; r++)
			printf("%s%.2f", r ? "," : "", ns[t][r]);
		printf("]}");
	}
	printf("}\n");
}

static int measure(const struct bench_options *o, const struct table_keys *keys, struct err *err)
{
	double ns[BENCH_TABLES][BENCH_ROUNDS];
	unsigned int made = 0;
	int ret = 0;

	for (; made < BENCH_TABLES && !ret; made += !ret)
		ret = tables[made]->make(keys, err);
	for (unsigned int r = 0; r < BENCH_ROUNDS; r++)
		for (unsigned int t = 0; t < BENCH_TABLES && !ret; t++)
			ret = sample(o, tables[t], keys, &ns[t][r], err);
	if (!ret)
		print(o, ns);
	while (made--)
		tables[made]->destroy();
	return ret;
}

/* --- keys ------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 32;
}

/* Rank r with a weight of 1/r: by the inverse of the cumulative weights. */
static void fill_zipf(uint32_t *order, const struct bench_options *o, uint64_t *state)
{
	double *sums = calloc(o->keys, sizeof(*sums)), sum = 0;

	for (uint32_t i = 0; sums && i < o->keys; i++)
		sums[i] = sum += 1.0 / (i + 1);
	for (uint32_t i = 0; sums && i < TABLE_ORDER; i++) {
		double want = (double)draw(state) / 4294967296.0 * sum;
		uint32_t low = 0, high = o->keys - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (sums[middle] < want)
				low = middle + 1;
			else
				high = middle;
		}
		/* Popular ones are not neighbours. */
		order[i] = (uint32_t)((uint64_t)low * 2654435761u % o->keys);
	}
	free(sums);
}

static uint32_t *make_order(const struct bench_options *o)
{
	uint32_t *order = kmalloc(TABLE_ORDER * sizeof(*order), GFP_KERNEL);
	uint64_t state = o->seed;

	if (!order)
		return NULL;
	if (o->zipf)
		fill_zipf(order, o, &state);
	else
		for (uint32_t i = 0; i < TABLE_ORDER; i++)
			order[i] = (uint32_t)(draw(&state) * o->keys >> 32);
	return order;
}

int bench_run(const struct bench_options *given, struct err *err)
{
	struct bench_options o = *given;
	struct table_keys keys = { .nr = o.keys, .seed = o.seed };
	int ret = switches_set(RTCACHE_REFCNT_NOREF, o.axes, err);

	if (ret)
		return ret;
	o.axes = o.axes ? o.axes : "lookup=rcu refcnt=noref";
	keys.objects = kmalloc(o.keys * sizeof(*keys.objects), GFP_KERNEL);
	keys.order = make_order(&o);
	if (!keys.objects || !keys.order)
		return err_set(err, -ENOMEM, "no memory for %u keys", o.keys);
	for (uint32_t i = 0; i < o.keys; i++) {
		keys.objects[i] = (struct table_object){ 0 };
		refcount_set(&keys.objects[i].refs, 1);
	}
	shim_cpu_set(0);
	rcu_register_thread();
	ret = measure(&o, &keys, err);
	rcu_unregister_thread();
	kfree((void *)keys.order);
	kfree(keys.objects);
	return ret;
}
