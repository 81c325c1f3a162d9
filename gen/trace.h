/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of every burst, for tests of the pacing: lanes put records into rings, the main thread
 * writes them to a file as CSV, "t_ns,lane,packets".
 *
 * Each ring has one writer (its lane) and one reader (the main thread). The release store of the
 * writer's position publishes the records before it; the acquire load of the reader's position
 * makes sure that a record is overwritten only after it was read. A full ring drops the record and
 * counts it: trace_close() then fails, so a hole is never mistaken for a pause.
 */
#ifndef GEN_TRACE_H
#define GEN_TRACE_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

struct err;

#define TRACE_RECORDS 262144u /* a power of two: 262 ms of single packets at 1 Mpps */

struct trace_record {
	uint64_t t_ns;
	uint64_t packets;
};

struct trace_ring {
	_Atomic uint64_t written __attribute__((aligned(64)));
	_Atomic uint64_t lost;
	_Atomic uint64_t read __attribute__((aligned(64)));
	struct trace_record records[TRACE_RECORDS];
};

struct trace {
	FILE *file;
	char *path;
	struct trace_ring *rings;
	uint32_t nr_lanes;
};

/* Open @path, then get rings for the lanes. 0, or negative errno with a sentence. */
int trace_open(struct trace *t, const char *path, struct err *err);
int trace_start(struct trace *t, uint32_t nr_lanes, struct err *err);

/* Write out what the rings hold. Called often, by one thread. */
void trace_drain(struct trace *t);

/* Drain, close. An error if a record was lost or could not be written. Valid on a zeroed trace. */
int trace_close(struct trace *t, struct err *err);

static inline void trace_burst(struct trace_ring *r, uint64_t t_ns, unsigned int packets)
{
	uint64_t at = atomic_load_explicit(&r->written, memory_order_relaxed);
	uint64_t read = atomic_load_explicit(&r->read, memory_order_acquire);

	if (at - read == TRACE_RECORDS) {
		atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
		return;
	}
	r->records[at % TRACE_RECORDS] = (struct trace_record){ t_ns, packets };
	atomic_store_explicit(&r->written, at + 1, memory_order_release);
}

#endif
