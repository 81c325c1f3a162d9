// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/answer.h"

#include <errno.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "dpdk/port.h"
#include "lib/addrset.h"
#include "lib/arp.h"
#include "lib/decode.h"
#include "lib/err.h"

enum {
	ANSWER_BURST = 32,
	ANSWER_REPLIES = 512, /* waiting for lane 0 */
	ANSWER_BURSTS_MAX = 32, /* of one queue in one go: the event loop has more to do */
};

int answer_open(struct answer *a, struct err *err)
{
	if (!a->port->nr_rx)
		return 0;
	a->replies = rte_ring_create("replies", ANSWER_REPLIES, SOCKET_ID_ANY,
				     RING_F_SP_ENQ | RING_F_SC_DEQ);
	return a->replies ? 0 : err_set(err, -ENOMEM, "no memory for replies: raise --memory");
}

void answer_close(struct answer *a)
{
	rte_ring_free(a->replies);
	a->replies = NULL;
}

/* Hand @m over for sending. It is gone afterwards, one way or the other. */
static bool answer_send(struct answer *a, struct rte_mbuf *m, bool lanes_run)
{
	if (lanes_run ? !rte_ring_enqueue(a->replies, m) :
			rte_eth_tx_burst(a->port->id, 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	a->arp_dropped++;
	return false;
}

/* Turns the request in @m into its answer. */
static bool answer_arp(struct answer *a, struct rte_mbuf *m, uint32_t target, bool lanes_run)
{
	uint8_t mac[6], *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t len;

	a->arp_requests++;
	if (!addrset_has(a->sources, (struct addr){ .lo = target }))
		return false;
	arp_mac_of(target, mac);
	if (m->next || rte_pktmbuf_tailroom(m) + m->data_len < ARP_FRAME_MAX)
		return false;
	len = (uint16_t)arp_reply(frame, frame, mac);
	if (!len)
		return false;
	m->data_len = len;
	m->pkt_len = len;
	m->ol_flags = 0;
	a->arp_replies += answer_send(a, m, lanes_run);
	return true;
}

static void answer_one(struct answer *a, struct rte_mbuf *m, bool lanes_run)
{
	struct decoded d;
	bool gone = false;

	decode(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &d);
	if (d.kind == DECODE_ARP_REQUEST)
		gone = answer_arp(a, m, (uint32_t)d.dst.lo, lanes_run);
	else if (d.kind == DECODE_ICMP)
		a->icmp_rx++;
	if (!gone)
		rte_pktmbuf_free(m);
}

void answer_poll(struct answer *a, bool lanes_run)
{
	struct rte_mbuf *pkts[ANSWER_BURST];
	unsigned int n;

	for (uint16_t q = 0; q < a->port->nr_rx; q++) {
		for (unsigned int burst = 0; burst < ANSWER_BURSTS_MAX; burst++) {
			n = rte_eth_rx_burst(a->port->id, q, pkts, ANSWER_BURST);
			a->rx_pkts += n;
			for (unsigned int i = 0; i < n; i++)
				answer_one(a, pkts[i], lanes_run);
			if (n < ANSWER_BURST)
				break;
		}
	}
}
