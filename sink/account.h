/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From bytes to counts: every frame that a source hands in ends up in exactly one counter.
 *	frames = rx + dup + late + foreign + bad_csum + other + arp.requests + nd.requests
 * and so does every request, for ARP as for neighbour discovery, if this sink answers at all:
 *	requests = replies + silent + refused + dropped + answers that wait (copies left out)
 * Pure but for memory; not thread safe.
 */
#ifndef SINK_ACCOUNT_H
#define SINK_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/answers.h"
#include "sink/respond.h"
#include "sink/storm.h"
#include "sink/track.h"

/* Sees every frame, whatever becomes of it. */
typedef void account_tap_fn(void *arg, const uint8_t *frame, size_t len, uint64_t now_ns);

/* Requests for a MAC, and what became of them. */
struct account_asked {
	uint64_t requests;
	uint64_t replies; /* sent */
	uint64_t silent; /* by the scenario's wish */
	uint64_t refused; /* must not be answered */
	uint64_t dropped; /* no room: too many answers wait, or too many addresses are counted */
};

struct account_counts {
	uint64_t frames_pkts;
	uint64_t bad_csum_pkts; /* IPv4 headers, probes, ICMP and ND with a wrong checksum */
	uint64_t other_pkts; /* neither probe nor request */
	struct account_asked arp, nd;
	uint64_t copies_pkts; /* sent: answers beyond the first to a request */
	uint64_t announcements_pkts; /* sent */
};

struct account {
	struct track track;
	bool responds; /* respond, answers and storms are in use */
	struct respond respond;
	struct answers answers;
	struct storm *storms;
	uint32_t nr_storms;
	struct account_counts counts;
	uint64_t first_ns, last_ns; /* arrivals; valid if frames_pkts */
	struct track_probe batch[TRACK_BATCH];
	unsigned int nr_batch;
	account_tap_fn *tap; /* or NULL */
	void *tap_arg;
};

/* @a->track must be initialised, @a->respond and the storms (from malloc) if it
 * responds; the rest zero. */
void account_free(struct account *a);

/* The schedule begins, and the storms with it, at @t0_ns. */
void account_start(struct account *a, uint64_t t0_ns);
/* The storms alone do: the first probes will tell when the schedule began. */
void account_start_storms(struct account *a, uint64_t t0_ns);

/* The first @len bytes of an Ethernet frame of @wire_len that came at @now_ns: all of it unless a
 * capture was cut short. Probes are counted in batches. */
void account_part(struct account *a, const uint8_t *frame, size_t len, size_t wire_len,
		  uint64_t now_ns);
static inline void account_frame(struct account *a, const uint8_t *frame, size_t len,
				 uint64_t now_ns)
{
	account_part(a, frame, len, len, now_ns);
}

/*
 * What to send. account_take() hands out the frame that is to be sent first of those due at @now_ns
 * (len, frame), or returns -1. For each one the source then calls account_sent() or, if there was
 * no room for it, account_unsent(), before it takes again: then it is the first once more.
 */
int account_take(struct account *a, uint64_t now_ns, struct answer *out);
void account_sent(struct account *a, const struct answer *answer);
void account_unsent(struct account *a, const struct answer *answer);

/* When the next frame is due; UINT64_MAX if none waits. */
uint64_t account_next_ns(const struct account *a);

/* Count what waits in the batch: before reading any counter, and after a burst. */
void account_flush(struct account *a);

#endif
