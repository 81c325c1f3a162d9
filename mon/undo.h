/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mon changed on this host, so that it can be put back: at the end, and after a crash at the
 * next start. Each change is on disk before it is made. In a guest there is no file, because the
 * guest ends with the run.
 */
#ifndef MON_UNDO_H
#define MON_UNDO_H

#include <jansson.h>

struct err;
struct rtnl;

struct undo {
	char path[192]; /* "": nothing is kept on disk */
	json_t *log; /* an array of changes, oldest first */
};

/*
 * @path: the state file, NULL for none. If a file is left from a crashed run, what it tells is put
 * back first. Returns the number of changes that were put back, or a negative errno.
 */
int undo_open(struct undo *u, const char *path, struct rtnl *r, struct err *err);

/* Put everything back, newest change first, and forget it; goes on past what fails and tells the
 * last. */
int undo_all(struct undo *u, struct rtnl *r, struct err *err);

void undo_close(struct undo *u); /* forgets, puts nothing back */

/* Tell of a change before it is made. */
int undo_sysctl(struct undo *u, const char *key, const char *old, struct err *err);
int undo_address(struct undo *u, const char *ifname, int ifindex, const char *address,
		 struct err *err);
/* @via: NULL for a route that has none. */
int undo_route(struct undo *u, const char *prefix, const char *type, const char *via,
	       struct err *err);
/* The change that was told of last was none. */
int undo_forget_last(struct undo *u, struct err *err);
int undo_link_up(struct undo *u, const char *ifname, int ifindex, struct err *err);

#endif
