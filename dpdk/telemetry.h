/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program's counters in DPDK's telemetry, beside DPDK's own: dpdk-telemetry.py finds them.
 *
 * DPDK asks from a thread of its own. It is answered with a copy of what the program told last, so
 * that no counter has to be read by two threads: tell a few times a second.
 */
#ifndef DPDK_TELEMETRY_H
#define DPDK_TELEMETRY_H

#include <jansson.h>

struct err;

/*
 * After eal_start() with eal_options.telemetry: answer @command, as "/dststorm/gen/stats". One in a
 * process. @command and @help must stay. Returns 0 or negative errno.
 */
int telemetry_open(const char *command, const char *help, struct err *err);

/* Until the next call this is the answer. @stats, an object, is stolen; NULL: there is none. */
void telemetry_tell(json_t *stats);

#endif
