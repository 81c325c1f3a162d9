/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames from a port of DPDK's (dpdk/port.h); answers to ARP go back the same way.
 *
 * Guarantees: one thread receives, accounts and answers. It holds the lock given to
 * source_port_start() whenever it touches the account, for one burst at a time; whoever else takes
 * that lock sees whole bursts, and should give it back within a millisecond: until then the guest's
 * ring (256 packets by QEMU's default) is all the room there is. After source_port_stop() the
 * account is the caller's alone.
 */
#ifndef SINK_SOURCE_PORT_H
#define SINK_SOURCE_PORT_H

#include <pthread.h>
#include <stdbool.h>

struct err;
struct sink;
struct source_conf;
struct source_port;

/* Start DPDK and the port. Once in a process. Returns 0; -EINVAL: it was asked for wrongly; other
 * negative errno. */
int source_port_open(struct source_port **s, const struct source_conf *conf, struct err *err);
/* Everything goes. @s may be NULL. */
void source_port_close(struct source_port *s);

/* port_ready() and port_waits_for() (dpdk/port.h) of the port. */
bool source_port_ready(struct source_port *s);
void source_port_waits_for(struct source_port *s, char *buf, size_t size);

int source_port_start(struct source_port *s, struct sink *sink, pthread_mutex_t *lock,
		      struct err *err);
/* Does nothing if it was not started. */
void source_port_stop(struct source_port *s);
/* Of af_packet: and af_xdp:, as of live: (sink/source_live.h). */
int source_port_failure(const struct source_port *s, struct err *err);

#endif
