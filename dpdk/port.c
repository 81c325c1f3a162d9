// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "dpdk/eal.h"
#include "dpdk/hush.h"
#include "dpdk/interrupt.h"
#include "dpdk/port_kind.h"
#include "lib/err.h"

enum {
	PORT_ROOM_MIN = 128, /* of a transmit buffer: short frames lie densely, and stay in L1 */
	PORT_RX_ROOM_MIN = 2048,
	PORT_RX_MBUFS = 2047,
	PORT_DESCRIPTORS = 512,
	PORT_MBUF_OVERHEAD = 192, /* struct rte_mbuf and the pool's header */
	PORT_POOL_OVERHEAD = 5 << 18, /* of a pool: its ring, and caches for as many cores as may be */
	PORT_QUEUE_OVERHEAD = 1 << 18, /* of the driver's */
	PORT_PAGE = 4096,
};

static const struct port_kind *const kinds[] = {
	&port_null, &port_pcap, &port_ring, &port_vhost,
	&port_af_packet, &port_af_xdp, &port_pci, &port_vdev,
};
#define NR_KINDS (sizeof(kinds) / sizeof(*kinds))

/* --- name ------------------------------------------------------------------------------------- */

const char *port_kinds(void)
{
	static char text[256];
	size_t len = 0;

	for (size_t i = 0; i < NR_KINDS && !text[sizeof(text) - 2]; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s",
					!i ? "" : i + 1 < NR_KINDS ? ", " : " or ",
					kinds[i]->prefix, kinds[i]->usage);
	return text;
}

int port_parse(const char *text, struct port_name *name, struct err *err)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		const struct port_kind *kind = kinds[i];
		size_t len = strlen(kind->prefix);

		if (strncmp(text, kind->prefix, len))
			continue;
		*name = (struct port_name){ .kind = kind, .text = text, .arg = text + len };
		if (!*kind->usage && *name->arg)
			return err_set(err, -EINVAL, "port '%.80s': %s takes no argument", text,
				       kind->prefix);
		if (*kind->usage && !*name->arg)
			return err_set(err, -EINVAL, "port '%s': %s must follow the colon", text,
				       kind->usage);
		return kind->parse ? kind->parse(name, err) : 0;
	}
	return err_set(err, -EINVAL, "'%.80s' is no port: use %s", text, port_kinds());
}

int port_plain(const struct port_name *name, struct err *err)
{
	if (!strpbrk(name->arg, ",[]()=\"'"))
		return 0;
	return err_set(err, -EINVAL, "port '%.80s': DPDK takes no path or name with any of "
		       ",[]()=\"' in it", name->text);
}

bool port_is(const struct port_name *name, const char *prefix)
{
	return !strcmp(name->kind->prefix, prefix);
}

bool port_can_receive(const struct port_name *name)
{
	return !name->kind->no_rx;
}

uint16_t port_rx_queues(const struct port_name *name)
{
	return name->kind->rx_queues ? name->kind->rx_queues(name) : 1;
}

int port_prepare(const struct port_name *name, struct eal_options *o, struct err *err)
{
	return name->kind->prepare ? name->kind->prepare(name, o, err) : 0;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/*
 * A buffer never lies across pages: without hugepages one of more than half a page takes a whole
 * one. A driver that shares the pool with the kernel (umem) forgets this, and takes it for dense; so
 * there a buffer is a page to begin with.
 */
static unsigned int room(unsigned int frame, unsigned int least)
{
	return RTE_PKTMBUF_HEADROOM + (frame > least ? RTE_ALIGN_CEIL(frame, 64u) : least);
}

static unsigned int tx_room(const struct port_conf *conf)
{
	return room(conf->frame_max, PORT_ROOM_MIN);
}

static unsigned int rx_room(const struct port_kind *kind, const struct port_conf *conf)
{
	if (kind->umem)
		return PORT_PAGE - PORT_MBUF_OVERHEAD;
	return room(kind->rx_bytes ? kind->rx_bytes(conf) : conf->rx_frame_max, PORT_RX_ROOM_MIN);
}

static unsigned int rx_mbufs(const struct port_kind *kind)
{
	return kind->rx_mbufs ? kind->rx_mbufs : PORT_RX_MBUFS;
}

static uint64_t pool_bytes(unsigned int mbufs, unsigned int size)
{
	size += PORT_MBUF_OVERHEAD;
	if (size <= PORT_PAGE)
		return (uint64_t)(mbufs / (PORT_PAGE / size) + 1) * PORT_PAGE + PORT_POOL_OVERHEAD;
	return (uint64_t)mbufs * RTE_ALIGN_CEIL(size, PORT_PAGE) + PORT_POOL_OVERHEAD;
}

unsigned int port_memory_mb(const struct port_name *name, const struct port_conf *conf)
{
	uint64_t bytes = PORT_QUEUE_OVERHEAD;

	if ((conf->tx || name->kind->paired) && !name->kind->umem)
		bytes += pool_bytes(PORT_MBUFS, tx_room(conf));
	if ((conf->rx && port_can_receive(name)) || name->kind->paired)
		bytes += pool_bytes(rx_mbufs(name->kind), rx_room(name->kind, conf));
	return (unsigned int)(bytes * conf->nr_queues >> 20) + 1;
}

/* As rte_pktmbuf_pool_create(), which knows no flags. */
static struct rte_mempool *fill_pool(struct rte_mempool *pool, unsigned int size)
{
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = (uint16_t)size };

	if (!pool)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static struct rte_mempool *make_pool(const struct port *p, const char *what, unsigned int queue,
				     unsigned int mbufs, unsigned int size)
{
	unsigned int flags = p->name.kind->umem ? RTE_MEMPOOL_F_NO_SPREAD : 0;
	char name[32];

	snprintf(name, sizeof(name), "%s%u-%u", what, p->number, queue);
	return fill_pool(rte_mempool_create_empty(name, mbufs, sizeof(struct rte_mbuf) + size,
						  PORT_CACHE, sizeof(struct rte_pktmbuf_pool_private),
						  SOCKET_ID_ANY, flags),
			 size);
}

static int make_pools(struct port *p, struct err *err)
{
	bool made = true;

	p->tx_pools = calloc(p->nr_tx + 1u, sizeof(struct rte_mempool *));
	p->rx_pools = calloc(p->nr_rx + 1u, sizeof(struct rte_mempool *));
	if (!p->tx_pools || !p->rx_pools)
		return err_set(err, -ENOMEM, "no memory for %u queues", p->conf.nr_queues);
	for (uint16_t q = 0; q < p->nr_rx && made; q++) {
		p->rx_pools[q] = make_pool(p, "rx", q, rx_mbufs(p->name.kind),
					   rx_room(p->name.kind, &p->conf));
		made = p->rx_pools[q];
	}
	/* What is not in the memory that the kernel has would be copied there, packet by packet. */
	for (uint16_t q = 0; q < p->nr_tx && made; q++) {
		p->tx_pools[q] = p->name.kind->umem ? p->rx_pools[q] :
			make_pool(p, "tx", q, PORT_MBUFS, tx_room(&p->conf));
		made = p->tx_pools[q];
	}
	if (made)
		return 0;
	return err_set(err, -ENOMEM, "port %s: no memory for its packets: raise --memory to %u or more",
		       p->name.text, PORT_MEMORY_BASE_MB + port_memory_mb(&p->name, &p->conf));
}

static void free_pools(struct port *p)
{
	for (uint16_t q = 0; p->tx_pools && !p->name.kind->umem && q < p->nr_tx; q++)
		rte_mempool_free(p->tx_pools[q]);
	for (uint16_t q = 0; p->rx_pools && q < p->nr_rx; q++)
		rte_mempool_free(p->rx_pools[q]);
	free(p->tx_pools);
	free(p->rx_pools);
	p->tx_pools = p->rx_pools = NULL;
}

/* --- device ----------------------------------------------------------------------------------- */

static int probe(struct port *p, const char *args, struct err *err)
{
	int ret = p->name.kind->on_bus ? 0 : rte_vdev_init(p->device, args);

	const char *why = ret ? eal_last_words() : "";

	if (ret && !*why)
		return err_set(err, -ENODEV, "port %s: DPDK has no such driver: is its package installed?",
			       p->name.text);
	if (ret)
		return err_set(err, -EIO, "port %s: DPDK cannot make it: %s", p->name.text, why);
	p->probed = true;
	if (rte_eth_dev_get_port_by_name(p->device, &p->id))
		return err_set(err, -ENODEV, "port %s: DPDK has no driver for it", p->name.text);
	return 0;
}

static int check_queues(const struct port *p, const struct rte_eth_dev_info *info, struct err *err)
{
	unsigned int most = UINT16_MAX;

	if (p->nr_tx)
		most = info->max_tx_queues;
	if (p->nr_rx && info->max_rx_queues < most)
		most = info->max_rx_queues;
	if (p->conf.nr_queues <= most)
		return 0;
	return err_set(err, -EINVAL, "%u lanes need as many queues, but port %s has %u: lower --lanes",
		       p->conf.nr_queues, p->name.text, most);
}

static struct rte_eth_conf device_conf(const struct port *p, const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = { .txmode.mq_mode = RTE_ETH_MQ_TX_NONE };

	if (p->nr_rx > 1 && info->flow_type_rss_offloads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads &
						   (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP |
						    RTE_ETH_RSS_TCP);
	}
	if (p->name.kind->on_bus && p->conf.frame_max > RTE_ETHER_MTU + RTE_ETHER_HDR_LEN)
		conf.rxmode.mtu = p->conf.frame_max - RTE_ETHER_HDR_LEN;
	return conf;
}

static int set_up(struct port *p, const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = device_conf(p, info);
	int ret = rte_eth_dev_configure(p->id, p->nr_rx, p->nr_tx, &conf);
	uint16_t nr_rxd = p->name.kind->descriptors ? p->name.kind->descriptors : PORT_DESCRIPTORS;
	uint16_t nr_txd = nr_rxd;

	if (!ret)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &nr_rxd, &nr_txd);
	for (uint16_t q = 0; q < p->nr_rx && !ret; q++)
		ret = rte_eth_rx_queue_setup(p->id, q, nr_rxd, SOCKET_ID_ANY, NULL, p->rx_pools[q]);
	for (uint16_t q = 0; q < p->nr_tx && !ret; q++)
		ret = rte_eth_tx_queue_setup(p->id, q, nr_txd, SOCKET_ID_ANY, NULL);
	return ret;
}

static int start(struct port *p, struct err *err)
{
	struct rte_eth_dev_info info;
	int ret;

	if (rte_eth_dev_info_get(p->id, &info))
		return err_set(err, -EIO, "port %s: DPDK tells nothing about it", p->name.text);
	ret = check_queues(p, &info, err);
	if (!ret)
		ret = make_pools(p, err);
	if (ret)
		return ret;
	ret = set_up(p, &info);
	if (!ret && p->name.kind->configured && p->name.kind->configured(p, err))
		return -EIO;
	if (!ret)
		ret = rte_eth_dev_start(p->id);
	if (ret)
		return err_set(err, ret, "port %s does not start: %s: %s", p->name.text,
			       strerror(-ret), eal_last_words());
	p->started = true;
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

int port_open(struct port *p, const struct port_name *name, const struct port_conf *conf,
	      struct err *err)
{
	static unsigned int number;
	char args[PORT_KIND_ARGS] = "";
	char said[HUSH_LINE];
	struct interrupt interrupt;
	struct hush hush;
	mode_t mask;
	int ret = 0, signal;

	*p = (struct port){ .name = *name, .conf = *conf, .promiscuous_fd = -1 };
	p->number = number++;
	p->nr_tx = conf->tx || name->kind->paired ? conf->nr_queues : 0;
	p->nr_rx = (conf->rx && port_can_receive(name)) || name->kind->paired ? conf->nr_queues : 0;
	if (!p->nr_tx && !p->nr_rx)
		ret = err_set(err, -EINVAL, "nothing can be received from %s", name->text);
	if (!ret)
		ret = p->name.kind->describe(p, p->device, args, err);
	eal_last_words(); /* what was said before has other reasons */
	mask = umask(0177); /* a socket is nobody else's */
	hush_begin(&hush);
	interrupt_begin(&interrupt);
	if (!ret)
		ret = probe(p, args, err);
	if (!ret)
		ret = start(p, err);
	signal = interrupt_end(&interrupt);
	hush_end(&hush, said);
	umask(mask);
	if (signal)
		ret = err_set(err, -EINTR, "ended by SIG%s while port %s was opened",
			      sigabbrev_np(signal), name->text);
	if (ret)
		port_close(p);
	return ret;
}

static void close_device(struct port *p)
{
	if (p->started)
		rte_eth_dev_stop(p->id);
	if (p->probed) {
		if (p->name.kind->stopping)
			p->name.kind->stopping(p);
		rte_eth_dev_close(p->id);
		if (!p->name.kind->on_bus)
			rte_vdev_uninit(p->device);
	}
	p->started = p->probed = false;
}

void port_close(struct port *p)
{
	char said[HUSH_LINE];
	struct hush hush;

	if (p->probed) {
		hush_begin(&hush);
		close_device(p);
		hush_end(&hush, said);
	}
	if (p->socket[0])
		unlink(p->socket);
	p->socket[0] = '\0';
	free_pools(p);
}

bool port_link_up(const struct port *p)
{
	struct rte_eth_link link = { .link_status = RTE_ETH_LINK_DOWN };

	return !rte_eth_link_get_nowait(p->id, &link) && link.link_status == RTE_ETH_LINK_UP;
}

uint32_t port_max_frame(const struct port *p)
{
	return p->name.kind->max_frame ? p->name.kind->max_frame(p) : PORT_FRAME_MAX;
}

uint64_t port_missed(const struct port *p)
{
	struct rte_eth_stats stats;

	return rte_eth_stats_get(p->id, &stats) ? 0 : stats.imissed + stats.rx_nombuf;
}

bool port_ready(struct port *p)
{
	return p->name.kind->ready ? p->name.kind->ready(p) : true;
}

void port_waits_for(struct port *p, char *buf, size_t size)
{
	if (p->name.kind->waits_for)
		p->name.kind->waits_for(p, buf, size);
	else
		snprintf(buf, size, "the link of %s", p->name.text);
}

int port_check(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err)
{
	return p->name.kind->check ? p->name.kind->check(p, sent_pkts, sent_bytes, err) : 0;
}
