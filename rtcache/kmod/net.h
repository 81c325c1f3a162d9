/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cache has to know of each network namespace, and what it does when devices go.
 */
#ifndef KMOD_NET_H
#define KMOD_NET_H

#include <linux/notifier.h>
#include <net/netns/generic.h>

struct net_state {
	u32 id; /* no two namespaces have had the same; 0: there were too many, and it is not cached */
	/*
	 * Once it has had a route with several paths it is not cached any more: which path a packet
	 * takes depends on more than the key, and neither result nor packet tell that it was so.
	 */
	bool multipath;
	struct notifier_block fib;
	struct net *net;
};

extern unsigned int net_state_id;

/* Under RCU. */
static inline const struct net_state *net_state_of(const struct net *net)
{
	return net_generic(net, net_state_id);
}

/* The cache must be there. 0, or a negative errno after a message. */
int net_init(void);
void net_exit(void);

#endif
