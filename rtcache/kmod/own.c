// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <net/dst.h>

#include "kmod/own.h"

enum { OWN_SLOTS = 1 << 14 };

struct own_slot {
	struct rtcache_key key;
	u32 gen;
	__be32 saddr;
	/* NULL: empty. Whoever takes it away, which any CPU may do, gives its reference back. */
	struct dst_entry *dst;
} ____cacheline_aligned;

static DEFINE_PER_CPU(struct own_slot *, own_slots);

void own_exit(void)
{
	int cpu;

	own_flush(0);
	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(own_slots, cpu));
		per_cpu(own_slots, cpu) = NULL;
	}
}

int own_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(own_slots, cpu) = kvcalloc(OWN_SLOTS, sizeof(struct own_slot), GFP_KERNEL);
		if (!per_cpu(own_slots, cpu)) {
			pr_err("no memory for a table of each CPU\n");
			own_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

static struct own_slot *own_slot(u64 hash)
{
	return &__this_cpu_read(own_slots)[hash % OWN_SLOTS];
}

struct rtable *own_get(const struct rtcache_key *key, u64 hash, u32 gen, __be32 *saddr)
{
	struct dst_entry *dst = NULL;
	const struct own_slot *slot;

	local_bh_disable();
	slot = own_slot(hash);
	if (slot->gen == gen && rtcache_key_same(&slot->key, key)) {
		dst = READ_ONCE(slot->dst);
		*saddr = slot->saddr;
	}
	local_bh_enable();
	/* It stays readable under RCU, also if it was taken away just now. */
	if (!dst || READ_ONCE(dst->obsolete) != DST_OBSOLETE_FORCE_CHK || !dst_hold_safe(dst))
		return NULL;
	return (struct rtable *)dst;
}

void own_put(const struct rtcache_key *key, u64 hash, u32 gen, struct rtable *rt, __be32 saddr)
{
	struct dst_entry *old;
	struct own_slot *slot;

	if (!dst_hold_safe(&rt->dst))
		return;
	local_bh_disable();
	slot = own_slot(hash);
	old = xchg(&slot->dst, NULL); /* nobody may see one's key with another's dst */
	slot->key = *key;
	slot->gen = gen;
	slot->saddr = saddr;
	WRITE_ONCE(slot->dst, &rt->dst);
	local_bh_enable();
	dst_release(old);
}

static void own_flush_slot(struct own_slot *slot, int ifindex)
{
	struct dst_entry *dst = READ_ONCE(slot->dst);

	if (dst && (!ifindex || READ_ONCE(dst->dev)->ifindex == ifindex) &&
	    cmpxchg(&slot->dst, dst, NULL) == dst)
		dst_release(dst);
}

void own_flush(int ifindex)
{
	int cpu;

	rcu_read_lock();
	for_each_possible_cpu(cpu) {
		struct own_slot *slots = per_cpu(own_slots, cpu);

		for (int i = 0; slots && i < OWN_SLOTS; i++)
			own_flush_slot(&slots[i], ifindex);
	}
	rcu_read_unlock();
}
