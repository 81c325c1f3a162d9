/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cache has to know of each network namespace, and what it does when devices go.
 */
#ifndef KMOD_NET_H
#define KMOD_NET_H

#include <linux/jump_label.h>
#include <linux/notifier.h>
#include <net/netns/generic.h>

struct net_state {
	bool uncacheable;
	struct notifier_block fib;
};

extern unsigned int net_state_id;
/* Some namespace is. */
DECLARE_STATIC_KEY_FALSE(net_any_uncacheable);

/*
 * Once a namespace has had a route with several paths it is not cached any more: which path a packet
 * takes depends on more than the key, and neither result nor packet tell that it was so. Neither is
 * one whose cookie is too great for the key.
 */
static __always_inline bool net_is_uncacheable(const struct net *net)
{
	const struct net_state *s;

	if (!static_branch_unlikely(&net_any_uncacheable))
		return false;
	s = net_generic(net, net_state_id);
	return READ_ONCE(s->uncacheable);
}

/* The cache must be there. 0, or a negative errno after a message. */
int net_init(void);
void net_exit(void);

#endif
