// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/account.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/arp.h"
#include "lib/decode.h"
#include "lib/nd.h"

void account_free(struct account *a)
{
	track_free(&a->track);
	if (a->responds)
		respond_free(&a->respond);
	for (uint32_t i = 0; i < a->nr_storms; i++)
		storm_free(&a->storms[i]);
	free(a->storms);
	answers_free(&a->answers);
	memset(a, 0, sizeof(*a));
}

void account_start(struct account *a, uint64_t t0_ns)
{
	track_start(&a->track, t0_ns);
	account_start_storms(a, t0_ns);
}

void account_start_storms(struct account *a, uint64_t t0_ns)
{
	for (uint32_t i = 0; i < a->nr_storms; i++)
		storm_start(&a->storms[i], t0_ns);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Returns -1 if the frame cannot be answered. */
static int account_reply(const uint8_t *frame, const struct decoded *d, uint64_t mac_nr,
			 struct answer *out)
{
	uint8_t mac[6];
	size_t len;

	respond_mac(d->family_is_v6 ? AF_INET6 : AF_INET, d->dst, mac_nr, mac);
	len = d->family_is_v6 ? nd_reply(frame, out->frame, mac)
			      : arp_reply(frame, out->frame, mac);
	out->len = (uint8_t)len;
	return len ? 0 : -1;
}

static bool account_wait(struct account *a, const struct answer *answer, enum answer_kind kind,
			 uint64_t due_ns)
{
	struct answer *waits = answers_push(&a->answers, due_ns);

	if (!waits)
		return false;
	waits->kind = (uint8_t)kind;
	waits->len = answer->len;
	memcpy(waits->frame, answer->frame, answer->len);
	return true;
}

static void account_promise(struct account *a, const uint8_t *frame, const struct decoded *d,
			    const struct respond_how *how, uint64_t now_ns)
{
	struct account_asked *asked = d->family_is_v6 ? &a->counts.nd : &a->counts.arp;
	enum answer_kind kind = d->family_is_v6 ? ANSWER_ND : ANSWER_ARP;
	struct answer answer;

	if (account_reply(frame, d, how->mac, &answer)) {
		asked->refused++;
		return;
	}
	if (!account_wait(a, &answer, kind, now_ns + how->delay_ns)) {
		asked->dropped++;
		return;
	}
	for (uint32_t c = 1; c < how->copies; c++) {
		if (how->mac_changes)
			account_reply(frame, d, how->mac + c, &answer);
		if (!account_wait(a, &answer, ANSWER_COPY, now_ns + how->delay_ns))
			return;
	}
}

static void account_request(struct account *a, const uint8_t *frame, const struct decoded *d,
			    uint64_t now_ns)
{
	struct account_asked *asked = d->family_is_v6 ? &a->counts.nd : &a->counts.arp;
	struct respond_how how;

	asked->requests++;
	if (!a->responds)
		return;
	switch (respond_decide(&a->respond, d->family_is_v6 ? AF_INET6 : AF_INET, d->src, d->dst,
			       &how)) {
	case RESPOND_ANSWER:
		account_promise(a, frame, d, &how, now_ns);
		break;
	case RESPOND_SILENT:
		asked->silent++;
		break;
	case RESPOND_REFUSE:
		asked->refused++;
		break;
	case RESPOND_NO_ROOM:
		asked->dropped++;
		break;
	}
}

/* --- what to send ----------------------------------------------------------------------------- */

/* The storm that is due first, or NULL. */
static struct storm *account_storm(const struct account *a)
{
	struct storm *first = NULL;

	for (uint32_t i = 0; i < a->nr_storms; i++) {
		if (storm_next_ns(&a->storms[i]) < (first ? storm_next_ns(first) : UINT64_MAX))
			first = &a->storms[i];
	}
	return first;
}

int account_take(struct account *a, uint64_t now_ns, struct answer *out)
{
	struct storm *storm;

	while ((storm = account_storm(a)) && storm_next_ns(storm) <= now_ns &&
	       storm_next_ns(storm) < answers_next_ns(&a->answers)) {
		if (storm_take(storm, now_ns, out))
			continue; /* it is over */
		out->turn = a->answers.turn++;
		return 0;
	}
	return answers_pop(&a->answers, now_ns, out);
}

void account_sent(struct account *a, const struct answer *answer)
{
	switch ((enum answer_kind)answer->kind) {
	case ANSWER_ARP:
		a->counts.arp.replies++;
		break;
	case ANSWER_ND:
		a->counts.nd.replies++;
		break;
	case ANSWER_COPY:
		a->counts.copies_pkts++;
		break;
	case ANSWER_ANNOUNCEMENT:
		a->counts.announcements_pkts++;
		break;
	}
}

void account_unsent(struct account *a, const struct answer *answer)
{
	if (!answers_put_back(&a->answers, answer))
		return;
	if (answer->kind == ANSWER_ARP)
		a->counts.arp.dropped++;
	else if (answer->kind == ANSWER_ND)
		a->counts.nd.dropped++;
}

uint64_t account_next_ns(const struct account *a)
{
	const struct storm *storm = account_storm(a);
	uint64_t next_ns = answers_next_ns(&a->answers);

	return storm && storm_next_ns(storm) < next_ns ? storm_next_ns(storm) : next_ns;
}

/* --- frames ----------------------------------------------------------------------------------- */

void account_part(struct account *a, const uint8_t *frame, size_t len, size_t wire_len,
		  uint64_t now_ns)
{
	struct track_probe *p;
	struct decoded d;

	decode_part(frame, len, wire_len, &d);
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
		p->v6 = d.family_is_v6;
		p->probe = d.probe;
		if (a->nr_batch == TRACK_BATCH)
			account_flush(a);
		break;
	case DECODE_ARP_REQUEST:
	case DECODE_ND_SOLICIT:
		account_request(a, frame, &d, now_ns);
		break;
	case DECODE_BAD_CSUM:
		a->counts.bad_csum_pkts++;
		break;
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
