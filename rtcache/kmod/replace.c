// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What may be answered from the cache, what may be stored, and what a hit has to restore.
 *
 * Not looked for ("bypass"): whatever depends on more than the key. Not stored: whatever the stock
 * lookup may answer otherwise the next time without a sign. Of a result that was stored all that can
 * change shows in the generation of the namespace's routes, in the state of the dst, or in the
 * settings of the device that have no generation (the word conf).
 *
 * Neither function sleeps, and both return the kernel's own results, so that it makes no difference to
 * the caller who made them.
 */
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip_fib.h>
#include <net/nexthop.h>
#include <net/xfrm.h>

#include "kmod/compat.h"
#include "kmod/live.h"
#include "kmod/net.h"
#include "kmod/replace.h"
#include "kmod/stat.h"

DEFINE_STATIC_KEY_FALSE(replace_caches);
DEFINE_STATIC_KEY_FALSE(replace_verifies);

/* TOS bits that routing may look at, on any kernel. */
#define REPLACE_TOS 0xfc
/* What a lookup leaves in the packet besides the dst. */
#define REPLACE_IPCB (IPSKB_DOREDIRECT | IPSKB_NOPOLICY)

static bool dst_valid(const struct dst_entry *dst)
{
	return READ_ONCE(dst->obsolete) == DST_OBSOLETE_FORCE_CHK;
}

/* A result that is the same for every packet with its key, as long as nothing changes. */
static bool rt_storable(const struct rtable *rt)
{
	return (rt->rt_type == RTN_UNICAST || rt->rt_type == RTN_LOCAL) && dst_valid(&rt->dst) &&
	       !rt->rt_pmtu && !rt->rt_mtu_locked && !(rt->rt_flags & RTCF_REDIRECTED) &&
	       !rt->dst.expires && !compat_uncached(rt);
}

static void store(const struct rtcache_key *key, u64 hash, struct rtable *rt, u32 gen, u32 conf, u32 flags)
{
	struct rtcache_value v = {
		.obj = &rt->dst, .gen = gen, .conf = conf, .flags = flags,
		.dev = rt->dst.dev->ifindex,
		.gateway = (__force u32)(rt->rt_gw_family == AF_INET ? rt->rt_gw4 : key->daddr),
	};

	if (!dst_hold_safe(&rt->dst))
		return;
	if (rtcache_insert(live_cache, key, hash, &v, jiffies))
		dst_release(&rt->dst);
}

/* Whether two results would treat a packet the same. */
static bool rt_same(const struct rtable *a, const struct rtable *b)
{
	return a == b || (a->dst.dev == b->dst.dev && a->rt_type == b->rt_type &&
			  a->rt_flags == b->rt_flags && a->rt_is_input == b->rt_is_input &&
			  a->rt_gw_family == b->rt_gw_family && a->rt_gw4 == b->rt_gw4 &&
			  a->rt_uses_gateway == b->rt_uses_gateway && a->rt_pmtu == b->rt_pmtu &&
			  a->dst.input == b->dst.input && a->dst.output == b->dst.output &&
			  dst_mtu(&a->dst) == dst_mtu(&b->dst));
}

/* --- input ------------------------------------------------------------------------------------ */

/* A setting of the device, and of all devices. */
#define DEV_CONF(in, attr) READ_ONCE((in)->cnf.data[IPV4_DEVCONF_##attr - 1])
#define ALL_CONF(net, attr) READ_ONCE((net)->ipv4.devconf_all->data[IPV4_DEVCONF_##attr - 1])
#define EITHER(in, net, attr) ((DEV_CONF(in, attr) | ALL_CONF(net, attr)) != 0)

/* The settings that a lookup reads and that bump no generation when they change. */
static u32 input_conf(const struct in_device *in, const struct net *net)
{
	return (u32)max(DEV_CONF(in, RP_FILTER), ALL_CONF(net, RP_FILTER)) << 4 |
	       EITHER(in, net, SEND_REDIRECTS) << 3 | EITHER(in, net, SHARED_MEDIA) << 2 |
	       EITHER(in, net, SRC_VMARK) << 1 | EITHER(in, net, ACCEPT_LOCAL);
}

static bool input_bypass(const struct sk_buff *skb, __be32 daddr, const struct net_device *dev,
			 const struct net *net, const struct net_state *state)
{
	return skb->protocol != htons(ETH_P_IP) || skb->_skb_refdst || secpath_exists(skb) ||
	       ipv4_is_multicast(daddr) || ipv4_is_lbcast(daddr) || ipv4_is_zeronet(daddr) ||
	       fib4_has_custom_rules(net) || READ_ONCE(state->multipath) || !state->id ||
	       (u32)dev->ifindex >> RTCACHE_IFINDEX_BITS;
}

/* Give the packet the entry's result. False: its reference could not be had. */
static bool input_take(struct sk_buff *skb, const struct rtcache_entry *e)
{
	struct dst_entry *dst = e->obj;

	if (static_branch_unlikely(&rtcache_axis_noref)) {
		skb_dst_set_noref(skb, dst);
	} else {
		if (!dst_hold_safe(dst))
			return false;
		skb_dst_set(skb, dst);
	}
	IPCB(skb)->flags |= e->flags;
	return true;
}

/* The packet has the cache's result: what would the kernel say? It gets that. */
static noinline int input_verify(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
				 struct net_device *dev, u32 gen, u16 before)
{
	struct rtable *ours = skb_rtable(skb);
	u16 flags = IPCB(skb)->flags;
	int ret;

	if (!dst_hold_safe(&ours->dst))
		return 0;
	skb_dst_drop(skb);
	IPCB(skb)->flags = before;
	ret = hook_stock_input(skb, daddr, saddr, tos, dev);
	/* Only at one generation do both have to be the same. */
	smp_rmb();
	if (rt_genid_ipv4(dev_net(dev)) == gen && dst_valid(&ours->dst)) {
		if (ret || IPCB(skb)->flags != flags || !rt_same(skb_rtable(skb), ours))
			stat_inc(in_differs);
		else
			stat_inc(in_verified);
	}
	ip_rt_put(ours);
	return ret;
}

static noinline int input_miss(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
			       struct net_device *dev, const struct rtcache_key *key, u64 hash, u32 gen,
			       u32 conf)
{
	u16 before = IPCB(skb)->flags;
	int ret;

	stat_inc(in_miss);
	ret = hook_stock_input(skb, daddr, saddr, tos, dev);
	/* Flags that were there already may not have come of this lookup. */
	if (!ret && !(before & REPLACE_IPCB) && rt_storable(skb_rtable(skb)))
		store(key, hash, skb_rtable(skb), gen, conf, IPCB(skb)->flags & REPLACE_IPCB);
	return ret;
}

int replace_input(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos, struct net_device *dev)
{
	const struct net *net = dev_net(dev);
	const struct net_state *state;
	const struct in_device *in;
	struct rtcache_entry *e;
	struct rtcache_key key;
	u32 gen, conf;
	u16 before;
	u64 hash;
	int ret = 0;

	rcu_read_lock();
	in = __in_dev_get_rcu(dev);
	state = net_state_of(net);
	if (unlikely(!static_branch_likely(&replace_caches) || !in ||
		     input_bypass(skb, daddr, dev, net, state))) {
		stat_inc(in_bypass);
		ret = hook_stock_input(skb, daddr, saddr, tos, dev);
		goto out;
	}
	gen = rt_genid_ipv4(net);
	smp_rmb(); /* what is looked up is not older */
	conf = input_conf(in, net);
	key = rtcache_key_make(daddr, saddr, state->id, skb->mark, 0,
			       rtcache_where(dev->ifindex, tos & REPLACE_TOS, 0));
	hash = rtcache_hash(&key, live_cache->seed);
	e = rtcache_find(live_cache, &key, hash);
	before = IPCB(skb)->flags;
	if (unlikely(!e || e->gen != gen || e->conf != conf || !dst_valid(e->obj) ||
		     !input_take(skb, e))) {
		ret = input_miss(skb, daddr, saddr, tos, dev, &key, hash, gen, conf);
		goto out;
	}
	rtcache_touch(live_cache, e, jiffies);
	stat_inc(in_hit);
	if (static_branch_unlikely(&replace_verifies))
		ret = input_verify(skb, daddr, saddr, tos, dev, gen, before);
out:
	rcu_read_unlock();
	return ret;
}

/* --- output ----------------------------------------------------------------------------------- */

/* @skb: somebody asks what the kernel would do, and gets to know it. */
static bool output_bypass(const struct net *net, const struct flowi4 *fl4, const struct sk_buff *skb,
			  const struct net_state *state)
{
	return skb || fl4->flowi4_flags || fl4->flowi4_tun_key.tun_id || fl4->flowi4_l3mdev ||
	       ipv4_is_multicast(fl4->daddr) || ipv4_is_lbcast(fl4->daddr) ||
	       ipv4_is_zeronet(fl4->daddr) || fib4_has_custom_rules(net) ||
	       READ_ONCE(state->multipath) || !state->id ||
	       (u32)fl4->flowi4_oif >> RTCACHE_IFINDEX_BITS ||
	       (fl4->flowi4_scope != RT_SCOPE_UNIVERSE && fl4->flowi4_scope != RT_SCOPE_LINK);
}

static bool output_storable(const struct rtable *rt, const struct fib_result *res)
{
	if (IS_ERR(rt) || !rt_storable(rt) || !res->fi || fib_info_num_path(res->fi) != 1)
		return false;
	/* Of several default routes the one is taken whose gateway answers. */
	return res->prefixlen || !res->table || res->table->tb_num_default <= 1;
}

static noinline struct rtable *output_miss(struct net *net, struct flowi4 *fl4, struct fib_result *res,
					   const struct rtcache_key *key, u64 hash, u32 gen)
{
	int oif = fl4->flowi4_oif;
	struct rtable *rt;

	stat_inc(out_miss);
	rt = hook_stock_output(net, fl4, res, NULL);
	/* A hit restores the source, and nothing else. */
	if (output_storable(rt, res) && fl4->daddr == key->daddr && fl4->flowi4_oif == oif)
		store(key, hash, rt, gen, 0, (__force u32)fl4->saddr);
	return rt;
}

/* As input_verify(), on a flow that is as it was. */
static noinline struct rtable *output_verify(struct net *net, struct flowi4 *fl4, struct fib_result *res,
					     struct rtable *ours, __be32 saddr, u32 gen)
{
	struct rtable *rt = hook_stock_output(net, fl4, res, NULL);

	smp_rmb();
	if (rt_genid_ipv4(net) == gen && dst_valid(&ours->dst)) {
		if (IS_ERR(rt) || fl4->saddr != saddr || !rt_same(rt, ours))
			stat_inc(out_differs);
		else
			stat_inc(out_verified);
	}
	ip_rt_put(ours);
	return rt;
}

struct rtable *replace_output(struct net *net, struct flowi4 *fl4, struct fib_result *res,
			      const struct sk_buff *skb)
{
	const struct net_state *state = net_state_of(net);
	struct rtcache_entry *e;
	struct rtcache_key key;
	struct rtable *rt;
	__be32 saddr;
	u64 hash;
	u32 gen;

	if (unlikely(!static_branch_likely(&replace_caches) || output_bypass(net, fl4, skb, state))) {
		stat_inc(out_bypass);
		return hook_stock_output(net, fl4, res, skb);
	}
	gen = rt_genid_ipv4(net);
	smp_rmb();
	key = rtcache_key_make(fl4->daddr, fl4->saddr, state->id, fl4->flowi4_mark,
			       from_kuid(&init_user_ns, fl4->flowi4_uid),
			       rtcache_where(fl4->flowi4_oif, fl4->flowi4_tos & REPLACE_TOS,
					     RTCACHE_OUTPUT | (fl4->flowi4_scope == RT_SCOPE_LINK ?
							       RTCACHE_LINK : 0)));
	hash = rtcache_hash(&key, live_cache->seed);
	e = rtcache_find(live_cache, &key, hash);
	if (unlikely(!e || e->gen != gen || !dst_valid(e->obj)))
		return output_miss(net, fl4, res, &key, hash, gen);
	rt = (struct rtable *)e->obj;
	saddr = (__force __be32)e->flags;
	if (unlikely(!dst_hold_safe(&rt->dst)))
		return output_miss(net, fl4, res, &key, hash, gen);
	rtcache_touch(live_cache, e, jiffies);
	stat_inc(out_hit);
	if (static_branch_unlikely(&replace_verifies))
		return output_verify(net, fl4, res, rt, saddr, gen);
	fl4->saddr = saddr;
	return rt;
}
