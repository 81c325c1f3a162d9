/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent on the host under test: a state machine that answers the controller (docs/protocol.md)
 * and one event loop. One thread; nothing blocks, but for configure_wait6().
 */
#ifndef MON_AGENT_H
#define MON_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "mon/cause.h"
#include "mon/nevents.h"
#include "mon/port.h"
#include "mon/resync.h"
#include "mon/rtnl.h"
#include "mon/sample.h"
#include "mon/trace.h"
#include "mon/undo.h"

struct err;

enum agent_state {
	AGENT_IDLE,
	AGENT_CONFIGURED,
	AGENT_ARMED,
	AGENT_RUNNING,
	AGENT_DRAINING,
	AGENT_DONE
};

struct agent {
	struct event_base *base;
	struct event *second, *drain, *signals[3];
	struct port port;
	enum agent_state state;
	const char *version;
	bool test_hooks;

	struct sampler sampler;
	struct trace trace;
	char trace_why[256]; /* why drops cannot be told by cause; "" if they can */
	struct undo undo;
	int restored; /* changes of a crashed run that were put back at the start */

	struct rtnl_link links[SAMPLE_IFS_MAX];
	bool has_ipv6[SAMPLE_IFS_MAX]; /* an address of it was configured */
	struct nevents events;
	struct resync resync;
	bool want_events;
	int events_rcvbuf;
	enum cause hide_cause;
	json_t *baseline;

	enum {
		AGENT_STAYS,
		AGENT_QUITS,
		AGENT_PANICS,
		AGENT_HANGS
	} then; /* after the answer is out */
};

struct agent_options {
	const char *port; /* NULL: stdin and stdout */
	const char *state; /* file for what has to be put back; NULL: none */
	const char *version;
	bool test_hooks;
};

int agent_open(struct agent *a, const struct agent_options *o, struct err *err);
/* Serve until told to quit, the input ends, or a signal comes. */
int agent_run(struct agent *a, struct err *err);
/* Put back what was changed on this host and free everything. */
int agent_close(struct agent *a, struct err *err);

/* One sample with all that can be had, without the rest of the agent. New reference. */
int agent_once(json_t **sample, struct err *err);

/* The rest is between the files agent*.c. */

int agent_event(struct agent *a, const char *name, json_t *fields);
void agent_warn(struct agent *a, const char *text);
int agent_sample(struct agent *a, bool full, json_t **sample, struct err *err);
const char *agent_state_name(enum agent_state s);
void agent_message(void *agent, json_t *msg);
void agent_links_down(struct agent *a);

typedef int agent_verb_fn(struct agent *a, const json_t *params, json_t **result, struct err *err);
agent_verb_fn agent_configure;

#endif
