/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What agent.c (the connection) and agent_methods.c (the run) share. */
#ifndef SINK_AGENT_PRIVATE_H
#define SINK_AGENT_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sink/agent.h"

struct bufferevent;
struct event;
struct event_base;
struct evconnlistener;
struct wire_reader;

enum agent_state {
	AGENT_IDLE,
	AGENT_CONFIGURED,
	AGENT_ARMED,
	AGENT_RUNNING,
	AGENT_DRAINING,
	AGENT_DONE,
	AGENT_FAILED,
};

/*
 * The lock guards sink.account while the source's thread runs (from arm to finish); everything else
 * belongs to the thread of agent_run().
 */
struct agent {
	const struct agent_conf *conf;
	enum agent_state state;
	struct sink sink;
	pthread_mutex_t lock;
	char *hist_dir; /* of configure; replaces conf->files.hist_dir */
	/* arm, while it waits for the guest */
	bool arming;
	json_int_t arm_id;
	uint64_t arm_until_ns;
	/* the connection */
	struct event_base *base;
	struct evconnlistener *listener;
	struct bufferevent *controller;
	struct wire_reader *reader;
	struct event *tick, *signal;
	int signal_fd;
	uint64_t heard_ns, opened_ns;
	uint64_t next_sample_ns; /* whole seconds after t0 */
	bool quitting; /* end once the last answer is out, or AGENT_FLUSH_NS later */
	uint64_t quit_ns;
	bool end;
	int ret; /* of agent_run() */
	struct err *err;
};

/* How a method ends. */
enum agent_reply {
	AGENT_RESULT, /* *result is set */
	AGENT_DEFERRED, /* the answer comes later */
	AGENT_USAGE, /* error, code 2; the sentence is in err */
	AGENT_RIG, /* error, code 3; ditto */
};

enum agent_reply agent_call(struct agent *a, const char *method, json_int_t id, json_t *params,
			    json_t **result, struct err *err);

/* Once a tick: is arm done? */
void agent_arm_poll(struct agent *a);

/* The statistics now: a new reference or NULL. Takes the lock. */
json_t *agent_stats(struct agent *a);

/* Whatever the state: stop receiving, judge, write the files. Idempotent. */
int agent_finish(struct agent *a, struct err *err);

/* In agent.c: send; @message is stolen and may be NULL. */
void agent_send(struct agent *a, json_t *message);

#endif
