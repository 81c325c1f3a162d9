/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where frames come from while a sink runs: one way to open, start and stop each kind of source.
 * Captures, which end by themselves, are not here (sink/source_pcap.h).
 *
 * Guarantees: one thread receives, accounts and answers. It holds the lock given to source_start()
 * whenever it touches the sink, for one burst at a time; whoever else takes that lock sees whole
 * bursts. After source_stop() the sink is the caller's alone.
 */
#ifndef SINK_SOURCE_H
#define SINK_SOURCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct port_name;
struct sink;
struct source;

enum source_kind { SOURCE_NONE, SOURCE_PORT, SOURCE_LIVE, SOURCE_PCAP };

struct source_conf {
	enum source_kind kind; /* SOURCE_PORT or SOURCE_LIVE */
	const struct port_name *port; /* of SOURCE_PORT */
	const char *interface; /* of SOURCE_LIVE; must outlive the source */
	bool huge, telemetry; /* port */
	unsigned int memory_mb; /* port: for packets; 0: as much as it takes */
	unsigned int buffer_mb; /* live: the kernel's ring */
};

/* Returns 0, -EINVAL if it can never work as it was asked for, or another negative errno. */
int source_open(struct source **s, const struct source_conf *conf, struct err *err);
void source_close(struct source *s); /* may be NULL */

/* True while somebody is there to send frames; and who is not, for people. */
bool source_ready(const struct source *s);
void source_waits_for(const struct source *s, char *buf, size_t size);

/* Begin to receive into @sink. Returns 0 or negative errno; -EPERM if it must not answer there. */
int source_start(struct source *s, struct sink *sink, pthread_mutex_t *lock, struct err *err);
/* What came before is received yet. Does nothing if it was not started. */
void source_stop(struct source *s);

/* 0, or negative errno with a sentence if receiving ended by itself. The thread then sends the
 * process a SIGTERM, in case somebody waits. */
int source_failure(const struct source *s, struct err *err);

#endif
