// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "internal.h"

enum { TRACE_LINE = 192 };

static void release(void *obj)
{
	(void)obj; /* a number */
}

static const struct rtcache_ops trace_ops = { .release = release };

static int make(struct rtcache_trace *t, const char *line)
{
	struct rtcache_limits l;
	unsigned long long seed;

	if (t->cache || sscanf(line, "cache %llx %x %x %x %x %x %x", &seed, &l.buckets, &l.max_size,
			       &l.gc_thresh, &l.gc_elasticity, &l.gc_timeout, &l.gc_min_interval) != 7 ||
	    rtcache_limits_check(&l))
		return -EINVAL;
	t->cache = rtcache_create(&l, seed, &trace_ops);
	return t->cache ? 0 : -ENOMEM;
}

/* Returns how many numbers there were, of 9. */
static int numbers(const char *line, struct rtcache_key *k, u32 more[3])
{
	u32 daddr, saddr;
	int nr = sscanf(line, "%*s %x %x %x %x %x %x %x %x %x", &daddr, &saddr, &k->net, &k->mark,
			&k->uid, &k->where, &more[0], &more[1], &more[2]);

	if (nr >= 2) {
		k->daddr = (__force __be32)daddr;
		k->saddr = (__force __be32)saddr;
	}
	return nr;
}

static int insert(struct rtcache_trace *t, const char *line)
{
	struct rtcache_value v = { .gen = t->gen };
	struct rtcache_key k;
	u32 more[3];
	int ret;

	if (numbers(line, &k, more) != 9)
		return -EINVAL;
	v.obj = (void *)(unsigned long)more[0];
	v.dev = more[1];
	v.gateway = more[2];
	rcu_read_lock();
	ret = rtcache_insert(t->cache, &k, rtcache_hash(&k, t->cache->seed), &v, t->now);
	rcu_read_unlock();
	t->refused += ret != 0;
	return 0;
}

static int find(struct rtcache_trace *t, const char *line)
{
	struct rtcache_entry *e;
	struct rtcache_key k;
	u32 more[3];

	if (numbers(line, &k, more) != 6)
		return -EINVAL;
	rcu_read_lock();
	e = rtcache_find(t->cache, &k, rtcache_hash(&k, t->cache->seed));
	t->missed += !e;
	t->stale += e && e->gen != t->gen;
	t->found += e && e->gen == t->gen;
	if (e && e->gen == t->gen)
		rtcache_touch(t->cache, e, t->now);
	rcu_read_unlock();
	return 0;
}

static int flush_some(struct rtcache_trace *t, const char *line)
{
	u32 dev, gateway;

	if (sscanf(line, "flush-dev %x", &dev) == 1)
		rtcache_flush_dev(t->cache, dev);
	else if (sscanf(line, "flush-nexthop %x %x", &dev, &gateway) == 2)
		rtcache_flush_nexthop(t->cache, dev, gateway);
	else
		return -EINVAL;
	return 0;
}

static bool is_word(const char *word, const char *want)
{
	return !strcmp(word, want);
}

int rtcache_trace_line(struct rtcache_trace *t, const char *line)
{
	char word[16] = "";

	if (strlen(line) >= TRACE_LINE)
		return -EINVAL;
	if (sscanf(line, "%15s", word) != 1 || word[0] == '#')
		return 0;
	if (is_word(word, "cache"))
		return make(t, line);
	if (!t->cache)
		return -EINVAL;
	if (is_word(word, "insert"))
		return insert(t, line);
	if (is_word(word, "find"))
		return find(t, line);
	if (is_word(word, "now"))
		return sscanf(line, "now %x", &t->now) == 1 ? 0 : -EINVAL;
	if (is_word(word, "gen"))
		return sscanf(line, "gen %x", &t->gen) == 1 ? 0 : -EINVAL;
	if (is_word(word, "tick"))
		rtcache_tick(t->cache, t->now);
	else if (is_word(word, "flush"))
		rtcache_flush(t->cache);
	else
		return flush_some(t, line);
	return 0;
}

/* --- dump ------------------------------------------------------------------------------------- */

struct emitter {
	void (*emit)(void *arg, const char *line);
	void *arg;
	char line[TRACE_LINE];
};

#define emit(em, ...)                                                                                \
	do {                                                                                         \
		scnprintf((em)->line, sizeof((em)->line), __VA_ARGS__);                               \
		(em)->emit((em)->arg, (em)->line);                                                   \
	} while (0)

static void dump_entry(struct emitter *em, u64 set, unsigned int slot, const struct rtcache_entry *e)
{
	emit(em, "set %llx.%u key %llx %llx %llx obj %lx gen %x used %x dev %x refs %x\n",
	     (unsigned long long)set, slot, (unsigned long long)e->key.word[0],
	     (unsigned long long)e->key.word[1], (unsigned long long)e->key.word[2],
	     (unsigned long)e->obj, e->gen, e->used, e->dev, refcount_read(&e->refs));
}

static void dump_list(struct emitter *em, const char *name, const struct rtcache_list *l)
{
	const struct rtcache_links *links;

	list_for_each_entry(links, &l->entries, timer)
		emit(em, "timer %s %llx\n", name, (unsigned long long)links->hash);
}

static void dump_nexthop(void *arg, u32 dev, u32 gateway, u32 nr, u32 linked)
{
	struct emitter *em = arg;

	emit(em, "nexthop %x %x entries %x linked %x\n", dev, gateway, nr, linked);
}

static void dump_stats(struct emitter *em, const struct rtcache_trace *t)
{
	emit(em, "now %x gen %x found %llx missed %llx stale %llx refused %llx\n", t->now, t->gen,
	     (unsigned long long)t->found, (unsigned long long)t->missed,
	     (unsigned long long)t->stale, (unsigned long long)t->refused);
	emit(em, "count %x\n", atomic_read(&t->cache->count));
	for (unsigned int i = 0; i < RTCACHE_NR_STATS; i++)
		emit(em, "%s %llx\n", rtcache_stat_names[i],
		     (unsigned long long)rtcache_stat_sum(t->cache, i));
}

void rtcache_trace_dump(struct rtcache_trace *t, void (*emit_line)(void *arg, const char *line),
			void *arg)
{
	struct emitter em = { .emit = emit_line, .arg = arg };
	const struct rtcache_table *table;
	int cpu;

	if (!t->cache)
		return;
	table = rcu_dereference_protected(t->cache->table, true);
	dump_stats(&em, t);
	for (u64 at = 0; at <= table->mask; at++) {
		for (unsigned int i = 0; i < RTCACHE_WAYS; i++) {
			const struct rtcache_entry *e =
				rcu_dereference_protected(table->sets[at].slot[i], true);

			if (e)
				dump_entry(&em, at, i, e);
		}
	}
	dump_list(&em, "global", &t->cache->timers);
	for_each_possible_cpu(cpu)
		dump_list(&em, "cpu", &per_cpu_ptr(t->cache->cpu, cpu)->timers);
	rtcache_rmap_each(table, dump_nexthop, &em);
}

void rtcache_trace_end(struct rtcache_trace *t)
{
	if (t->cache)
		rtcache_destroy(t->cache);
	t->cache = NULL;
}
