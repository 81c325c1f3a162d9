// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/account.h"

#include <string.h>

#include "lib/arp.h"
#include "lib/decode.h"

void account_free(struct account *a)
{
	track_free(&a->track);
	if (a->answers_arp)
		respond_free(&a->respond);
	answers_free(&a->answers);
	memset(a, 0, sizeof(*a));
}

static void account_promise(struct account *a, const uint8_t *frame, uint32_t target,
			    uint64_t now_ns)
{
	struct answer *answer = answers_push(&a->answers);
	uint8_t mac[6];

	if (!answer) {
		a->counts.arp_dropped++;
		return;
	}
	arp_mac_of(target, mac);
	answer->due_ns = now_ns + a->respond.delay_ns;
	/* respond_decide() lets through only what arp_reply() can answer. */
	answer->len = (uint32_t)arp_reply(frame, answer->frame, mac);
}

static void account_arp(struct account *a, const uint8_t *frame, const struct decoded *d,
			uint64_t now_ns)
{
	a->counts.arp_requests++;
	if (!a->answers_arp)
		return;
	switch (respond_decide(&a->respond, (uint32_t)d->src.lo, (uint32_t)d->dst.lo)) {
	case RESPOND_ANSWER:
		account_promise(a, frame, (uint32_t)d->dst.lo, now_ns);
		break;
	case RESPOND_SILENT:
		a->counts.arp_silent++;
		break;
	case RESPOND_REFUSE:
		a->counts.arp_refused++;
		break;
	}
}

void account_frame(struct account *a, const uint8_t *frame, size_t len, uint64_t now_ns)
{
	struct track_probe *p;
	struct decoded d;

	decode(frame, len, &d);
	if (!a->counts.frames_pkts++)
		a->first_ns = now_ns;
	a->last_ns = now_ns;
	if (a->tap)
		a->tap(a->tap_arg, frame, len, now_ns);
	switch (d.kind) {
	case DECODE_PROBE:
		p = &a->batch[a->nr_batch++];
		p->arrival_ns = now_ns;
		p->dst = d.dst;
		p->probe = d.probe;
		if (a->nr_batch == TRACK_BATCH)
			account_flush(a);
		break;
	case DECODE_ARP_REQUEST:
		account_arp(a, frame, &d, now_ns);
		break;
	case DECODE_BAD_CSUM:
		a->counts.bad_csum_pkts++;
		break;
	case DECODE_ND_SOLICIT:
	case DECODE_ICMP:
	case DECODE_OTHER:
		a->counts.other_pkts++;
		break;
	}
}

void account_flush(struct account *a)
{
	track_batch(&a->track, a->batch, a->nr_batch);
	a->nr_batch = 0;
}
