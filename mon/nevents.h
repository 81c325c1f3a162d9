/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbour events of the kernel, counted by type. Listening is not free: each event, each victim
 * of the neighbour GC too, is a message that the kernel allocates under the table's lock. So
 * nothing is parsed beyond the type, and nobody is woken: the owner drains now and then.
 *
 * The socket is finite. What did not fit is counted by the kernel (SO_MEMINFO) and told as an
 * overrun: from then on `fresh` and `gone` are lower bounds, never "nothing happened".
 */
#ifndef MON_NEVENTS_H
#define MON_NEVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define NEVENTS_RCVBUF (16 << 20)

struct nevents {
	int fd; /* -1: not listening */
	uint64_t fresh, gone; /* RTM_NEWNEIGH (an entry's change of state, too), RTM_DELNEIGH */
	uint64_t overruns; /* times that the socket overflowed */
	uint64_t lost; /* messages that did not fit */
	uint32_t kernel_drops; /* of the socket, at the last look */
	bool unsynced; /* an overrun since the last nevents_synced() */
};

/* @rcvbuf: bytes, 0 for the default. Listens from zero. */
int nevents_open(struct nevents *n, int rcvbuf, struct err *err);
void nevents_close(struct nevents *n); /* the counts stay */

/* Take what is there, at most @max messages. Returns how many, or a negative errno. */
int nevents_drain(struct nevents *n, unsigned max, struct err *err);

/* Tell that the state was read anew by a dump. */
void nevents_synced(struct nevents *n);

#endif
