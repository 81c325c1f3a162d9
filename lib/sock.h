/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unix sockets to listen on, and what dead programs left of theirs. */
#ifndef LIB_SOCK_H
#define LIB_SOCK_H

struct err;

/*
 * Make sure that a socket can be bound to @path: remove a socket that nobody listens on any more.
 * Returns 0; -EADDRINUSE if somebody listens; -EEXIST if there is something that is no socket;
 * -ENAMETOOLONG; other negative errno. The sentence is in @err.
 */
int sock_make_way(const char *path, struct err *err);

/* Listen on @path, mode 0600, non-blocking. Returns the descriptor or negative errno. */
int sock_listen(const char *path, struct err *err);

#endif
