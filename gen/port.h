/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port: the only place that sets up a DPDK device, its queues and its buffers. Every lane has a
 * queue and a pool of buffers of its own.
 *
 * A transmit queue has one user at a time. While lanes run, queue i is lane i's; what the main
 * thread has to send meanwhile goes through port.replies to lane 0. Before and after, the queues
 * are the main thread's, which also is the only one that receives.
 */
#ifndef GEN_PORT_H
#define GEN_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct rte_mempool;
struct rte_ring;

enum port_kind { PORT_NULL, PORT_PCAP, PORT_VHOST };

struct port_name {
	enum port_kind kind;
	const char *text; /* as given, "vhost:/run/x" */
	const char *path; /* "" for null: */
};

/* Buffers of a pool, and how many of them a thread keeps at hand. */
#define PORT_MBUFS 4095u
#define PORT_CACHE 256u

struct port {
	struct port_name name;
	bool probed, started; /* how much port_close() has to undo */
	uint16_t id;
	uint32_t nr_lanes;
	struct rte_mempool **pools; /* one a lane, of small buffers */
	struct rte_mempool *rx_pool; /* these three: NULL where nothing can be received */
	struct rte_ring *replies;
	_Atomic uint64_t tx_enabled; /* vhost: bit q is set while the peer has queue q on */
};

/* Returns 0, or -EINVAL with the list of ports in the sentence. @text must outlive the name. */
int port_parse(const char *text, struct port_name *name, struct err *err);

/*
 * Make and start the port with @nr_lanes queues; DPDK must be running. On failure nothing is left.
 * A vhost port listens from now on. Returns 0 or negative errno.
 */
int port_open(struct port *p, const struct port_name *name, uint32_t nr_lanes, struct err *err);

/* Stop it and remove what it made in the file system, but for the file of pcap:. */
void port_close(struct port *p);

/* Whether packets can go out: always, but on a vhost port only once the peer's driver is up. */
bool port_ready(struct port *p);

/* What port_ready() waits for, for people. */
void port_waits_for(struct port *p, char *buf, size_t size);

/*
 * After @sent packets: -EIO if the file of a pcap: port is shorter than they make it (the driver
 * does not look at what becomes of its writes), -ENOLINK if a vhost port's peer has gone. Else 0.
 */
int port_check(struct port *p, uint64_t sent, struct err *err);

#endif
