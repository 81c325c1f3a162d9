/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What agent.c (connection, time, life) and methods.c (requests) share. No other file includes it. */
#ifndef GEN_AGENT_PARTS_H
#define GEN_AGENT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>

#include "gen/flood.h"
#include "lib/wire.h"

struct agent {
	struct flood flood;
	struct evconnlistener *listener;
	struct bufferevent *client; /* the controller, or NULL */
	struct wire_reader reader;
	struct event *tick, *sigint, *sigterm;
	uint64_t heard_ns, next_sample_ns;
	FILE *json;

	/* An "arm" that waits for the peer: answered later. */
	bool arming;
	json_int_t arm_id;
	uint64_t arm_until_ns;

	bool quitting;
	uint64_t quit_ns;

	int ret;
	struct err *err;
};

/* agent.c: send @msg, which is stolen (NULL: there was no memory for it). */
void agent_send(struct agent *a, json_t *msg);

/* methods.c: answer one request. */
void agent_request(struct agent *a, json_t *msg);

/* methods.c: answer a waiting "arm" once the peer is there, or the time is over. */
void agent_arm_poll(struct agent *a, uint64_t now);

#endif
