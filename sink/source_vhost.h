/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames from a guest, through a vhost-user socket that this process listens on; answers to ARP go
 * back the same way. The only user of DPDK, with eal.c.
 *
 * Guarantees: one thread receives, accounts and answers. It holds the lock given to
 * source_vhost_start() whenever it touches the account, for one burst at a time; whoever else takes
 * that lock sees whole bursts, and should give it back within a millisecond: until then the guest's
 * ring (256 packets by QEMU's default) is all the room there is. After source_vhost_stop() the
 * account is the caller's alone.
 */
#ifndef SINK_SOURCE_VHOST_H
#define SINK_SOURCE_VHOST_H

#include <pthread.h>
#include <stdbool.h>

struct account;
struct err;
struct source_vhost;

/* Start DPDK and listen at @socket (mode 0600), which exists when this returns. Once in a process.
 * Returns 0 or negative errno. */
int source_vhost_open(struct source_vhost **v, const char *socket, bool huge,
		      unsigned int memory_mb, struct err *err);
/* Everything goes, the socket too. @v may be NULL. */
void source_vhost_close(struct source_vhost *v);

/* True while a guest is there and its driver is ready. */
bool source_vhost_link(const struct source_vhost *v);

int source_vhost_start(struct source_vhost *v, struct account *a, pthread_mutex_t *lock,
		       struct err *err);
/* Does nothing if it was not started. */
void source_vhost_stop(struct source_vhost *v);

#endif
