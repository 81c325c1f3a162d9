/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ports of a flood, and which lane has which queue: lane i has queue i / nr of port i modulo nr.
 *
 * A transmit queue has one user at a time. While lanes run, it is its lane's; what the main thread
 * has to send meanwhile goes through the port's replies to the lane of queue 0. Before and after,
 * the queues are the main thread's, which also is the only one that receives.
 */
#ifndef GEN_PORTS_H
#define GEN_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpdk/port.h"

struct rte_ring;

#define PORTS_MAX 16u

struct ports {
	struct port_name name[PORTS_MAX];
	uint32_t nr;		/* of names, set by the owner */
	uint32_t nr_lanes;
	struct port port[PORTS_MAX];
	struct rte_ring *replies[PORTS_MAX]; /* NULL: nothing can be received there */
};

static inline uint32_t ports_of_lane(const struct ports *p, uint32_t lane)
{
	return lane % p->nr;
}

static inline uint16_t ports_queue(const struct ports *p, uint32_t lane)
{
	return (uint16_t)(lane / p->nr);
}

/*
 * Start DPDK with what the ports need, and open them for @nr_lanes lanes and frames of @frame_max
 * bytes without FCS, @tagged: all of them with a VLAN tag. Unless o->memory_mb says otherwise, there
 * is as much memory as they need.
 * Returns 0 or negative errno with a sentence; -EINVAL: the user's arguments are to blame. What is
 * open is for ports_close() to close, also on failure.
 */
int ports_open(struct ports *p, uint32_t nr_lanes, uint32_t frame_max, bool tagged,
	       struct eal_options *o, struct err *err);
void ports_close(struct ports *p); /* DPDK goes on; harmless on ports that were not opened */

bool ports_ready(struct ports *p);			       /* port_ready(), all of them */
void ports_wait_for(struct ports *p, char *buf, size_t size); /* port_waits_for(), the first */
bool ports_receive(const struct ports *p);		       /* any of them */

/* "null:, vhost:/run/x" */
void ports_text(const struct ports *p, char *buf, size_t size);

#endif
