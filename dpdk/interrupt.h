/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT and SIGTERM while DPDK works: some drivers wait for a peer, for ever, in a system call. In
 * between begin and end these signals make system calls of the main thread fail with EINTR, at once
 * and every second, so that the driver gives up.
 */
#ifndef DPDK_INTERRUPT_H
#define DPDK_INTERRUPT_H

#include <signal.h>

struct interrupt {
	struct sigaction before[3];
	sigset_t mask;
};

/* In the main thread, one at a time. */
void interrupt_begin(struct interrupt *i);
/* All is as before. Returns the signal that came, or 0; it is raised again, for who waits for it. */
int interrupt_end(const struct interrupt *i);

#endif
