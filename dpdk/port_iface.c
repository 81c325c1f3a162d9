// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Network interfaces of the kernel's.
 *
 *	af_packet:IF	PACKET_MMAP rings (TPACKET_V2): works with every interface
 *	af_xdp:IF	XDP sockets: faster where the driver helps, and goes on, copying, where it does not
 *
 * Both see all frames, whomever they are for, as long as this process lives: promiscuous mode hangs
 * on a socket of ours and not on the interface's flags, where a killed process would leave it.
 */
#include "dpdk/port_kind.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/netif.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif

enum {
	IFACE_CARRIER_STEPS = 30,
	IFACE_CARRIER_STEP_NS = 50 * 1000 * 1000,
	/* Of a ring's slot: what lies before a frame that was received, or that is to be sent. */
	PACKET_HEAD = 80,
	PACKET_SLOT_MIN = 256,
	/* To send, few that stay in the cache; to receive, what comes while nobody looks. */
	PACKET_SLOTS = 512,
	PACKET_SLOTS_RX = 8192,
	PACKET_BLOCK_MIN = 1 << 16,
	XDP_MBUFS = 8191, /* driver and kernel hold 6144 of them: to fill, received, to send */
	XDP_DESCRIPTORS = 2048,
	/* A buffer is a page, with all that is put around a frame. */
	XDP_FRAME_MAX = 3500,
};

/* --- what both need --------------------------------------------------------------------------- */

static int iface_parse(const struct port_name *name, struct err *err)
{
	if (strlen(name->arg) >= IFNAMSIZ || strchr(name->arg, '/') || strchr(name->arg, ' '))
		return err_set(err, -EINVAL, "port '%.80s': that is no name of an interface: it has at "
			       "most %d bytes", name->text, IFNAMSIZ - 1);
	return port_plain(name, err);
}

static int iface_fits(const struct port *p, unsigned int mtu, struct err *err)
{
	unsigned int most = mtu + ETHER_HDR_LEN + (p->conf.vlan ? 4 : 0);

	if (!p->conf.tx || p->conf.frame_max <= most)
		return 0;
	return err_set(err, -EMSGSIZE, "port %s: frames of %u bytes and FCS do not fit through its MTU of "
		       "%u: ip link set %s mtu %u, or send smaller ones", p->name.text,
		       p->conf.frame_max, mtu, p->name.arg, mtu + p->conf.frame_max - most);
}

/* An interface that was set up just now has its carrier within a second. */
static int iface_look(const char *name, struct netif *n)
{
	const struct timespec step = { .tv_nsec = IFACE_CARRIER_STEP_NS };
	int ret = netif_look(name, n);

	for (int i = 0; i < IFACE_CARRIER_STEPS && !ret && n->up && !n->carrier; i++) {
		nanosleep(&step, NULL);
		ret = netif_look(name, n);
	}
	return ret;
}

/* Whether frames can go through it, and are allowed to. */
static int iface_check(const struct port *p, struct err *err)
{
	const char *text = p->name.text, *name = p->name.arg;
	struct netif n;
	int ret = iface_look(name, &n);

	if (ret == -ENODEV)
		return err_set(err, ret, "port %s: there is no such interface here: see ip link, and "
			       "mind the network namespace", text);
	if (ret)
		return err_set(err, ret, "port %s: %s", text, strerror(-ret));
	if (!n.ethernet)
		return err_set(err, -ENOTSUP, "port %s: that is no Ethernet interface: take another",
			       text);
	if (!n.up)
		return err_set(err, -ENETDOWN, "port %s: the interface is down: ip link set %s up", text,
			       name);
	if (!n.carrier)
		return err_set(err, -ENETDOWN, "port %s: the interface has no carrier: set its other end "
			       "up, or plug it in", text);
	if (p->conf.tx && netif_has_default_route(name))
		return err_set(err, -EPERM, "port %s: a default route leaves by this interface, and what "
			       "is sent there may reach anybody: use another one, or a network "
			       "namespace", text);
	return iface_fits(p, n.mtu, err);
}

static int iface_started(struct port *p, struct err *err)
{
	struct packet_mreq want = { .mr_ifindex = (int)if_nametoindex(p->name.arg),
				    .mr_type = PACKET_MR_PROMISC };

	if (!p->nr_rx)
		return 0;
	p->promiscuous_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->promiscuous_fd >= 0 && !setsockopt(p->promiscuous_fd, SOL_PACKET,
						  PACKET_ADD_MEMBERSHIP, &want, sizeof(want)))
		return 0;
	return err_set(err, -errno, "port %s: cannot see frames for others: %s", p->name.text,
		       strerror(errno));
}

static void iface_stopping(struct port *p)
{
	if (p->promiscuous_fd >= 0)
		close(p->promiscuous_fd);
	p->promiscuous_fd = -1;
}

static uint32_t iface_max_frame(const struct port *p)
{
	struct netif n;

	if (netif_look(p->name.arg, &n))
		return 0;
	return n.mtu + ETHER_HDR_LEN + (p->conf.vlan ? 4 : 0);
}

/* What is sent to an interface that is down disappears without a word. */
static int iface_alive(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err)
{
	int ret = netif_alive(p->name.arg, err);

	(void)sent_pkts;
	(void)sent_bytes;
	if (ret)
		return err_wrap(err, ret, "port %s", p->name.text);
	if (netif_is_up(p->name.arg))
		return 0;
	return err_set(err, -ENETDOWN, "port %s: the interface is without carrier: its other end is down",
		       p->name.text);
}

static bool capable(unsigned int cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &head, data) &&
	       (data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap));
}

static int iface_may_lock(const struct port *p, uint64_t bytes, struct err *err)
{
	uint64_t kb = (bytes + 1023) >> 10;
	struct rlimit lock;

	if (capable(CAP_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &lock) || bytes <= lock.rlim_cur)
		return 0;
	return err_set(err, -EPERM, "port %s: it locks %" PRIu64 " kB of memory, and may lock %" PRIu64
		       ": ulimit -l %" PRIu64 ", or give it CAP_IPC_LOCK", p->name.text, kb,
		       (uint64_t)lock.rlim_cur >> 10, kb);
}

/* --- af_packet: ------------------------------------------------------------------------------- */

/* The driver writes the interface's flags, if only what they are. */
static int packet_allowed(const struct port *p, struct err *err)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 && errno != EPERM)
		return err_set(err, -errno, "port %s: the kernel has no packet sockets: %s",
			       p->name.text, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (fd < 0 || !capable(CAP_NET_ADMIN))
		return err_set(err, -EPERM, "port %s: it needs CAP_NET_RAW and CAP_NET_ADMIN: run this "
			       "as root, or give the program these capabilities (setcap)",
			       p->name.text);
	return 0;
}

/* The driver's slots are one after the other, so a block holds a whole number of them. */
static unsigned int packet_slot(const struct port_conf *conf)
{
	unsigned int need = conf->frame_max > conf->rx_frame_max ? conf->frame_max :
								   conf->rx_frame_max;
	unsigned int slot = PACKET_SLOT_MIN;

	while (slot < need + PACKET_HEAD)
		slot *= 2;
	return slot;
}

static int packet_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			   struct err *err)
{
	unsigned int slot = packet_slot(&p->conf);
	unsigned int slots = p->conf.rx_frame_max ? PACKET_SLOTS_RX : PACKET_SLOTS;
	int ret = packet_allowed(p, err);

	/* The driver locks a ring for either direction, whether it is used or not. */
	if (!ret)
		ret = iface_may_lock(p, UINT64_C(2) * slots * slot * p->conf.nr_queues, err);
	if (!ret)
		ret = iface_check(p, err);
	if (ret)
		return ret;
	snprintf(device, 64, "net_af_packet%u", p->number);
	snprintf(args, PORT_KIND_ARGS,
		 "iface=%s,qpairs=%u,blocksz=%u,framesz=%u,framecnt=%u,qdisc_bypass=1", p->name.arg,
		 p->conf.nr_queues, PACKET_BLOCK_MIN, slot, slots);
	return 0;
}

const struct port_kind port_af_packet = {
	.prefix = "af_packet:",
	.usage = "INTERFACE",
	.rx_bytes = packet_slot,
	.parse = iface_parse,
	.describe = packet_describe,
	.configured = iface_started,
	.stopping = iface_stopping,
	.max_frame = iface_max_frame,
	.check = iface_alive,
};

/* --- af_xdp: ---------------------------------------------------------------------------------- */

static int xdp_allowed(const struct port *p, struct err *err)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 && errno != EPERM)
		return err_set(err, -errno, "port %s: this kernel has no XDP sockets (%s): use "
			       "af_packet:%s", p->name.text, strerror(errno), p->name.arg);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || !capable(CAP_NET_ADMIN) || !(capable(CAP_BPF) || capable(CAP_SYS_ADMIN)))
		return err_set(err, -EPERM, "port %s: it needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF: run "
			       "this as root, or use af_packet:%s", p->name.text, p->name.arg);
	return iface_may_lock(p, (uint64_t)port_memory_mb(&p->name, &p->conf) << 20, err);
}

static int xdp_check(const struct port *p, struct err *err)
{
	struct netif n;

	if (p->conf.frame_max > XDP_FRAME_MAX || p->conf.rx_frame_max > XDP_FRAME_MAX)
		return err_set(err, -EMSGSIZE, "port %s: XDP sockets take frames of at most %d bytes: use "
			       "af_packet:%s", p->name.text, XDP_FRAME_MAX, p->name.arg);
	if (netif_look(p->name.arg, &n) || p->conf.nr_queues <= n.queues)
		return 0;
	return err_set(err, -EINVAL, "port %s: %u lanes need as many queues, and the interface has %u: "
		       "lower --lanes, or use ethtool --set-channels", p->name.text,
		       p->conf.nr_queues, n.queues);
}

static int xdp_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS], struct err *err)
{
	int ret = xdp_allowed(p, err);

	if (!ret)
		ret = xdp_check(p, err);
	if (!ret)
		ret = iface_check(p, err);
	if (ret)
		return ret;
	snprintf(device, 64, "net_af_xdp%u", p->number);
	snprintf(args, PORT_KIND_ARGS, "iface=%s,queue_count=%u,busy_budget=0", p->name.arg,
		 p->conf.nr_queues);
	return 0;
}

static uint16_t xdp_rx_queues(const struct port_name *name)
{
	struct netif n;

	if (netif_look(name->arg, &n))
		return 1;
	return n.queues < PORT_QUEUES_MAX ? (uint16_t)n.queues : PORT_QUEUES_MAX;
}

static uint32_t xdp_max_frame(const struct port *p)
{
	uint32_t most = iface_max_frame(p);

	return most < XDP_FRAME_MAX ? most : XDP_FRAME_MAX;
}

const struct port_kind port_af_xdp = {
	.prefix = "af_xdp:",
	.usage = "INTERFACE",
	.rx_mbufs = XDP_MBUFS,
	.descriptors = XDP_DESCRIPTORS,
	.umem = true,
	.paired = true,
	.parse = iface_parse,
	.rx_queues = xdp_rx_queues,
	.describe = xdp_describe,
	.configured = iface_started,
	.stopping = iface_stopping,
	.max_frame = xdp_max_frame,
	.check = iface_alive,
};
