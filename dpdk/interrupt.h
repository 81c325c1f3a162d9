/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT and SIGTERM while DPDK works: some drivers wait for a peer, for ever, in a system call. In
 * between begin and end these signals make system calls of the calling thread fail with EINTR, again
 * and again, so that the driver gives up. Threads that are made meanwhile have both blocked.
 */
#ifndef DPDK_INTERRUPT_H
#define DPDK_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct interrupt {
	pthread_t caller, thread;
	bool running;
	sigset_t wanted, mask;
	struct sigaction before[3];
};

/* One at a time in a process. */
void interrupt_begin(struct interrupt *i);
/* All is as before. Returns the signal that came, or 0; it is raised again, for who waits for it. */
int interrupt_end(struct interrupt *i);

#endif
