// SPDX-License-Identifier: GPL-2.0-or-later
/* Routes: mon/rtnl.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "lib/err.h"
#include "mon/rtnl.h"
#include "mon/rtnl_part.h"

static const struct {
	const char *name;
	uint8_t type;
} rtnl_route_types[] = {
	{"via", RTN_UNICAST},
	{"blackhole", RTN_BLACKHOLE},
	{"unreachable", RTN_UNREACHABLE},
	{"prohibit", RTN_PROHIBIT},
};

static size_t rtnl_addr_len(const struct rtnl_addr *a)
{
	return a->family == AF_INET ? 4 : 16;
}

/* The kernel refuses an IPv4 prefix with bits beyond its length and cuts an IPv6 one. */
static bool rtnl_is_prefix(const struct rtnl_addr *a)
{
	for (unsigned bit = a->prefix_len; bit < 8 * rtnl_addr_len(a); bit++)
		if (a->addr[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

int rtnl_route_parse(struct rtnl_route *r, const char *prefix, const char *type, const char *via,
		     struct err *err)
{
	int ret = rtnl_addr_parse(&r->prefix, prefix ? prefix : "", err);

	if (ret)
		return ret;
	if (!rtnl_is_prefix(&r->prefix))
		return err_set(err, -EINVAL,
			       "%.60s has bits set beyond its prefix length: clear them", prefix);
	r->type = RTN_UNSPEC;
	for (unsigned i = 0; i < sizeof(rtnl_route_types) / sizeof(*rtnl_route_types); i++)
		if (type && !strcmp(type, rtnl_route_types[i].name))
			r->type = rtnl_route_types[i].type;
	if (r->type == RTN_UNSPEC)
		return err_set(err, -EINVAL,
			       "a route's \"type\" is via, blackhole, unreachable or prohibit");
	if (r->type == RTN_UNICAST ? !via || inet_pton(r->prefix.family, via, r->via) != 1
				   : via != NULL)
		return err_set(err, -EINVAL,
			       "a route of the type via, and no other, has \"via\": the address of "
			       "a gateway of the family of %.60s",
			       prefix);
	return 0;
}

static int rtnl_route_change(struct rtnl *r, int type, int flags, const struct rtnl_route *route)
{
	struct rtmsg body = {
		.rtm_family = route->prefix.family,
		.rtm_dst_len = route->prefix.prefix_len,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = route->type,
	};
	int len = (int)rtnl_addr_len(&route->prefix);
	struct nl_msg *msg = rtnl_msg(type, NLM_F_ACK | flags, &body, sizeof(body));

	if (!msg || nla_put(msg, RTA_DST, len, route->prefix.addr) ||
	    (route->type == RTN_UNICAST && nla_put(msg, RTA_GATEWAY, len, route->via))) {
		if (msg)
			nlmsg_free(msg);
		return -ENOMEM;
	}
	return rtnl_ask(r, msg, NULL, NULL);
}

static int rtnl_route_failed(const char *what, const struct rtnl_route *route, int ret,
			     const char *hint, struct err *err)
{
	char prefix[INET6_ADDRSTRLEN];

	inet_ntop(route->prefix.family, route->prefix.addr, prefix, sizeof(prefix));
	return err_set(err, ret, "cannot %s the route to %s/%u: %s%s", what, prefix,
		       route->prefix.prefix_len, strerror(-ret), hint);
}

int rtnl_route_add(struct rtnl *r, const struct rtnl_route *route, struct err *err)
{
	int ret = rtnl_route_change(r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);

	if (!ret)
		return 0;
	/* Whose it is cannot be told, so it cannot be put back: the caller must choose. */
	if (ret == -EEXIST)
		return rtnl_route_failed("add", route, -EINVAL,
					 ": there is one already; name another prefix", err);
	return rtnl_route_failed("add", route, ret,
				 route->type == RTN_UNICAST
					 ? ": the gateway must be inside a prefix of an interface"
					 : "",
				 err);
}

int rtnl_route_del(struct rtnl *r, const struct rtnl_route *route, struct err *err)
{
	int ret = rtnl_route_change(r, RTM_DELROUTE, 0, route);

	return ret ? rtnl_route_failed("remove", route, ret, "", err) : 0;
}
