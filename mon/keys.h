/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys as they are pressed, from standard input where that is a terminal. Stopped and at the end the
 * terminal is in the mode in which it was found; while this process is in the background it is
 * neither touched nor read.
 */
#ifndef MON_KEYS_H
#define MON_KEYS_H

#include <stdbool.h>
#include <termios.h>

struct event;
struct event_base;

struct keys {
	struct event *readable;
	struct termios found;
	bool on, known; /* known: found is to be put back */
};

/* From then on q ends the loop of @base. Without a terminal nothing is done, here and below. */
void keys_open(struct keys *k, struct event_base *base);
void keys_close(struct keys *k);

/* Begin, if this process is in the foreground by now. A shell does not always tell: ask again. */
void keys_on(struct keys *k);
/* For SIGCONT: a shell had the terminal meanwhile. */
void keys_continue(struct keys *k);
/* For SIGTSTP, which the caller catches: stop, as without. Returns when the process goes on. */
void keys_stop(struct keys *k);

#endif
