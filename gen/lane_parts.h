/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lane.c (sending) and lanes.c (life) share. No other file includes it. */
#ifndef GEN_LANE_PARTS_H
#define GEN_LANE_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gen/lane.h"
#include "gen/templates.h"
#include "gen/walk.h"
#include "lib/pace.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;
struct trace_ring;

/* One stream's share in a lane. */
struct lane_stream {
	struct lane_counters counters;
	const struct templates *templates;
	uint32_t cycle_at, cycle_step; /* of the next packet's template, of one packet's */
	uint64_t total;
	/* The packets from head on, pending of them, are made and not sent. */
	unsigned int head, pending;
	struct rte_mbuf *pkts[BATCH_MAX];
	struct pace pace;
	struct walk walk;
} __attribute__((aligned(64)));

struct lane {
	/* Constant while it runs. */
	struct lanes *lanes;
	struct rte_mempool *pool;
	struct rte_ring *replies; /* NULL: not this lane's business, or none */
	struct trace_ring *trace; /* NULL: none */
	uint16_t port, queue;
	int tag_offset;
	uint32_t burst;
	uint64_t nap_ns;
	bool naps; /* few packets come due meanwhile */
	pthread_t thread;

	uint32_t nr_streams;
	struct lane_stream *streams;
	struct batch batch; /* for one burst at a time */
} __attribute__((aligned(64)));

/* The thread: wait for t0, send, end. @arg: the lane. */
void *lane_main(void *arg);

/* Whether a lane that is to send @pps may nap; see LANE_NAP_PKTS. */
bool lane_may_nap(uint64_t pps, uint64_t nap_ns);

#endif
