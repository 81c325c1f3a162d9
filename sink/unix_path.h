/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SINK_UNIX_PATH_H
#define SINK_UNIX_PATH_H

struct err;

/*
 * Make sure that a socket can be made at @path: a socket that nobody listens on any more is
 * removed. Returns 0; -EADDRINUSE if somebody listens; -EEXIST if something else is there;
 * -ENAMETOOLONG.
 */
int unix_path_claim(const char *path, struct err *err);

#endif
