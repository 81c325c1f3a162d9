// SPDX-License-Identifier: GPL-2.0-or-later
/* Links, addresses, neighbours: mon/rtnl.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "lib/err.h"
#include "mon/rtnl.h"
#include "mon/rtnl_part.h"

struct rtnl_find_take {
	const uint8_t *mac;
	struct rtnl_link *link;
	unsigned found;
};

static void rtnl_find_take(void *ctx, const struct nlmsghdr *h)
{
	struct rtnl_find_take *t = ctx;
	struct nlmsghdr *m = (struct nlmsghdr *)(uintptr_t)h;
	struct nlattr *mac, *name;
	struct ifinfomsg *i;

	if (h->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(m, sizeof(*i)))
		return;
	mac = nlmsg_find_attr(m, sizeof(*i), IFLA_ADDRESS);
	name = nlmsg_find_attr(m, sizeof(*i), IFLA_IFNAME);
	if (!mac || nla_len(mac) != 6 || memcmp(nla_data(mac), t->mac, 6) != 0 || !name)
		return;
	i = nlmsg_data(m);
	t->link->index = i->ifi_index;
	t->link->flags = i->ifi_flags;
	memcpy(t->link->mac, t->mac, 6);
	nla_strlcpy(t->link->name, name, sizeof(t->link->name));
	t->found++;
}

int rtnl_find(struct rtnl *r, const uint8_t mac[6], struct rtnl_link *link, struct err *err)
{
	struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
	struct rtnl_find_take t = {.mac = mac, .link = link};
	struct nl_msg *msg = rtnl_msg(RTM_GETLINK, NLM_F_DUMP, &body, sizeof(body));
	int ret = msg ? rtnl_ask(r, msg, rtnl_find_take, &t) : -ENOMEM;

	if (ret)
		return err_set(err, ret, "cannot list the interfaces: %s", strerror(-ret));
	if (t.found == 1)
		return 0;
	return err_set(err, -ENODEV,
		       "%s with the address %02x:%02x:%02x:%02x:%02x:%02x; give each network "
		       "device of the host an address of its own and name it in the configuration",
		       t.found ? "more than one interface" : "no interface", mac[0], mac[1], mac[2],
		       mac[3], mac[4], mac[5]);
}

int rtnl_set_up(struct rtnl *r, int index, bool up, struct err *err)
{
	struct ifinfomsg body = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = index,
		.ifi_flags = up ? IFF_UP : 0,
		.ifi_change = IFF_UP,
	};
	struct nl_msg *msg = rtnl_msg(RTM_NEWLINK, NLM_F_ACK, &body, sizeof(body));
	int ret = msg ? rtnl_ask(r, msg, NULL, NULL) : -ENOMEM;

	return ret ? err_set(err, ret, "cannot set interface %d %s: %s", index, up ? "up" : "down",
			     strerror(-ret))
		   : 0;
}

int rtnl_addr_parse(struct rtnl_addr *a, const char *text, struct err *err)
{
	char addr[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	unsigned len;
	char rest;

	memset(a, 0, sizeof(*a));
	if (!slash || (size_t)(slash - text) >= sizeof(addr) ||
	    sscanf(slash + 1, "%3u%c", &len, &rest) != 1)
		return err_set(err, -EINVAL,
			       "\"%.60s\" is no address with a prefix length; write it like "
			       "198.18.0.1/16",
			       text);
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	a->family = strchr(addr, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a->family, addr, a->addr) != 1 || len > (a->family == AF_INET ? 32u : 128u))
		return err_set(err, -EINVAL,
			       "\"%.60s\" is no address with a prefix length; write it like "
			       "198.18.0.1/16",
			       text);
	a->prefix_len = (uint8_t)len;
	return 0;
}

static int rtnl_addr_change(struct rtnl *r, int type, int flags, int index,
			    const struct rtnl_addr *a)
{
	struct ifaddrmsg body = {
		.ifa_family = a->family,
		.ifa_prefixlen = a->prefix_len,
		.ifa_index = (uint32_t)index,
	};
	int len = a->family == AF_INET ? 4 : 16;
	struct nl_msg *msg = rtnl_msg(type, NLM_F_ACK | flags, &body, sizeof(body));
	uint32_t host, mask, nodad = IFA_F_NODAD;

	if (!msg || nla_put(msg, IFA_LOCAL, len, a->addr) ||
	    nla_put(msg, IFA_ADDRESS, len, a->addr))
		goto no_memory;
	if (a->family == AF_INET && a->prefix_len < 31) {
		memcpy(&host, a->addr, sizeof(host));
		mask = htonl(a->prefix_len ? ~0u << (32 - a->prefix_len) : 0);
		host |= ~mask;
		if (nla_put(msg, IFA_BROADCAST, sizeof(host), &host))
			goto no_memory;
	}
	if (a->family == AF_INET6 && nla_put(msg, IFA_FLAGS, sizeof(nodad), &nodad))
		goto no_memory;
	return rtnl_ask(r, msg, NULL, NULL);
no_memory:
	if (msg)
		nlmsg_free(msg);
	return -ENOMEM;
}

int rtnl_addr_add(struct rtnl *r, int index, const struct rtnl_addr *a, struct err *err)
{
	int ret = rtnl_addr_change(r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, a);

	if (ret == -EEXIST)
		return 1;
	return ret ? err_set(err, ret, "cannot give interface %d its address: %s%s", index,
			     strerror(-ret),
			     a->family == AF_INET6 && ret == -EACCES
				     ? "; IPv6 is switched off there (sysctl disable_ipv6)"
				     : "")
		   : 0;
}

int rtnl_addr_del(struct rtnl *r, int index, const struct rtnl_addr *a, struct err *err)
{
	int ret = rtnl_addr_change(r, RTM_DELADDR, 0, index, a);

	return ret ? err_set(err, ret, "cannot take its address from interface %d: %s", index,
			     strerror(-ret))
		   : 0;
}

struct rtnl_route_take {
	int index;
	bool found;
};

static void rtnl_route_take(void *ctx, const struct nlmsghdr *h)
{
	struct rtnl_route_take *t = ctx;
	struct nlmsghdr *m = (struct nlmsghdr *)(uintptr_t)h;
	struct nlattr *oif;
	struct rtmsg *rt;

	if (h->nlmsg_type != RTM_NEWROUTE || !nlmsg_valid_hdr(m, sizeof(*rt)))
		return;
	rt = nlmsg_data(m);
	oif = nlmsg_find_attr(m, sizeof(*rt), RTA_OIF);
	if (!rt->rtm_dst_len && rt->rtm_type == RTN_UNICAST && oif &&
	    (int)nla_get_u32(oif) == t->index)
		t->found = true;
}

int rtnl_has_default_route(struct rtnl *r, int index, struct err *err)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};
	struct rtnl_route_take t = {.index = index};

	for (unsigned i = 0; i < 2; i++) {
		struct rtmsg body = {.rtm_family = families[i]};
		struct nl_msg *msg = rtnl_msg(RTM_GETROUTE, NLM_F_DUMP, &body, sizeof(body));
		int ret = msg ? rtnl_ask(r, msg, rtnl_route_take, &t) : -ENOMEM;

		if (ret)
			return err_set(err, ret, "cannot list the routes: %s", strerror(-ret));
	}
	return t.found;
}
