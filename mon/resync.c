// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/resync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "lib/err.h"

#define RESYNC_BUFFER 65536 /* the kernel fills at most 32 KiB at once */

static int resync_add(struct resync_keys *k, uint64_t key)
{
	if (k->nr == k->room) {
		size_t room = k->room ? 2 * k->room : 1024;
		uint64_t *keys = realloc(k->keys, room * sizeof(*keys));

		if (!keys)
			return -ENOMEM;
		k->keys = keys;
		k->room = room;
	}
	k->keys[k->nr++] = key;
	return 0;
}

static uint64_t resync_key(int ifindex, const uint8_t *addr, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull ^ (uint32_t)ifindex;

	for (size_t i = 0; i < len; i++)
		h = (h ^ addr[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

/* One neighbour: @p is behind the message's header. One without an address is none. */
static int resync_neigh(struct resync_keys *k, const uint8_t *p, size_t len)
{
	struct ndmsg nd;
	struct nlattr a;
	size_t step;

	if (len < sizeof(nd))
		return -EBADMSG;
	memcpy(&nd, p, sizeof(nd));
	for (step = NLMSG_ALIGN(sizeof(nd)); step <= len; step = NLA_ALIGN(a.nla_len)) {
		p += step;
		len -= step;
		if (len < sizeof(a))
			return 0;
		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return -EBADMSG;
		if ((a.nla_type & NLA_TYPE_MASK) == NDA_DST)
			return resync_add(k, resync_key(nd.ndm_ifindex, p + sizeof(a),
							a.nla_len - sizeof(a)));
	}
	return 0;
}

static int resync_error(const uint8_t *p, size_t len)
{
	int error;

	if (len < sizeof(error))
		return -EBADMSG;
	memcpy(&error, p, sizeof(error));
	return error < 0 ? error : -EBADMSG;
}

int resync_take(struct resync_keys *k, const void *messages, size_t len)
{
	const uint8_t *p = messages;

	while (len >= sizeof(struct nlmsghdr)) {
		size_t step, body;
		struct nlmsghdr h;
		int ret = 0;

		memcpy(&h, p, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len)
			return -EBADMSG;
		body = h.nlmsg_len - sizeof(h);
		if (h.nlmsg_type == NLMSG_DONE)
			return 0;
		if (h.nlmsg_type == NLMSG_ERROR)
			return resync_error(p + sizeof(h), body);
		if (h.nlmsg_type == RTM_NEWNEIGH)
			ret = resync_neigh(k, p + sizeof(h), body);
		if (ret)
			return ret;
		step = NLMSG_ALIGN(h.nlmsg_len);
		if (step > len)
			step = len;
		p += step;
		len -= step;
	}
	return 1;
}

static int resync_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct resync_seen resync_count(struct resync_keys *k)
{
	struct resync_seen seen = {.dumped = k->nr};

	if (k->nr)
		qsort(k->keys, k->nr, sizeof(*k->keys), resync_order);
	for (size_t i = 0; i < k->nr; i++)
		seen.distinct += !i || k->keys[i] != k->keys[i - 1];
	free(k->keys);
	memset(k, 0, sizeof(*k));
	return seen;
}

static int resync_ask(struct resync *r)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};
	struct {
		struct nlmsghdr h;
		struct ndmsg nd;
	} ask = {
		.h = {.nlmsg_len = sizeof(ask),
		      .nlmsg_type = RTM_GETNEIGH,
		      .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.nd = {.ndm_family = families[r->family]},
	};

	return send(r->fd, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask) ? 0 : -errno;
}

static void resync_end(struct resync *r, int ret)
{
	struct err err;

	if (ret)
		err_set(&err, ret, "cannot list the neighbours: %s", strerror(-ret));
	resync_stop(r);
	r->done(r->ctx, r->seen, ret ? &err : NULL);
}

static void resync_on_readable(evutil_socket_t fd, short what, void *arg)
{
	static uint8_t buffer[RESYNC_BUFFER];
	struct resync *r = arg;
	ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
	int ret;

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	ret = n < 0 ? -errno : resync_take(&r->keys, buffer, (size_t)n);
	if (ret == 1)
		return;
	if (!ret) {
		r->seen[r->family] = resync_count(&r->keys);
		if (!r->family++ && !(ret = resync_ask(r)))
			return;
	}
	resync_end(r, ret);
}

int resync_start(struct resync *r, struct event_base *base, resync_done_fn *done, void *ctx,
		 struct err *err)
{
	int ret;

	*r = (struct resync){.done = done, .ctx = ctx};
	r->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	ret = r->fd < 0 ? -errno : resync_ask(r);
	if (!ret) {
		r->readable = event_new(base, r->fd, EV_READ | EV_PERSIST, resync_on_readable, r);
		if (r->readable && !event_add(r->readable, NULL))
			return 0;
		ret = -ENOMEM;
	}
	resync_stop(r);
	return err_set(err, ret, "cannot list the neighbours: %s", strerror(-ret));
}

void resync_stop(struct resync *r)
{
	if (r->readable)
		event_free(r->readable);
	if (r->fd >= 0)
		close(r->fd);
	free(r->keys.keys);
	memset(&r->keys, 0, sizeof(r->keys));
	r->readable = NULL;
	r->fd = -1;
}
