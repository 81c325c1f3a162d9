/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From bytes to counts: every frame that a source hands in ends up in exactly one counter.
 *	frames = rx + dup + late + foreign + bad_csum + other + arp_requests
 *	arp_requests = answers promised + arp_silent + arp_refused + arp_dropped
 * Pure but for memory; not thread safe.
 */
#ifndef SINK_ACCOUNT_H
#define SINK_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/answers.h"
#include "sink/respond.h"
#include "sink/track.h"

/* Sees every frame, whatever becomes of it. */
typedef void account_tap_fn(void *arg, const uint8_t *frame, size_t len, uint64_t now_ns);

struct account_counts {
	uint64_t frames_pkts;
	uint64_t bad_csum_pkts; /* IPv4 with a wrong header checksum */
	uint64_t other_pkts; /* neither probe nor ARP request */
	uint64_t arp_requests;
	uint64_t arp_replies; /* sent; the source counts it */
	uint64_t arp_silent; /* by the scenario's wish */
	uint64_t arp_refused; /* must not be answered */
	uint64_t arp_dropped; /* too many answers wait */
};

struct account {
	struct track track;
	bool answers_arp; /* respond and answers are in use */
	struct respond respond;
	struct answers answers;
	struct account_counts counts;
	uint64_t first_ns, last_ns; /* arrivals; valid if frames_pkts */
	struct track_probe batch[TRACK_BATCH];
	unsigned int nr_batch;
	account_tap_fn *tap; /* or NULL */
	void *tap_arg;
};

/* @a->track must be initialised, @a->respond if answers_arp; the rest zero. */
void account_free(struct account *a);

/* One Ethernet frame of @len bytes that came at @now_ns. Probes are counted in batches. */
void account_frame(struct account *a, const uint8_t *frame, size_t len, uint64_t now_ns);

/* Count what waits in the batch: before reading any counter, and after a burst. */
void account_flush(struct account *a);

#endif
