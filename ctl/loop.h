/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop of a run, and how a run fails: the first failure is kept, later ones are only its
 * consequences.
 */
#ifndef CTL_LOOP_H
#define CTL_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <event2/event.h>

#include "lib/err.h"

struct loop {
	struct event_base *base;
	struct event *sigint, *sigterm, *sighup, *sigchld;
	bool failed;
	bool dut_died;	   /* the failure is the death of the host under test */
	struct err err;	   /* the first failure */
	void (*on_exit)(void *arg, int pid, int status);
	void *on_exit_arg;
};

/* Signals INT, TERM and, unless ignored, HUP become a failure "interrupted"; children that end are told to @on_exit. */
int loop_init(struct loop *l, void (*on_exit)(void *, int, int), void *arg, struct err *err);
void loop_free(struct loop *l);

/* The run has failed. Only the first call counts. */
void loop_fail(struct loop *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Run the loop until done(arg) is true, the run has failed, or @timeout_ms have passed.
 * Returns 0, -ETIMEDOUT, or -ECANCELED when the run has failed (l->err tells why).
 */
int loop_wait(struct loop *l, bool (*done)(void *arg), void *arg, uint64_t timeout_ms);

/* Let @ms pass. 0 or -ECANCELED. */
int loop_sleep(struct loop *l, uint64_t ms);

#endif
