/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of a run's sockets, and the janitor: a small process that outlives dststorm, however
 * it ends, by as long as it takes to end what it had started and to remove that folder.
 */
#ifndef CTL_RUNDIR_H
#define CTL_RUNDIR_H

#include <sys/types.h>

#include "lib/err.h"

struct rundir {
	char path[64]; /* short: a Unix socket's name has 108 bytes */
	int janitor;   /* pipe to the janitor; its end of file is the signal */
	pid_t janitor_pid;
};

/* Remove folders whose dststorm is gone, make one, start the janitor. 0 or negative errno. */
int rundir_open(struct rundir *r, struct err *err);

/* The janitor shall end @pid too, should dststorm die. */
void rundir_guard(struct rundir *r, pid_t pid);

/* Remove the folder and dismiss the janitor. */
void rundir_close(struct rundir *r);

#endif
