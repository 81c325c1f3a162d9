/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading both neighbour tables anew after events were lost. A dump of a large table takes seconds:
 * it comes through a socket of its own, a buffer at a time, and the event loop does everything else
 * in between. Under load a dump misses and repeats entries, so what it shows is no truth, only
 * something to compare with the table's own counter once quiet.
 */
#ifndef MON_RESYNC_H
#define MON_RESYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct event;
struct event_base;

struct resync_seen {
	uint64_t dumped, distinct;
};

/* @err: NULL if all went well; @seen: IPv4, IPv6. */
typedef void resync_done_fn(void *ctx, const struct resync_seen seen[2], const struct err *err);

struct resync {
	int fd; /* -1: none is on */
	struct event *readable;
	unsigned family; /* 0: IPv4, 1: IPv6 */
	struct resync_keys {
		uint64_t *keys; /* 64 bits of each neighbour's: 8 bytes an entry */
		size_t nr, room;
	} keys;
	struct resync_seen seen[2];
	resync_done_fn *done;
	void *ctx;
};

/* All zero but fd = -1 is a resync that is not on. @done is called from the event loop. */
int resync_start(struct resync *r, struct event_base *base, resync_done_fn *done, void *ctx,
		 struct err *err);
void resync_stop(struct resync *r); /* done is not called any more */

/*
 * Take the neighbours out of @len bytes of netlink messages. 1: the dump goes on, 0: it is over,
 * negative: the kernel's errno, or -EBADMSG. Pure.
 */
int resync_take(struct resync_keys *k, const void *messages, size_t len);

/* Sort and count; empties @k. */
struct resync_seen resync_count(struct resync_keys *k);

#endif
