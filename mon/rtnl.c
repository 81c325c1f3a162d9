// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/rtnl.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "lib/err.h"
#include "mon/neightbl.h"
#include "mon/rtnl_part.h"

int rtnl_open(struct rtnl *r, struct err *err)
{
	int ret;

	r->sk = nl_socket_alloc();
	if (!r->sk)
		return err_set(err, -ENOMEM, "no memory for a netlink socket");
	nl_socket_disable_auto_ack(r->sk);
	ret = nl_connect(r->sk, NETLINK_ROUTE);
	if (!ret)
		ret = nl_socket_set_msg_buf_size(r->sk, 65536);
	if (!ret)
		return 0;
	rtnl_close(r);
	return err_set(err, -EIO, "cannot open a netlink socket: %s", nl_geterror(ret));
}

void rtnl_close(struct rtnl *r)
{
	if (r->sk)
		nl_socket_free(r->sk);
	r->sk = NULL;
}

/* Netlink answers that one request gathers; `ret` is what its end or its error message said. */
struct rtnl_gather {
	rtnl_take_fn *take;
	void *ctx;
	int ret;
	bool ended;
};

static int rtnl_on_valid(struct nl_msg *msg, void *arg)
{
	struct rtnl_gather *g = arg;
	struct nlmsghdr *h = nlmsg_hdr(msg);

	g->take(g->ctx, h);
	if (!(h->nlmsg_flags & NLM_F_MULTI)) {
		g->ended = true;
		return NL_STOP;
	}
	return NL_OK;
}

static int rtnl_on_end(struct nl_msg *msg, void *arg)
{
	struct rtnl_gather *g = arg;

	(void)msg;
	g->ended = true;
	return NL_STOP;
}

static int rtnl_on_error(struct sockaddr_nl *who, struct nlmsgerr *e, void *arg)
{
	struct rtnl_gather *g = arg;

	(void)who;
	g->ret = e->error;
	g->ended = true;
	return NL_STOP;
}

static void rtnl_ignore(void *ctx, const struct nlmsghdr *h)
{
	(void)ctx;
	(void)h;
}

int rtnl_ask(struct rtnl *r, struct nl_msg *msg, rtnl_take_fn *take, void *ctx)
{
	struct rtnl_gather g = {.take = take ? take : rtnl_ignore, .ctx = ctx};
	struct nl_cb *cb = nl_cb_alloc(NL_CB_CUSTOM);
	int ret;

	if (!cb) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, rtnl_on_valid, &g);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, rtnl_on_end, &g);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, rtnl_on_end, &g);
	nl_cb_err(cb, NL_CB_CUSTOM, rtnl_on_error, &g);
	ret = nl_send_auto(r->sk, msg);
	nlmsg_free(msg);
	while (ret >= 0 && !g.ended)
		ret = nl_recvmsgs(r->sk, cb);
	nl_cb_put(cb);
	return ret < 0 && !g.ended ? -EIO : g.ret;
}

struct nl_msg *rtnl_msg(int type, int flags, const void *body, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	if (msg && nlmsg_append(msg, (void *)(uintptr_t)body, len, NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

struct rtnl_stats_take {
	struct rtnl_stats *s;
	bool found;
};

static void rtnl_stats_take(void *ctx, const struct nlmsghdr *h)
{
	struct rtnl_stats_take *t = ctx;
	struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)h,
					   sizeof(struct if_stats_msg), IFLA_STATS_LINK_64);
	struct rtnl_link_stats64 s = {};

	if (h->nlmsg_type != RTM_NEWSTATS || !a)
		return;
	memcpy(&s, nla_data(a), (size_t)nla_len(a) < sizeof(s) ? (size_t)nla_len(a) : sizeof(s));
	*t->s = (struct rtnl_stats){
		.rx_pkts = s.rx_packets,
		.rx_dropped = s.rx_dropped,
		.rx_errors = s.rx_errors,
		.rx_missed = s.rx_missed_errors,
		.tx_pkts = s.tx_packets,
		.tx_dropped = s.tx_dropped,
		.tx_errors = s.tx_errors,
	};
	t->found = true;
}

int rtnl_stats(struct rtnl *r, int index, struct rtnl_stats *s, struct err *err)
{
	struct if_stats_msg body = {
		.ifindex = (uint32_t)index,
		.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64),
	};
	struct rtnl_stats_take t = {.s = s};
	struct nl_msg *msg = rtnl_msg(RTM_GETSTATS, 0, &body, sizeof(body));
	int ret = msg ? rtnl_ask(r, msg, rtnl_stats_take, &t) : -ENOMEM;

	if (!ret && !t.found)
		ret = -ENODATA;
	return ret ? err_set(err, ret, "cannot read the counters of interface %d: %s", index,
			     strerror(-ret))
		   : 0;
}

struct rtnl_tbl_take {
	int family, found;
	struct neightbl *t;
};

static void rtnl_tbl_take(void *ctx, const struct nlmsghdr *h)
{
	struct rtnl_tbl_take *t = ctx;
	struct neightbl one;
	int ret;

	if (t->found)
		return;
	ret = neightbl_parse(&one, h, h->nlmsg_len);
	if (ret < 0)
		t->found = ret;
	if (ret != 1 || one.family != t->family)
		return;
	*t->t = one;
	t->found = 1;
}

int rtnl_neightbl(struct rtnl *r, int family, struct neightbl *tbl, struct err *err)
{
	struct ndtmsg body = {.ndtm_family = (uint8_t)family};
	struct rtnl_tbl_take t = {.family = family, .t = tbl};
	struct nl_msg *msg = rtnl_msg(RTM_GETNEIGHTBL, NLM_F_DUMP, &body, sizeof(body));
	int ret = msg ? rtnl_ask(r, msg, rtnl_tbl_take, &t) : -ENOMEM;

	if (!ret && t.found < 0)
		ret = t.found;
	if (!ret && !t.found)
		ret = -ENODATA;
	return ret ? err_set(err, ret, "cannot read the %s neighbour table's counters: %s",
			     family == AF_INET ? "IPv4" : "IPv6", strerror(-ret))
		   : 0;
}
