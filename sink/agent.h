/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: docs/protocol.md, column "sink". One controller at a time, one run, then the
 * end.
 */
#ifndef SINK_AGENT_H
#define SINK_AGENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

struct err;
struct source;

struct agent_conf {
	const char *path; /* of the control socket */
	const char *version; /* for hello */
	struct source *source;
	struct sink_files files;
	bool passive; /* answer nothing */
	const sigset_t *end; /* signals that end the program; blocked by the caller */
};

/*
 * Serve until `quit`, a signal of @end, or the loss of the controller. Statistics are written as
 * conf->files says, whatever the reason. Returns 0, or negative errno: -ECONNRESET if the
 * controller went away in the middle.
 */
int agent_run(const struct agent_conf *conf, struct err *err);

#endif
