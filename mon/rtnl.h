/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What mon asks and tells the kernel over rtnetlink. One socket, requests one after the other. */
#ifndef MON_RTNL_H
#define MON_RTNL_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

struct err;
struct neightbl;
struct nl_sock;

struct rtnl {
	struct nl_sock *sk;
};

int rtnl_open(struct rtnl *r, struct err *err);
void rtnl_close(struct rtnl *r);

struct rtnl_link {
	int index;
	char name[IF_NAMESIZE];
	unsigned flags; /* IFF_UP... */
	uint8_t mac[6];
};

/* The interface with that address; -ENODEV. */
int rtnl_find(struct rtnl *r, const uint8_t mac[6], struct rtnl_link *link, struct err *err);
int rtnl_set_up(struct rtnl *r, int index, bool up, struct err *err);

struct rtnl_addr {
	uint8_t family, prefix_len;
	uint8_t addr[16];
};

/* "198.18.0.1/16" or an IPv6 prefix; -EINVAL with the remedy. */
int rtnl_addr_parse(struct rtnl_addr *a, const char *text, struct err *err);
/*
 * Without duplicate address detection: an address of IPv6 can be used at once. Returns 1 if it was
 * there already (then it is not ours to remove).
 */
int rtnl_addr_add(struct rtnl *r, int index, const struct rtnl_addr *a, struct err *err);
int rtnl_addr_del(struct rtnl *r, int index, const struct rtnl_addr *a, struct err *err);

/*
 * A route in the main table. @type: "via" with @via, the gateway, or "blackhole", "unreachable",
 * "prohibit" without. -EINVAL with the remedy.
 */
struct rtnl_route {
	struct rtnl_addr prefix;
	uint8_t type; /* RTN_UNICAST... */
	uint8_t via[16];
};
int rtnl_route_parse(struct rtnl_route *r, const char *prefix, const char *type, const char *via,
		     struct err *err);
int rtnl_route_add(struct rtnl *r, const struct rtnl_route *route, struct err *err);
int rtnl_route_del(struct rtnl *r, const struct rtnl_route *route, struct err *err);

/* True if a default route of either family leaves through @index. Negative errno. */
int rtnl_has_default_route(struct rtnl *r, int index, struct err *err);

struct rtnl_stats {
	uint64_t rx_pkts, rx_dropped, rx_errors, rx_missed;
	uint64_t tx_pkts, tx_dropped, tx_errors;
};
int rtnl_stats(struct rtnl *r, int index, struct rtnl_stats *s, struct err *err);

/* Counters and settings of the neighbour table of AF_INET or AF_INET6. */
int rtnl_neightbl(struct rtnl *r, int family, struct neightbl *t, struct err *err);

/*
 * Neighbours by device of this network namespace, from a dump, which misses and repeats entries
 * while the table changes.
 */
struct rtnl_devs {
	struct rtnl_dev {
		uint32_t entries[2]; /* IPv4, IPv6 */
	} * by_index;
	unsigned room;
};
int rtnl_devs(struct rtnl *r, struct rtnl_devs *d, struct err *err);
void rtnl_devs_free(struct rtnl_devs *d);

struct rtnl_top {
	int index;
	struct rtnl_dev dev;
};
/* The @max devices with the most neighbours, largest first; returns how many there are. */
unsigned rtnl_devs_top(const struct rtnl_devs *d, struct rtnl_top *top, unsigned max);

#endif
