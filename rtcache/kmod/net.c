// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/fib_notifier.h>
#include <net/ip_fib.h>
#include <net/net_namespace.h>
#include <net/nexthop.h>

#include "kmod/live.h"
#include "kmod/net.h"

unsigned int net_state_id;
DEFINE_STATIC_KEY_FALSE(net_any_uncacheable);

/*
 * A key cannot be turned where routes are changed. Until it is, results may be stored that should not
 * be: they go then.
 */
static void net_turn_key(struct work_struct *work)
{
	static_branch_enable(&net_any_uncacheable);
	rtcache_flush(live_cache);
}
static DECLARE_WORK(net_key_work, net_turn_key);

static void net_refuse(struct net_state *s)
{
	WRITE_ONCE(s->uncacheable, true);
	schedule_work(&net_key_work);
}

/* Comes before the route can be found. */
static int net_fib_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_state *s = container_of(nb, struct net_state, fib);
	const struct fib_notifier_info *info = ptr;
	const struct fib_entry_notifier_info *entry;

	if (info->family != AF_INET ||
	    (event != FIB_EVENT_ENTRY_REPLACE && event != FIB_EVENT_ENTRY_APPEND &&
	     event != FIB_EVENT_ENTRY_ADD))
		return NOTIFY_DONE;
	entry = container_of(info, const struct fib_entry_notifier_info, info);
	if (entry->fi && fib_info_num_path(entry->fi) > 1)
		net_refuse(s);
	return NOTIFY_DONE;
}

static int __net_init net_begin(struct net *net)
{
	struct net_state *s = net_generic(net, net_state_id);

	if (net->net_cookie >> 32)
		net_refuse(s);
	s->fib.notifier_call = net_fib_event;
	return register_fib_notifier(net, &s->fib, NULL, NULL);
}

static void __net_exit net_end(struct net *net)
{
	struct net_state *s = net_generic(net, net_state_id);

	unregister_fib_notifier(net, &s->fib);
}

static struct pernet_operations net_ops = {
	.init = net_begin,
	.exit = net_end,
	.id = &net_state_id,
	.size = sizeof(struct net_state),
};

/*
 * A result holds its device, which cannot go before the last of them has. The event is repeated until
 * it does: what a lookup stores in between goes with the next.
 */
static int net_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_DOWN || event == NETDEV_UNREGISTER)
		live_flush_dev(dev->ifindex);
	return NOTIFY_DONE;
}

static struct notifier_block net_dev_notifier = { .notifier_call = net_dev_event };

int net_init(void)
{
	int ret = register_pernet_subsys(&net_ops);

	if (ret) {
		pr_err("cannot follow the routes of network namespaces (error %d)\n", ret);
		return ret;
	}
	ret = register_netdevice_notifier(&net_dev_notifier);
	if (ret) {
		pr_err("cannot follow network devices (error %d)\n", ret);
		unregister_pernet_subsys(&net_ops);
	}
	return ret;
}

void net_exit(void)
{
	unregister_netdevice_notifier(&net_dev_notifier);
	unregister_pernet_subsys(&net_ops);
	cancel_work_sync(&net_key_work);
}
