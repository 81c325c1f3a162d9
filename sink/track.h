/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What arrived, judged. Pure: bytes were decoded before, time is in the argument, nothing is read
 * or written here.
 *
 * With a schedule (lib/sched.h) every packet number has one destination and one due time. Packets
 * are numbered per flow, a flow being one shard of one stream. A flow has a window of bits over its
 * numbers; what leaves the window, or is left in it at the end, is final: delivered or lost.
 *
 * Cyclic orders: only what is final and lost touches the slot of its destination, in the order of
 * the numbers, so that gaps are exact whatever the order of arrival, and a delivered packet costs no
 * slot at all unless it is the first of its destination. Slots are by position in the order, not by
 * address: a scan costs memory for the destinations that it sends to, however large their set is.
 *
 * Random orders and windows tell nothing of a destination's other packets. So the schedule is
 * walked in the order of the numbers, as they become final, and each of them touches the slot of its
 * destination, delivered or lost. Slots are by index, for each shard, because any shard may hit any
 * destination: TRACK_DRAWS_MAX of them at most. First deliveries are from the earliest due time
 * over all shards; a gap is among the packets of one shard. Without a rate their numbers have no
 * end: one beyond the window is foreign if the flow had no time to get there, even with a packet
 * every TRACK_LEAST_NS. So a forged number cannot make the walk longer than that.
 *
 * Without a schedule (track_init_free) destinations are counted by address and lost packets by the
 * range of numbers seen; there are no due times, hence no first delivery and no gap.
 *
 * Every probe given is counted in exactly one of rx, dup, late, foreign.
 *
 * Memory, by the flow: TRACK_BYTES_PER_DESTINATION for each destination that it sends to, one bit
 * more for "seen" (random orders and windows: TRACK_BYTES_PER_DRAW for each destination of the
 * set), and 2^window_bits / 8 bytes (512 KiB). Not thread safe: one owner at a time.
 */
#ifndef SINK_TRACK_H
#define SINK_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addrset.h"
#include "lib/hist.h"
#include "lib/probe.h"
#include "lib/sched.h"
#include "sink/recip.h"
#include "sink/tally.h"

struct err;

#define TRACK_BATCH	  64u /* probes accounted together, at most */
#define TRACK_WINDOW_BITS 22u /* log2 of the packets a flow may be out of order by */
#define TRACK_FREE_FLOWS  256u /* without a schedule: flows told apart */
#define TRACK_LEAST_NS	  4u /* between packets of a flow without a rate: at 100 Gbit/s it is 6.7 */
#define TRACK_DELAY_MAX	  UINT64_C(100000000000) /* 100 s: greatest value a histogram tells apart */
#define TRACK_DIGITS	  3
#define TRACK_SLOTS_MAX	  (UINT64_C(1) << 32) /* destinations that a flow of a cyclic order has */
#define TRACK_DRAWS_MAX	  (UINT64_C(1) << 26) /* those of another, all its shards together */

/* How the tally tells an IPv4 address from an IPv6 one: ::ffff:0:0/96, as RFC 4291 maps them. */
#define TRACK_MAPPED	  (UINT64_C(0xffff) << 32)

/* One probe and when it came. */
struct track_probe {
	uint64_t arrival_ns; /* same clock as probe.due_ns */
	struct addr dst;
	struct probe probe;
	bool v6; /* family of dst */
};

/* What is known of a destination of a cyclic order. "Occurrence" o is its o-th packet of the
 * schedule, from 0. */
struct track_slot {
	uint64_t first_delivery_ns; /* valid if the destination was seen */
	uint64_t gap_ns; /* longest run of lost ones, but for the one that may go on */
	uint32_t missing; /* occurrences that are final and did not arrive */
	uint32_t run_first; /* the run of lost ones that may go on: its first occurrence */
	uint32_t run_end; /* ... and the one after its last */
};
#define TRACK_BYTES_PER_DESTINATION 32u
_Static_assert(sizeof(struct track_slot) == TRACK_BYTES_PER_DESTINATION, "a slot is 32 bytes");

/* What is known of a destination of a random order or window, as far as one flow sent to it.
 * Numbers are one more than they are: 0 is none. */
struct track_draw {
	uint64_t first_seq; /* that is final */
	uint64_t run_seq; /* first one of the run of lost ones that may go on */
	uint64_t gap_ns;
	uint64_t received; /* that are final */
	uint64_t arrival_ns; /* of the first to arrive, of all flows; without a rate, its delay */
};
#define TRACK_BYTES_PER_DRAW 40u
_Static_assert(sizeof(struct track_draw) == TRACK_BYTES_PER_DRAW, "a draw is 40 bytes");

struct track_flow {
	/* Constant once initialised. */
	struct sched sched;
	bool cyclic;
	uint32_t stream;
	uint64_t limit; /* numbers from here on are foreign */
	uint64_t period; /* cyclic: numbers of one pass, UINT64_MAX if it is more */
	struct recip per_visit, per_pass;
	uint64_t nr_sent; /* track_sent(); UINT64_MAX: not told */
	uint64_t *lanes; /* ditto, of each lane; NULL: one */
	uint32_t nr_lanes;
	/* Destinations. */
	uint64_t nr_slots;
	struct track_slot *slots; /* cyclic: by position among those of the shard */
	uint64_t *seen; /* ditto, bits */
	struct track_draw *draws; /* else: by index in the set */
	/* The window: numbers base <= seq < base + 2^window_bits. */
	uint64_t *bits;
	uint64_t base; /* multiple of 64; everything below is final */
	uint64_t next; /* greatest number seen, plus 1: RFC 4737's NextExp */
	uint64_t least; /* without a schedule: least number seen */
	uint64_t rx;
	uint64_t t0_ns; /* of this flow: when its number 0 is due */
	bool t0_known;
};

struct track_counts {
	uint64_t rx_pkts; /* distinct probes */
	uint64_t dup_pkts; /* copies of one that is in the window */
	uint64_t late_pkts; /* older than the window: new or copy, who knows */
	uint64_t foreign_pkts; /* no such flow or number (yet), or not that number's destination */
	uint64_t reordered_pkts; /* of rx: number below one that came before (RFC 4737) */
	uint64_t early_pkts; /* of rx: before they were due; their delay counts as 0 */
	uint64_t destinations_seen;
	/* After track_finish(): */
	uint64_t lost_pkts;
	uint64_t destinations_expected; /* those that the packets sent should have reached */
	uint64_t destinations_unseen;
};

/* Nanoseconds. Gaps come with track_finish(), and so do first deliveries of random orders. */
enum track_hist { TRACK_DELAY, TRACK_FIRST_DELIVERY, TRACK_GAP, TRACK_HISTS };

/* What came of a stream. A destination of two streams counts in both. */
struct track_result {
	struct track_counts counts;
	struct hist hist[TRACK_HISTS];
};

struct track_stream {
	const struct addrset *set;
	uint64_t n;
	bool v6, cyclic;
	uint64_t start_ns;
	uint32_t nr_shards;
	struct track_flow *flows; /* nr_shards */
	uint64_t *seen; /* not cyclic: n bits */
	struct track_result result;
};

struct track {
	bool scheduled, finished;
	unsigned int window_bits;
	struct track_stream *streams;
	uint32_t nr_streams;
	struct tally tally; /* without a schedule */
	struct track_flow **free_flows; /* ditto: 65536 pointers by stream and shard */
	uint32_t nr_free_flows;
	/* Without a schedule everything; with one, what belongs to no stream, and room for the sum
	 * of the histograms if there are several. */
	struct track_result rest;
	int failed; /* -ENOMEM once memory ran out: the counts are incomplete */
};

/* One stream of the schedule: @scheds has @nr_shards of them, for the shards in order. */
struct track_stream_conf {
	const struct addrset *set; /* sealed; stays the caller's and must outlive the track */
	const struct sched *scheds;
	uint32_t nr_shards;
	uint64_t start_ns; /* after t0: when number 0 is due */
};

/*
 * Account by the schedule. @window_bits: 7 to 30. Returns 0; -ENOMEM with what was needed; -E2BIG
 * if one destination would get 2^32 packets or more, or there are more destinations than can be
 * told apart.
 */
int track_init(struct track *t, const struct track_stream_conf *streams, uint32_t nr_streams,
	       unsigned int window_bits, struct err *err);
/* Account without one. */
int track_init_free(struct track *t, unsigned int window_bits, struct err *err);
void track_free(struct track *t);

/* The schedule begins at @t0_ns. If never called, each flow takes it from its first probe. */
void track_start(struct track *t, uint64_t t0_ns);

/* Account @n <= TRACK_BATCH probes in order of arrival. */
void track_batch(struct track *t, const struct track_probe *p, unsigned int n);

/*
 * Tell what the flow really sent: @lanes[l] packets by lane l of @nr_lanes, where lane l owns the
 * numbers congruent to l and sent its first ones. Flows never told are taken to have sent the
 * greatest number that arrived, and all before it. Returns 0; -EINVAL if there is no such flow
 * or more than the schedule holds; -ENOMEM.
 */
int track_sent(struct track *t, uint32_t stream, uint32_t shard, const uint64_t *lanes,
	       uint32_t nr_lanes, struct err *err);
/* The same for all flows: everything that their schedules hold. Not if the schedule has no end. */
void track_sent_all(struct track *t);

/* Everything is in: judge what is left in the windows, fill gap. Once. */
void track_finish(struct track *t);

/* All streams together: the sums of their counts (a destination counts in each of its streams), and
 * one of their histograms, which is valid until the next call. */
struct track_counts track_counts(const struct track *t);
const struct hist *track_hist(struct track *t, enum track_hist which);

/* Nanoseconds between two visits of a destination: the resolution of gaps; for random orders the
 * mean. The greatest of all flows of the stream, and of all streams. */
uint64_t track_stream_resolution_ns(const struct track_stream *s);
uint64_t track_resolution_ns(const struct track *t);

/* Packets by which the probes seen so far fall short of those sent so far; as far as the greatest
 * number seen tells, exact after track_finish(). */
uint64_t track_stream_lost(const struct track_stream *s);
uint64_t track_lost(const struct track *t);

/* One destination, after track_finish(). */
struct track_destination {
	struct addr addr;
	bool v6;
	uint32_t stream; /* with a schedule */
	bool seen;
	uint64_t received;
	uint64_t first_delivery_ns; /* if seen, and with a schedule */
	uint64_t gap_ns; /* with a schedule */
};

/* Walk those that something was sent to (with a schedule: stream after stream, in ascending order of
 * address) or came for. Stops and returns what @fn returns if not 0; -ENOMEM. */
int track_each(const struct track *t, int (*fn)(void *arg, const struct track_destination *d),
	       void *arg);

#endif
