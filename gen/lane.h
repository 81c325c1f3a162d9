/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lanes: the threads that send.
 *
 * Guarantees
 *  - Of every stream a lane sends the packets whose number is congruent to it modulo the number of
 *    lanes, in order and without leaving one out. What the port refuses stays at the front and is
 *    offered again.
 *  - Streams of a lane are paced each by itself; whichever is due next ends a nap.
 *  - Lanes share nothing that any of them writes: no lock, no atomic read-modify-write. Each has its
 *    own queue and buffers, and for each stream a cache line of counters, which others read (relaxed:
 *    each counter is right by itself, two of them need not be of one moment while the lane runs).
 *  - The clock is read for a burst, never for a packet; without a rate for every LANE_CLOCK_BURSTS
 *    bursts.
 *  - With a rate, what goes out keeps the promises of lib/pace.h, stream by stream.
 *  - lanes_stop() ends them within LANE_SLEEP_MAX_NS and a burst.
 */
#ifndef GEN_LANE_H
#define GEN_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct lane;
struct plan;
struct ports;
struct trace;

struct lane_counters {
	_Atomic uint64_t sent_pkts;
	_Atomic uint64_t refused_pkts; /* offers that the port did not take */
	_Atomic uint64_t first_tx_ns, last_tx_ns; /* 0: nothing was sent */
	_Atomic uint64_t waiting_pkts; /* at the end: made, and still not taken by the port */
} __attribute__((aligned(64)));

struct lanes {
	const struct plan *plan;
	struct ports *ports;
	struct trace *trace; /* NULL: none */
	struct lane *lane;   /* an array */
	uint32_t nr, nr_started;
	uint64_t t0_ns, deadline_ns;
	atomic_bool stop;
	_Atomic uint32_t running;
	int done_fd;	     /* an eventfd: readable once no lane runs any more */
	_Atomic int error;   /* errno of a lane that could not start */
};

/* Start the plan's lanes; packet 0 is due at @t0_ns (CLOCK_MONOTONIC). On failure none is left. */
int lanes_start(struct lanes *l, const struct plan *plan, struct ports *ports, struct trace *trace,
		uint64_t t0_ns, struct err *err);

/* Ask them to end. May be called at any time after lanes_start(). */
void lanes_stop(struct lanes *l);

/* Wait until they have ended; only then are the transmit queues free for others. Returns 0, or
 * negative errno with a sentence if one of them could not run. */
int lanes_join(struct lanes *l, struct err *err);

/* After lanes_join(). The counters go with it. Valid on zeroed lanes. */
void lanes_free(struct lanes *l);

const struct lane_counters *lanes_counters(const struct lanes *l, uint32_t stream, uint32_t lane);

static inline uint64_t lanes_get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Packets of all streams that @lane has sent; *@refused: its offers that were refused. */
uint64_t lanes_sent(const struct lanes *l, uint32_t lane, uint64_t *refused);

#endif
