/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One flood from configuration to end: plan, ports, lanes, answers and trace under one state
 * machine. It lives in an event loop; whoever drives it (alone.c, agent.c) is told when it ends.
 */
#ifndef GEN_FLOOD_H
#define GEN_FLOOD_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#include "dpdk/eal.h"
#include "gen/answer.h"
#include "gen/lane.h"
#include "gen/plan.h"
#include "gen/ports.h"
#include "gen/seen.h"
#include "gen/trace.h"
#include "lib/err.h"

struct event;
struct event_base;

enum flood_state {
	FLOOD_IDLE,
	FLOOD_CONFIGURED,
	FLOOD_ARMED,
	FLOOD_RUNNING,
	FLOOD_DONE,
	FLOOD_FAILED,
};

struct flood {
	/* Set by the owner before flood_init(). */
	struct event_base *base;
	struct ports ports; /* their names */
	struct eal_options eal;
	const char *trace_path; /* NULL: none */
	/* Every packet is sent, or the time is over (FLOOD_DONE), or it failed (FLOOD_FAILED). */
	void (*ended)(struct flood *f, void *arg);
	void *arg;

	enum flood_state state;
	struct err err; /* why FLOOD_FAILED */
	struct plan plan;
	struct lanes lanes;
	struct answer answer;
	struct seen *seen; /* one a stream */
	struct trace trace;
	struct event *tick, *done;
	uint64_t next_check_ns, tick_ns;
	uint64_t silent_ns[PORTS_MAX]; /* when a port was first seen to refuse all; 0: never */
};

/* Each returns 0 or negative errno with a sentence, and must be called in this order. */
int flood_init(struct flood *f, struct err *err);
int flood_configure(struct flood *f, const struct plan_request *r, struct err *err);
/* Starts DPDK, opens the ports and the trace. -EINVAL: the user's arguments are to blame. */
int flood_arm(struct flood *f, struct err *err);
bool flood_ready(struct flood *f);			 /* armed, and ports_ready() */
int flood_start(struct flood *f, uint64_t t0_ns, struct err *err);

/* End the lanes now. Harmless in any state. */
void flood_stop(struct flood *f);

/* Give all back, in any state. An error if the trace was not written whole. */
int flood_free(struct flood *f, struct err *err);

/* The statistics so far; once configured. While it runs, what is counted of the destinations of random
 * orders may lag behind. A new reference, NULL if no memory. */
json_t *flood_stats(struct flood *f);

const char *flood_state_name(enum flood_state state);
uint64_t flood_clock_ns(void);

#endif
