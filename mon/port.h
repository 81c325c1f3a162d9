/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line to the controller: NDJSON over a virtio-serial port, or over stdin and stdout. Nothing
 * here ever blocks but port_flush(). Events are given up when the host does not read; answers
 * never.
 */
#ifndef MON_PORT_H
#define MON_PORT_H

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>
#include <jansson.h>

#include "lib/wire.h"

struct err;

struct port {
	int in, out;
	int in_flags, out_flags; /* of the caller's, put back at the end */
	bool is_device; /* the host may come and go; else the end of the input is the end */
	struct wire_reader reader;
	struct event *readable, *writable, *retry;
	char *queue;
	size_t queued, room;
	unsigned long lost_events; /* given up, as the host does not read */

	void (*on_message)(void *ctx, json_t *msg);
	void (*on_bad_message)(void *ctx, const char *text);
	void (*on_end)(void *ctx);
	void *ctx;
};

/* @path: the device; NULL for stdin and stdout. The callbacks are set before. */
int port_open(struct port *p, struct event_base *base, const char *path, struct err *err);
void port_close(struct port *p);

/* @msg is stolen. @droppable: an event. A message longer than a line may be returns -EMSGSIZE. */
int port_send(struct port *p, json_t *msg, bool droppable);

/* Write what is queued, for at most @timeout_ms. */
void port_flush(struct port *p, int timeout_ms);

#endif
