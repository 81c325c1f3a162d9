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
#include "kmod/own.h"
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

/* Two settings that follow each other, with those of the device and of all devices together. */
#define BOTH(in, all, first) \
	(READ_ONCE(*(const u64 *)&(in)->data[IPV4_DEVCONF_##first - 1]) | \
	 READ_ONCE(*(const u64 *)&(all)->data[IPV4_DEVCONF_##first - 1]))

/*
 * The settings that a lookup reads and that bump no generation when they change, two bits each.
 * CONF_ODD: one of them has no value that is known, so that two bits do not tell.
 */
#define CONF_ODD U32_MAX
#define CONF_KNOWN 0x0000000300000003ull
static __always_inline u32 input_conf(const struct in_device *dev, const struct net *net)
{
	const struct ipv4_devconf *in = &dev->cnf, *all = net->ipv4.devconf_all;
	u64 redirects_shared = BOTH(in, all, SEND_REDIRECTS), local_vmark = BOTH(in, all, ACCEPT_LOCAL);
	u32 filter = READ_ONCE(in->data[IPV4_DEVCONF_RP_FILTER - 1]);
	u32 filter_all = READ_ONCE(all->data[IPV4_DEVCONF_RP_FILTER - 1]);
	u64 conf = redirects_shared | local_vmark << 2;

	BUILD_BUG_ON(IPV4_DEVCONF_SHARED_MEDIA != IPV4_DEVCONF_SEND_REDIRECTS + 1);
	BUILD_BUG_ON(IPV4_DEVCONF_SRC_VMARK != IPV4_DEVCONF_ACCEPT_LOCAL + 1);
	if (unlikely((redirects_shared | local_vmark | filter | filter_all) & ~CONF_KNOWN))
		return CONF_ODD;
	return (u32)(conf | conf >> 28) | filter << 8 | filter_all << 10;
}

static __always_inline struct rtcache_key input_key(const struct sk_buff *skb, __be32 daddr, __be32 saddr,
						    u8 tos, const struct net_device *dev)
{
	/* There is no uid: the whole interface index has room. */
	return rtcache_key_make(daddr, saddr, (u32)dev_net(dev)->net_cookie, skb->mark, dev->ifindex,
				rtcache_where(0, tos & REPLACE_TOS, 0));
}

/* What depends on more than the key. Results that are never stored need no look here. */
static __always_inline bool input_bypass(const struct sk_buff *skb, const struct net *net)
{
	return skb->protocol != htons(ETH_P_IP) || skb->_skb_refdst || secpath_exists(skb) ||
	       fib4_has_custom_rules(net) || net_is_uncacheable(net);
}

/* Give the packet the entry's result. False: its reference could not be had. */
static bool input_take(struct sk_buff *skb, const struct rtcache_entry *e)
{
	struct dst_entry *dst = e->obj;

	if (!dst)
		unreachable(); /* the compiler then knows all that follows for NULL away */
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

/* There is a hit: give the packet what the kernel says, and see whether the cache's result is the same. */
static noinline int input_verify(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
				 struct net_device *dev, const struct rtcache_entry *e)
{
	const struct rtable *ours = e->obj;
	u32 gen = e->gen, flags = e->flags | IPCB(skb)->flags;
	int ret;

	stat_inc(in_hit);
	ret = hook_stock_input(skb, daddr, saddr, tos, dev);
	/* Only at one generation do both have to be the same. */
	smp_rmb();
	if (rt_genid_ipv4(dev_net(dev)) != gen || !dst_valid(&ours->dst))
		return ret;
	if (ret || IPCB(skb)->flags != flags || !rt_same(skb_rtable(skb), ours))
		stat_inc(in_differs);
	else
		stat_inc(in_verified);
	return ret;
}

/* The key is made once more: one that has an address costs every hit more than that. */
static noinline int input_miss(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
			       struct net_device *dev)
{
	u32 gen = rt_genid_ipv4(dev_net(dev)), conf;
	u16 before = IPCB(skb)->flags;
	struct rtcache_key key;
	int ret;

	smp_rmb(); /* what is looked up is not older */
	conf = input_conf(__in_dev_get_rcu(dev), dev_net(dev));
	stat_inc(in_miss);
	ret = hook_stock_input(skb, daddr, saddr, tos, dev);
	/* Flags that were there already may not have come of this lookup. */
	if (ret || before & REPLACE_IPCB || conf == CONF_ODD || !rt_storable(skb_rtable(skb)))
		return ret;
	key = input_key(skb, daddr, saddr, tos, dev);
	store(&key, rtcache_hash(&key, live_cache->seed), skb_rtable(skb), gen, conf, IPCB(skb)->flags & REPLACE_IPCB);
	return 0;
}

/*
 * Who calls it holds RCU: the packet may be given a dst that it only borrows. So the entry stays what
 * it is until the return, and the dst beyond.
 */
int replace_input(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos, struct net_device *dev)
{
	const struct in_device *in = __in_dev_get_rcu(dev);
	const struct net *net = dev_net(dev);
	struct rtcache_entry *e;
	struct rtcache_key key;

	if (unlikely(!static_branch_likely(&replace_caches) || !in || input_bypass(skb, net))) {
		stat_inc(in_bypass);
		return hook_stock_input(skb, daddr, saddr, tos, dev);
	}
	key = input_key(skb, daddr, saddr, tos, dev);
	e = rtcache_find(live_cache, &key, rtcache_hash(&key, live_cache->seed));
	if (unlikely(!e || e->gen != rt_genid_ipv4(net) || e->conf != input_conf(in, net) ||
		     !dst_valid(e->obj)))
		return input_miss(skb, daddr, saddr, tos, dev);
	rtcache_touch(live_cache, e, jiffies);
	if (static_branch_unlikely(&replace_verifies))
		return input_verify(skb, daddr, saddr, tos, dev, e);
	if (unlikely(!input_take(skb, e)))
		return input_miss(skb, daddr, saddr, tos, dev);
	stat_inc(in_hit);
	return 0;
}

/* --- output ----------------------------------------------------------------------------------- */

/* @skb: somebody asks what the kernel would do, and gets to know it. */
static __always_inline bool output_bypass(const struct net *net, const struct flowi4 *fl4,
					  const struct sk_buff *skb)
{
	return skb || fl4->flowi4_flags || fl4->flowi4_tun_key.tun_id || fl4->flowi4_l3mdev ||
	       fib4_has_custom_rules(net) || net_is_uncacheable(net) ||
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

static __always_inline struct rtcache_key output_key(const struct net *net, const struct flowi4 *fl4)
{
	unsigned int how = RTCACHE_OUTPUT | (fl4->flowi4_scope == RT_SCOPE_LINK ? RTCACHE_LINK : 0);

	return rtcache_key_make(fl4->daddr, fl4->saddr, (u32)net->net_cookie, fl4->flowi4_mark,
				__kuid_val(fl4->flowi4_uid),
				rtcache_where(fl4->flowi4_oif, fl4->flowi4_tos & REPLACE_TOS, how));
}

static noinline struct rtable *output_miss(struct net *net, struct flowi4 *fl4, struct fib_result *res,
					   u64 hash)
{
	struct rtcache_key key = output_key(net, fl4); /* of the flow as it was asked for */
	u32 gen = rt_genid_ipv4(net);
	int oif = fl4->flowi4_oif;
	struct rtable *rt;

	smp_rmb();
	stat_inc(out_miss);
	rt = hook_stock_output(net, fl4, res, NULL);
	/* A hit restores the source, and nothing else. */
	if (output_storable(rt, res) && fl4->daddr == key.daddr && fl4->flowi4_oif == oif)
		store(&key, hash, rt, gen, 0, (__force u32)fl4->saddr);
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

/* There is an entry: what is this CPU's own result for it? */
static noinline struct rtable *output_own(struct net *net, struct flowi4 *fl4, struct fib_result *res)
{
	struct rtcache_key key = output_key(net, fl4);
	u64 hash = rtcache_hash(&key, live_cache->seed);
	u32 gen = rt_genid_ipv4(net);
	int oif = fl4->flowi4_oif;
	struct rtable *rt;
	__be32 saddr;

	smp_rmb();
	rt = own_get(&key, hash, gen, &saddr);
	if (rt) {
		stat_inc(out_hit);
		if (static_branch_unlikely(&replace_verifies))
			return output_verify(net, fl4, res, rt, saddr, gen);
		fl4->saddr = saddr;
		return rt;
	}
	stat_inc(out_own_miss);
	rt = hook_stock_output(net, fl4, res, NULL);
	if (output_storable(rt, res) && fl4->daddr == key.daddr && fl4->flowi4_oif == oif)
		own_put(&key, hash, gen, rt, fl4->saddr);
	return rt;
}

struct rtable *replace_output(struct net *net, struct flowi4 *fl4, struct fib_result *res,
			      const struct sk_buff *skb)
{
	struct rtcache_entry *e;
	struct rtcache_key key;
	struct rtable *rt;
	u64 hash;

	if (unlikely(!static_branch_likely(&replace_caches) || output_bypass(net, fl4, skb))) {
		stat_inc(out_bypass);
		return hook_stock_output(net, fl4, res, skb);
	}
	key = output_key(net, fl4);
	hash = rtcache_hash(&key, live_cache->seed);
	e = rtcache_find(live_cache, &key, hash);
	if (unlikely(!e || e->gen != rt_genid_ipv4(net) || !dst_valid(e->obj)))
		return output_miss(net, fl4, res, hash);
	rtcache_touch(live_cache, e, jiffies);
	if (static_branch_unlikely(&rtcache_axis_percpu_dst))
		return output_own(net, fl4, res);
	rt = (struct rtable *)e->obj;
	if (unlikely(!dst_hold_safe(&rt->dst)))
		return output_miss(net, fl4, res, hash);
	stat_inc(out_hit);
	if (static_branch_unlikely(&replace_verifies))
		return output_verify(net, fl4, res, rt, (__force __be32)e->flags, e->gen);
	fl4->saddr = (__force __be32)e->flags;
	return rt;
}
