/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side: answers ARP for the stream's sources, so that the host under test can resolve
 * them, and counts what else comes. One thread, the main one; the lanes never see any of it.
 */
#ifndef GEN_ANSWER_H
#define GEN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct addrset;
struct err;
struct port;
struct rte_ring;

struct answer {
	struct port *port;
	const struct addrset *sources;
	struct rte_ring *replies; /* what lane 0 is to send; NULL until answer_open() */
	uint64_t rx_pkts, arp_requests, arp_replies, icmp_rx;
	uint64_t arp_dropped; /* answers for which there was no room */
};

/* Once the port is open. Returns 0 or -ENOMEM. */
int answer_open(struct answer *a, struct err *err);
void answer_close(struct answer *a);

/* Take in and answer what has come. @lanes_run: they own the transmit queues. */
void answer_poll(struct answer *a, bool lanes_run);

#endif
