/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames from an interface of this host, through libpcap and the kernel's TPACKET_V3 ring; answers
 * go out by the same socket. Needs CAP_NET_RAW and nothing else.
 *
 * Guarantees
 *  - Every frame that reaches the interface after source_live_start() and before source_live_stop()
 *    is handed to the account, or is in capture_dropped_pkts (the ring was full) or in
 *    interface_dropped_pkts (it never got to the ring). What this host itself sends is in neither.
 *  - Both are 64-bit counts of this run, however often the kernel's 32-bit ones wrap: they are read
 *    ten times a second.
 *  - Times are the kernel's, taken when the frame arrived, and not when it was read. They are moved
 *    from CLOCK_REALTIME to CLOCK_MONOTONIC with the distance of the two clocks, measured anew for
 *    each batch between two readings of one around one of the other, the narrowest of four: wrong
 *    by half of that (some 50 ns) at most, unless the clock is set while a batch waits.
 *  - An interface that is set down or goes is a failure of the source, within a second;
 *    one whose other end is down is not: it may come back.
 *  - The lock is held for one batch, of some hundred frames, and never while waiting.
 */
#ifndef SINK_SOURCE_LIVE_H
#define SINK_SOURCE_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct sink;
struct source_live;

#define LIVE_BUFFER_MB	   64u
#define LIVE_BUFFER_MAX_MB 2047u

/* Open @name promiscuously, with a ring of @buffer_mb. Returns 0; -ENODEV, -EPERM (CAP_NET_RAW),
 * -ENETDOWN, -EINVAL (not Ethernet) and others. */
int source_live_open(struct source_live **l, const char *name, unsigned int buffer_mb,
		     struct err *err);
void source_live_close(struct source_live *l); /* may be NULL */

bool source_live_ready(const struct source_live *l);
void source_live_waits_for(const struct source_live *l, char *buf, size_t size);

/* Returns -EPERM if the sink would answer on an interface that carries a default route. */
int source_live_start(struct source_live *l, struct sink *sink, pthread_mutex_t *lock,
		      struct err *err);
void source_live_stop(struct source_live *l);
int source_live_failure(const struct source_live *l, struct err *err);

#endif
