/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `dststorm-mon watch`: a table for people, or one line of JSON, in each interval. */
#ifndef MON_WATCH_H
#define MON_WATCH_H

#include <stdbool.h>

struct err;

struct watch_options {
	double interval_s; /* WATCH_INTERVAL_MIN to WATCH_INTERVAL_MAX */
	bool json;
};

#define WATCH_INTERVAL_MIN 0.1
#define WATCH_INTERVAL_MAX 3600.0

/* Until SIGINT, SIGTERM, SIGHUP or SIGQUIT, the key q where input and output are a terminal, or until
 * nobody reads the output any more. */
int watch_run(const struct watch_options *o, struct err *err);

#endif
