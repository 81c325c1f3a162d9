/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side: answers ARP and neighbour solicitations for the streams' sources, so that the
 * host under test can resolve them, and counts what else comes. One thread, the main one; the lanes
 * never see any of it.
 */
#ifndef GEN_ANSWER_H
#define GEN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct plan;
struct ports;

struct answer {
	struct ports *ports;
	const struct plan *plan;
	uint64_t rx_pkts, arp_requests, arp_replies, nd_requests, nd_replies, icmp_rx;
	uint64_t dropped; /* answers for which there was no room */
};

/* Take in and answer what has come. @lanes_run: they own the transmit queues. */
void answer_poll(struct answer *a, bool lanes_run);

#endif
