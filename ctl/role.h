/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One program that dststorm drives: its process, its control connection, the requests that wait for
 * an answer. docs/protocol.md has the messages.
 */
#ifndef CTL_ROLE_H
#define CTL_ROLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <event2/bufferevent.h>
#include <jansson.h>

#include "ctl/loop.h"
#include "lib/wire.h"

struct role {
	const char *name;
	struct loop *loop;
	pid_t pid;		/* 0: no process, or it has ended */
	int status;		/* of the ended process, as waitpid() */
	bool ending;		/* it was told to end: its death is no failure */
	int netns;		/* network namespace that it is started in; -1: dststorm's */
	char log[4096];		/* file that holds its standard error */
	struct bufferevent *bev; /* NULL until connected and after the end of the connection */
	struct wire_reader reader;
	json_int_t last_id;
	const char *asked;	/* method of request last_id */
	json_t *reply;		/* to request last_id, until it is taken */
	uint64_t heard_ns;	/* when something came last */
	/* An event came: @msg is borrowed. */
	void (*on_event)(void *arg, struct role *r, const char *event, json_t *msg);
	void *arg;
};

void role_init(struct role *r, const char *name, struct loop *loop,
	       void (*on_event)(void *, struct role *, const char *, json_t *), void *arg);
void role_free(struct role *r);

/*
 * Start @argv with standard output and error in r->log, and with @death_signal should dststorm die.
 * Returns 0 or negative errno.
 */
int role_spawn(struct role *r, char *const argv[], int death_signal, struct err *err);

/* The same, but standard input and output are the control connection. */
int role_spawn_piped(struct role *r, char *const argv[], int death_signal, struct err *err);

/* Connect to the Unix socket @path, which the role makes within @timeout_ms. */
int role_connect(struct role *r, const char *path, uint64_t timeout_ms, struct err *err);

/* Ask; the answer is fetched by role_answer(). One request at a time. @params is stolen. */
void role_ask(struct role *r, const char *method, json_t *params);

/*
 * Wait for the answer to what was asked. Returns the result (a new reference), or NULL: then @err has the
 * sentence and *@code the exit code that belongs to it (EXIT_USAGE or EXIT_RIG).
 */
json_t *role_answer(struct role *r, uint64_t timeout_ms, int *code, struct err *err);

/* Both. */
json_t *role_call(struct role *r, const char *method, json_t *params, uint64_t timeout_ms,
		  int *code, struct err *err);

/* Ask without waiting; the answer is dropped. */
void role_cast(struct role *r, const char *method);

/* The process @pid ended. True if it was this role's; a death that nobody asked for fails the run. */
bool role_exited(struct role *r, pid_t pid, int status);

/* Ask the process to end: quit by the wire, then SIGTERM, then SIGKILL, @grace_ms for each. */
void role_end(struct role *r, uint64_t grace_ms);

/* Wait for the end of the process, up to @ms; also once the run has failed. */
void role_await_exit(struct role *r, uint64_t ms);

/* The last line that the process left in its log, or "". */
void role_last_words(const struct role *r, char *buf, size_t size);

#endif
