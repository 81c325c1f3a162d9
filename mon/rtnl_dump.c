// SPDX-License-Identifier: GPL-2.0-or-later
/* Dumps of the neighbour tables: mon/rtnl.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "lib/err.h"
#include "mon/rtnl.h"
#include "mon/rtnl_part.h"

static int rtnl_dump(struct rtnl *r, int family, rtnl_take_fn *take, void *ctx)
{
	struct ndmsg body = {.ndm_family = (uint8_t)family};
	struct nl_msg *msg = rtnl_msg(RTM_GETNEIGH, NLM_F_DUMP, &body, sizeof(body));

	return msg ? rtnl_ask(r, msg, take, ctx) : -ENOMEM;
}

#define RTNL_INDEX_MAX (1 << 20)

struct rtnl_devs_take {
	struct rtnl_devs *d;
	unsigned family; /* 0: IPv4, 1: IPv6 */
	int ret;
};

static int rtnl_devs_grow(struct rtnl_devs *d, unsigned index)
{
	unsigned room = d->room ? d->room : 64;
	struct rtnl_dev *list;

	while (room <= index)
		room *= 2;
	list = realloc(d->by_index, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memset(list + d->room, 0, (room - d->room) * sizeof(*list));
	d->by_index = list;
	d->room = room;
	return 0;
}

static void rtnl_devs_take(void *ctx, const struct nlmsghdr *h)
{
	struct nlmsghdr *m = (struct nlmsghdr *)(uintptr_t)h;
	struct rtnl_devs_take *t = ctx;
	int index;

	if (h->nlmsg_type != RTM_NEWNEIGH || !nlmsg_valid_hdr(m, sizeof(struct ndmsg)))
		return;
	index = ((struct ndmsg *)nlmsg_data(m))->ndm_ifindex;
	if (index <= 0 || index >= RTNL_INDEX_MAX)
		return;
	if ((unsigned)index >= t->d->room && rtnl_devs_grow(t->d, (unsigned)index)) {
		t->ret = -ENOMEM;
		return;
	}
	t->d->by_index[index].entries[t->family]++;
}

int rtnl_devs(struct rtnl *r, struct rtnl_devs *d, struct err *err)
{
	static const int families[] = {AF_INET, AF_INET6};

	if (d->room)
		memset(d->by_index, 0, d->room * sizeof(*d->by_index));
	for (unsigned i = 0; i < 2; i++) {
		struct rtnl_devs_take t = {.d = d, .family = i};
		int ret = rtnl_dump(r, families[i], rtnl_devs_take, &t);

		if (!ret)
			ret = t.ret;
		if (ret)
			return err_set(err, ret, "cannot list the neighbours: %s", strerror(-ret));
	}
	return 0;
}

void rtnl_devs_free(struct rtnl_devs *d)
{
	free(d->by_index);
	memset(d, 0, sizeof(*d));
}

unsigned rtnl_devs_top(const struct rtnl_devs *d, struct rtnl_top *top, unsigned max)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < d->room; i++) {
		struct rtnl_top one = {(int)i, d->by_index[i]};
		uint64_t sum = (uint64_t)one.dev.entries[0] + one.dev.entries[1];
		unsigned at = nr;

		while (at &&
		       sum > (uint64_t)top[at - 1].dev.entries[0] + top[at - 1].dev.entries[1])
			at--;
		if (!sum || at == max)
			continue;
		nr += nr < max;
		memmove(&top[at + 1], &top[at], (nr - 1 - at) * sizeof(*top));
		top[at] = one;
	}
	return nr;
}
