// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/answer.h"

#include <sys/socket.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "gen/plan.h"
#include "gen/ports.h"
#include "gen/tag.h"
#include "lib/arp.h"
#include "lib/decode.h"
#include "lib/nd.h"

enum {
	ANSWER_BURST = 32,
	ANSWER_BURSTS_MAX = 32, /* of one queue in one go: the event loop has more to do */
	ANSWER_ROOM = ND_FRAME_MAX > ARP_FRAME_MAX ? ND_FRAME_MAX : ARP_FRAME_MAX,
};

static bool is_source(const struct plan *p, int family, struct addr a)
{
	for (uint32_t i = 0; i < p->nr_streams; i++) {
		const struct addrset *sources = &p->streams[i].stream->sources;

		if (sources->family == family && addrset_has(sources, a))
			return true;
	}
	return false;
}

/* Hand @m over for sending. It is gone afterwards, one way or the other. */
static bool answer_send(struct answer *a, uint32_t port, struct rte_mbuf *m, bool lanes_run)
{
	if (lanes_run ? !rte_ring_enqueue(a->ports->replies[port], m) :
			rte_eth_tx_burst(a->ports->port[port].id, 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	a->dropped++;
	return false;
}

/* The request in @m becomes its answer: its length, or 0. */
static size_t answer_make(struct answer *a, struct rte_mbuf *m, const struct decoded *d)
{
	bool arp = d->kind == DECODE_ARP_REQUEST;
	uint8_t mac[6], *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (!is_source(a->plan, arp ? AF_INET : AF_INET6, d->dst) || m->next ||
	    rte_pktmbuf_tailroom(m) + m->data_len < ANSWER_ROOM)
		return 0;
	if (arp) {
		arp_mac_of((uint32_t)d->dst.lo, mac);
		return arp_reply(frame, frame, mac);
	}
	nd_mac_of(d->dst, mac);
	return nd_reply(frame, frame, mac);
}

static bool answer_request(struct answer *a, uint32_t port, struct rte_mbuf *m,
			   const struct decoded *d, bool lanes_run)
{
	size_t len = answer_make(a, m, d);

	if (!len)
		return false;
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	m->ol_flags = 0;
	*(d->kind == DECODE_ARP_REQUEST ? &a->arp_replies : &a->nd_replies) +=
		answer_send(a, port, m, lanes_run);
	return true;
}

static void answer_one(struct answer *a, uint32_t port, struct rte_mbuf *m, bool lanes_run)
{
	struct decoded d;
	bool gone = false;

	decode(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &d);
	a->arp_requests += d.kind == DECODE_ARP_REQUEST;
	a->nd_requests += d.kind == DECODE_ND_SOLICIT;
	a->icmp_rx += d.kind == DECODE_ICMP;
	if (d.kind == DECODE_ARP_REQUEST || d.kind == DECODE_ND_SOLICIT)
		gone = answer_request(a, port, m, &d, lanes_run);
	if (!gone)
		rte_pktmbuf_free(m);
}

static void poll_queue(struct answer *a, uint32_t port, uint16_t queue, bool lanes_run)
{
	struct rte_mbuf *pkts[ANSWER_BURST];
	unsigned int n = ANSWER_BURST;

	for (unsigned int burst = 0; burst < ANSWER_BURSTS_MAX && n == ANSWER_BURST; burst++) {
		n = rte_eth_rx_burst(a->ports->port[port].id, queue, pkts, ANSWER_BURST);
		a->rx_pkts += n;
		for (unsigned int i = 0; i < n; i++) {
			tag_clear(pkts[i]); /* a lane may get this buffer next */
			answer_one(a, port, pkts[i], lanes_run);
		}
	}
}

void answer_poll(struct answer *a, bool lanes_run)
{
	for (uint32_t i = 0; i < a->ports->nr; i++)
		for (uint16_t q = 0; q < a->ports->port[i].nr_rx; q++)
			poll_queue(a, i, q, lanes_run);
}
