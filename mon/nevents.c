// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/nevents.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include "lib/err.h"

#define NEVENTS_BATCH 256

static int nevents_setup(int fd, int rcvbuf)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	int group = RTNLGRP_NEIGH;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf)) &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf)))
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -errno;
	return 0;
}

int nevents_open(struct nevents *n, int rcvbuf, struct err *err)
{
	int ret;

	memset(n, 0, sizeof(*n));
	n->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	ret = n->fd < 0 ? -errno : nevents_setup(n->fd, rcvbuf ? rcvbuf : NEVENTS_RCVBUF);
	if (!ret)
		return 0;
	nevents_close(n);
	return err_set(err, ret, "cannot listen to neighbour events: %s", strerror(-ret));
}

void nevents_close(struct nevents *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

static void nevents_overrun(struct nevents *n)
{
	uint32_t info[SK_MEMINFO_VARS] = {};
	socklen_t len = sizeof(info);

	n->overruns++;
	n->unsynced = true;
	if (!getsockopt(n->fd, SOL_SOCKET, SO_MEMINFO, info, &len)) {
		n->lost += info[SK_MEMINFO_DROPS] - n->kernel_drops;
		n->kernel_drops = info[SK_MEMINFO_DROPS];
	}
}

/* The header is all that is wanted of each message: the rest is cut off. */
static int nevents_batch(struct nevents *n)
{
	static struct nlmsghdr heads[NEVENTS_BATCH];
	static struct iovec iov[NEVENTS_BATCH];
	static struct mmsghdr msgs[NEVENTS_BATCH];
	int got;

	for (unsigned i = 0; i < NEVENTS_BATCH; i++) {
		iov[i] = (struct iovec){&heads[i], sizeof(heads[i])};
		msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
	}
	got = recvmmsg(n->fd, msgs, NEVENTS_BATCH, MSG_DONTWAIT, NULL);
	if (got < 0)
		return -errno;
	for (int i = 0; i < got; i++) {
		if (msgs[i].msg_len < sizeof(heads[i]))
			continue;
		n->fresh += heads[i].nlmsg_type == RTM_NEWNEIGH;
		n->gone += heads[i].nlmsg_type == RTM_DELNEIGH;
	}
	return got;
}

int nevents_drain(struct nevents *n, unsigned max, struct err *err)
{
	unsigned total = 0;

	while (n->fd >= 0 && total < max) {
		int got = nevents_batch(n);

		if (got == -EAGAIN)
			break;
		if (got == -EINTR)
			continue;
		if (got == -ENOBUFS) {
			nevents_overrun(n);
			continue;
		}
		if (got < 0)
			return err_set(err, got, "cannot read neighbour events: %s",
				       strerror(-got));
		total += (unsigned)got;
	}
	/* While its queue was full the socket went on losing messages without telling again. */
	if (n->unsynced && n->fd >= 0) {
		uint64_t before = n->overruns;

		nevents_overrun(n);
		n->overruns = before;
	}
	return (int)total;
}

void nevents_synced(struct nevents *n)
{
	n->unsynced = false;
}
