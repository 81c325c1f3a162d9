// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/port.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_vhost.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "gen/eal.h"
#include "gen/sock.h"
#include "gen/template.h"
#include "lib/err.h"

enum {
	PORT_ROOM = RTE_PKTMBUF_HEADROOM + 128, /* of a lane's buffers: dense, so they stay in L1 */
	PORT_RX_MBUFS = 2047,
	PORT_DESCRIPTORS = 512,
	PORT_REPLIES = 512,
	PCAP_FILE_HEADER = 24,
	PCAP_PACKET_HEADER = 16,
};

static const struct {
	const char *prefix, *device, *args;
} kinds[] = {
	[PORT_NULL] = { "null:", "net_null0", "no-rx=1" },
	[PORT_PCAP] = { "pcap:", "net_pcap0", "tx_pcap=%s" },
	[PORT_VHOST] = { "vhost:", "net_vhost0", "iface=%s,queues=%" PRIu32 },
};

/* --- name ------------------------------------------------------------------------------------- */

int port_parse(const char *text, struct port_name *name, struct err *err)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].prefix);

		if (strncmp(text, kinds[i].prefix, len))
			continue;
		*name = (struct port_name){ .kind = i, .text = text, .path = text + len };
		if (i == PORT_NULL && *name->path)
			return err_set(err, -EINVAL, "port '%.80s': null: takes no argument", text);
		if (i != PORT_NULL && !*name->path)
			return err_set(err, -EINVAL, "port '%s': a path must follow the colon", text);
		if (strpbrk(name->path, ",[]()=\"'"))
			return err_set(err, -EINVAL, "port '%.80s': DPDK takes no path with any of "
				       ",[]()=\"' in it", text);
		return 0;
	}
	return err_set(err, -EINVAL, "'%.80s' is no port: use null:, pcap:FILE or vhost:SOCKET", text);
}

/* --- what a device needs before it can be made ------------------------------------------------ */

static int prepare_pcap(const char *path, struct err *err)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		st.st_mode = 0;
	close(fd);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EIO, "%s is no regular file, so nobody could tell whether all "
			       "was written: give a file", path);
	return 0;
}

/*
 * A trial, because DPDK does not tell why it cannot listen. Not at the path itself: whoever waits
 * for the socket to appear would take the trial for it.
 */
static int prepare_vhost(const char *path, struct err *err)
{
	char trial[PATH_MAX];
	int fd, ret = sock_make_way(path, err);

	if (ret)
		return ret;
	snprintf(trial, sizeof(trial), "%s~", path);
	fd = sock_listen(trial, err);
	if (fd < 0)
		return fd;
	close(fd);
	unlink(trial);
	return 0;
}

static int prepare(const struct port_name *name, struct err *err)
{
	if (name->kind == PORT_PCAP)
		return prepare_pcap(name->path, err);
	if (name->kind == PORT_VHOST)
		return prepare_vhost(name->path, err);
	return 0;
}

static int probe(struct port *p, struct err *err)
{
	const char *device = kinds[p->name.kind].device;
	char args[512];
	int n;

	/* The table above holds the formats. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(args, sizeof(args), kinds[p->name.kind].args, p->name.path, p->nr_lanes);
#pragma GCC diagnostic pop
	if (n >= (int)sizeof(args))
		return err_set(err, -ENAMETOOLONG, "port %.80s...: the path is too long for DPDK: give a "
			       "shorter or relative one", p->name.text);
	if (rte_vdev_init(device, args))
		return err_set(err, -EIO, "port %s: DPDK cannot make it: %s", p->name.text,
			       eal_last_words());
	p->probed = true;
	if (rte_eth_dev_get_port_by_name(device, &p->id))
		return err_set(err, -EIO, "port %s: DPDK does not know it", p->name.text);
	return 0;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static struct rte_mempool *make_pool(const char *kind, uint32_t nr, unsigned int mbufs,
				     unsigned int room, struct err *err)
{
	struct rte_mempool *pool;
	char name[32];

	snprintf(name, sizeof(name), "%s%" PRIu32, kind, nr);
	pool = rte_pktmbuf_pool_create(name, mbufs, PORT_CACHE, 0, (uint16_t)room, SOCKET_ID_ANY);
	if (!pool)
		err_set(err, -rte_errno, "no memory for %u packet buffers (%s): raise --memory", mbufs,
			rte_strerror(rte_errno));
	return pool;
}

static int make_pools(struct port *p, struct err *err)
{
	p->pools = calloc(p->nr_lanes, sizeof(struct rte_mempool *));
	if (!p->pools)
		return err_set(err, -ENOMEM, "no memory for %" PRIu32 " lanes", p->nr_lanes);
	for (uint32_t i = 0; i < p->nr_lanes; i++) {
		p->pools[i] = make_pool("lane", i, PORT_MBUFS, PORT_ROOM, err);
		if (!p->pools[i])
			return -ENOMEM;
	}
	if (p->name.kind != PORT_VHOST)
		return 0;
	p->rx_pool = make_pool("rx", 0, PORT_RX_MBUFS, RTE_MBUF_DEFAULT_BUF_SIZE, err);
	if (!p->rx_pool)
		return -ENOMEM;
	p->replies = rte_ring_create("replies", PORT_REPLIES, SOCKET_ID_ANY,
				     RING_F_SP_ENQ | RING_F_SC_DEQ);
	return p->replies ? 0 : err_set(err, -ENOMEM, "no memory for replies: raise --memory");
}

static void free_pools(struct port *p)
{
	for (uint32_t i = 0; p->pools && i < p->nr_lanes; i++)
		rte_mempool_free(p->pools[i]);
	free(p->pools);
	p->pools = NULL;
	rte_mempool_free(p->rx_pool);
	rte_ring_free(p->replies);
	p->rx_pool = NULL;
	p->replies = NULL;
}

/* --- queues ----------------------------------------------------------------------------------- */

/* The peer turned queues on or off; called by the driver's own thread. */
static int queue_state(uint16_t id, enum rte_eth_event_type type, void *arg, void *ret)
{
	struct rte_eth_vhost_queue_event event;
	struct port *p = arg;

	(void)type;
	(void)ret;
	while (!rte_eth_vhost_get_queue_event(id, &event)) {
		if (event.rx || event.queue_id >= 64)
			continue;
		if (event.enable)
			atomic_fetch_or(&p->tx_enabled, UINT64_C(1) << event.queue_id);
		else
			atomic_fetch_and(&p->tx_enabled, ~(UINT64_C(1) << event.queue_id));
	}
	return 0;
}

static int check_queues(struct port *p, struct err *err)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(p->id, &info))
		return err_set(err, -EIO, "port %s: DPDK tells nothing about it", p->name.text);
	if (p->nr_lanes <= info.max_tx_queues)
		return 0;
	return err_set(err, -EINVAL, "%" PRIu32 " lanes need as many queues, but port %s has %u: "
		       "lower --lanes", p->nr_lanes, p->name.text, info.max_tx_queues);
}

static int set_up(struct port *p)
{
	struct rte_eth_conf conf = { .txmode.mq_mode = RTE_ETH_MQ_TX_NONE };
	uint16_t nr_rx = p->rx_pool ? (uint16_t)p->nr_lanes : 0;
	int ret = rte_eth_dev_configure(p->id, nr_rx, (uint16_t)p->nr_lanes, &conf);

	for (uint16_t q = 0; q < nr_rx && !ret; q++)
		ret = rte_eth_rx_queue_setup(p->id, q, PORT_DESCRIPTORS, SOCKET_ID_ANY, NULL,
					     p->rx_pool);
	for (uint16_t q = 0; q < p->nr_lanes && !ret; q++)
		ret = rte_eth_tx_queue_setup(p->id, q, PORT_DESCRIPTORS, SOCKET_ID_ANY, NULL);
	if (!ret && p->name.kind == PORT_VHOST)
		ret = rte_eth_dev_callback_register(p->id, RTE_ETH_EVENT_QUEUE_STATE, queue_state, p);
	if (!ret)
		ret = rte_eth_dev_start(p->id);
	p->started = !ret;
	return ret;
}

/* --- life ------------------------------------------------------------------------------------- */

static int open_all(struct port *p, struct err *err)
{
	int ret = prepare(&p->name, err);

	if (!ret)
		ret = make_pools(p, err);
	if (!ret)
		ret = probe(p, err);
	if (!ret)
		ret = check_queues(p, err);
	if (ret)
		return ret;
	ret = set_up(p);
	if (ret)
		err_set(err, ret, "port %s does not start: %s: %s", p->name.text, strerror(-ret),
			eal_last_words());
	return ret;
}

int port_open(struct port *p, const struct port_name *name, uint32_t nr_lanes, struct err *err)
{
	int ret;

	*p = (struct port){ .name = *name, .nr_lanes = nr_lanes };
	ret = open_all(p, err);
	if (ret)
		port_close(p);
	return ret;
}

void port_close(struct port *p)
{
	if (p->started)
		rte_eth_dev_stop(p->id);
	if (p->probed) {
		rte_eth_dev_callback_unregister(p->id, RTE_ETH_EVENT_QUEUE_STATE, queue_state, p);
		rte_eth_dev_close(p->id);
		rte_vdev_uninit(kinds[p->name.kind].device);
	}
	p->started = p->probed = false;
	free_pools(p);
}

static bool link_up(const struct port *p)
{
	struct rte_eth_link link = { .link_status = RTE_ETH_LINK_DOWN };

	return !rte_eth_link_get_nowait(p->id, &link) && link.link_status == RTE_ETH_LINK_UP;
}

bool port_ready(struct port *p)
{
	uint64_t all = UINT64_MAX >> (64 - p->nr_lanes);

	if (p->name.kind != PORT_VHOST)
		return true;
	return link_up(p) && (atomic_load(&p->tx_enabled) & all) == all;
}

void port_waits_for(struct port *p, char *buf, size_t size)
{
	if (!link_up(p))
		snprintf(buf, size, "the driver of a guest connected to %s", p->name.text);
	else
		snprintf(buf, size, "the guest to turn on %" PRIu32 " queues, of which %d are on: lower "
			 "--lanes or give its device more", p->nr_lanes,
			 __builtin_popcountll(atomic_load(&p->tx_enabled)));
}

static int check_file(const struct port *p, uint64_t sent, struct err *err)
{
	uint64_t least = PCAP_FILE_HEADER + sent * (PCAP_PACKET_HEADER + TEMPLATE_LEN);
	struct stat st;

	if (stat(p->name.path, &st))
		return err_set(err, -errno, "%s: %s", p->name.path, strerror(errno));
	if ((uint64_t)st.st_size >= least)
		return 0;
	return err_set(err, -EIO, "%s has %jd bytes where %" PRIu64 " packets make %" PRIu64
		       ": is the disk full?", p->name.path, (intmax_t)st.st_size, sent, least);
}

int port_check(struct port *p, uint64_t sent, struct err *err)
{
	if (p->name.kind == PORT_PCAP)
		return check_file(p, sent, err);
	if (p->name.kind == PORT_VHOST && !link_up(p))
		return err_set(err, -ENOLINK, "the peer of %s has gone: did the guest end or panic?",
			       p->name.text);
	return 0;
}
