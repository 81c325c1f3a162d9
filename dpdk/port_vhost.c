// SPDX-License-Identifier: GPL-2.0-or-later
/* vhost:SOCKET, the network card of a guest: we listen, QEMU connects. */
#include "dpdk/port_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eth_vhost.h>
#include <rte_ethdev.h>

#include "lib/err.h"
#include "lib/sock.h"

/*
 * A trial, because DPDK does not tell why it cannot listen. Not at the path itself: whoever waits
 * for the socket to appear would take the trial for it.
 */
static int vhost_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			  struct err *err)
{
	const char *path = p->name.arg;
	char trial[PATH_MAX];
	struct err why;
	int fd, n, ret = sock_make_way(path, err);

	if (ret)
		return ret;
	snprintf(trial, sizeof(trial), "%s~", path);
	fd = sock_listen(trial, &why);
	if (fd < 0)
		return err_set(err, fd, "port %s: cannot listen there: %s", p->name.text, strerror(-fd));
	close(fd);
	unlink(trial);
	snprintf(device, 64, "net_vhost%u", p->number);
	n = snprintf(args, PORT_KIND_ARGS, "iface=%s,queues=%u", path, p->conf.nr_queues);
	if (n < PORT_KIND_ARGS)
		return 0;
	return err_set(err, -ENAMETOOLONG, "port %.80s...: the path is too long for DPDK: give a "
		       "shorter or relative one", p->name.text);
}

/* The peer turned queues on or off; called by the driver's own thread. */
static int vhost_queue_state(uint16_t id, enum rte_eth_event_type type, void *arg, void *ret)
{
	struct rte_eth_vhost_queue_event event;
	struct port *p = arg;

	(void)type;
	(void)ret;
	while (!rte_eth_vhost_get_queue_event(id, &event)) {
		if (event.rx || event.queue_id >= PORT_QUEUES_MAX)
			continue;
		if (event.enable)
			atomic_fetch_or(&p->tx_enabled, UINT64_C(1) << event.queue_id);
		else
			atomic_fetch_and(&p->tx_enabled, ~(UINT64_C(1) << event.queue_id));
	}
	return 0;
}

static int vhost_configured(struct port *p, struct err *err)
{
	if (!rte_eth_dev_callback_register(p->id, RTE_ETH_EVENT_QUEUE_STATE, vhost_queue_state, p))
		return 0;
	return err_set(err, -ENOMEM, "port %s: no memory for its events", p->name.text);
}

static void vhost_stopping(struct port *p)
{
	rte_eth_dev_callback_unregister(p->id, RTE_ETH_EVENT_QUEUE_STATE, vhost_queue_state, p);
}

static bool vhost_ready(struct port *p)
{
	uint64_t all = UINT64_MAX >> (64 - p->conf.nr_queues);

	if (!port_link_up(p))
		return false;
	return !p->nr_tx || (atomic_load(&p->tx_enabled) & all) == all;
}

static void vhost_waits_for(struct port *p, char *buf, size_t size)
{
	if (!port_link_up(p))
		snprintf(buf, size, "the driver of a guest connected to %s", p->name.text);
	else
		snprintf(buf, size, "the guest to turn on %u queues, of which %d are on: lower "
			 "--lanes or give its device more", p->conf.nr_queues,
			 __builtin_popcountll(atomic_load(&p->tx_enabled)));
}

static int vhost_check(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err)
{
	(void)sent_pkts;
	(void)sent_bytes;
	if (port_link_up(p))
		return 0;
	return err_set(err, -ENOLINK, "the peer of %s has gone: did the guest end or panic?",
		       p->name.text);
}

const struct port_kind port_vhost = {
	.prefix = "vhost:",
	.usage = "SOCKET",
	.parse = port_plain,
	.describe = vhost_describe,
	.configured = vhost_configured,
	.stopping = vhost_stopping,
	.ready = vhost_ready,
	.waits_for = vhost_waits_for,
	.check = vhost_check,
};
