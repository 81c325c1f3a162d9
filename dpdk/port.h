/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports: the only place that sets up DPDK devices, their queues and their buffers; for generator and
 * sink alike, as many of them in a process as wanted.
 *
 * A queue has one user at a time, in each direction. Every transmit queue has a pool of buffers of
 * its own, and so has every receive queue, so that no two threads share one.
 */
#ifndef DPDK_PORT_H
#define DPDK_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eal_options;
struct err;
struct port_kind;
struct rte_mempool;

struct port_name {
	const struct port_kind *kind;
	const char *text; /* as given, "vhost:/run/x" */
	const char *arg;  /* what follows the colon; "" for null: */
};

/* Buffers of a transmit pool, and how many of them a thread keeps at hand. */
#define PORT_MBUFS 4095u
#define PORT_CACHE 256u
/* Queues of a port at most. */
#define PORT_QUEUES_MAX 64u
/* Frame lengths, as everywhere here, without FCS. */
#define PORT_FRAME_MAX 9022u

struct port_conf {
	uint16_t nr_queues; /* 1 to PORT_QUEUES_MAX, in each direction that is used */
	bool rx, tx;	    /* rx: if the kind can, see port_can_receive() */
	uint16_t frame_max; /* the longest frame that will be sent */
	bool vlan;	    /* some of them have a VLAN tag */
	uint16_t rx_frame_max; /* what has to come in whole; 0: what is long may be cut */
};

struct port {
	struct port_name name;
	struct port_conf conf;
	unsigned int number; /* of this process's ports; names what DPDK wants named */
	char device[64];     /* DPDK's name for it */
	bool probed, started; /* how much port_close() has to undo */
	uint16_t id;
	uint16_t nr_rx, nr_tx;	       /* queues; 0: nothing can be received, or sent */
	struct rte_mempool **tx_pools; /* nr_tx of them, of buffers for frame_max; of some kinds
					 * the same as rx_pools: what lies in a free buffer
					 * may have been received */
	struct rte_mempool **rx_pools; /* nr_rx */
	_Atomic uint64_t tx_enabled;   /* vhost: bit q is set while the peer has queue q on */
	char socket[108];	       /* that the driver makes and may leave; "": none */
	int promiscuous_fd;	       /* as long as it is open, so is the interface; -1: none */
};

/* The ports there are, for help texts and errors: "null:, pcap:FILE, ... or vdev:DEVICE". */
const char *port_kinds(void);

/* Returns 0, or -EINVAL with the list of ports in the sentence. @text must outlive the name. */
int port_parse(const char *text, struct port_name *name, struct err *err);

/* Whether ports of this kind, which is "null:" and the like, are meant. */
bool port_is(const struct port_name *name, const char *prefix);
bool port_can_receive(const struct port_name *name);

/* Queues without which some frames would not come in: an XDP socket sees one queue of a card's. */
uint16_t port_rx_queues(const struct port_name *name);

/*
 * Megabytes that eal_options.memory_mb has to have at least for DPDK itself and for such ports:
 * the sum over ports of port_memory_mb(), and PORT_MEMORY_BASE_MB once.
 */
#define PORT_MEMORY_BASE_MB 16u
unsigned int port_memory_mb(const struct port_name *name, const struct port_conf *conf);

/*
 * Before eal_start(): what the port needs of DPDK goes into @o, and what can be told already is
 * checked. Returns 0 or negative errno.
 */
int port_prepare(const struct port_name *name, struct eal_options *o, struct err *err);

/*
 * Make and start the port; DPDK must be running. On failure nothing is left, and the sentence says
 * why this port cannot work here and what to do. A vhost port listens from now on.
 * Returns 0; -EINVAL: it can never work, as it was asked for; other negative errno: not here, not now.
 */
int port_open(struct port *p, const struct port_name *name, const struct port_conf *conf,
	      struct err *err);

/* Stop it and remove what it made in the file system, but for the file of pcap:. Harmless on a port
 * that is zeroed or closed. */
void port_close(struct port *p);

/* The longest frame, without FCS and with VLAN tags, that goes through this open port. */
uint32_t port_max_frame(const struct port *p);

/* Frames that came, and that this port had no room for, as far as its driver counts them. */
uint64_t port_missed(const struct port *p);

/* Whether packets can go through: always, but on a vhost port only once the peer's driver is up. */
bool port_ready(struct port *p);

/* What port_ready() waits for, for people. */
void port_waits_for(struct port *p, char *buf, size_t size);

/*
 * Now and then, and after @sent_pkts packets of together @sent_bytes: -EIO if the file of a pcap:
 * port is shorter than they make it (the driver does not look at what becomes of its writes),
 * -ENOLINK if a vhost port's peer has gone, or an interface has gone or is down. Else 0.
 */
int port_check(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err);

#endif
