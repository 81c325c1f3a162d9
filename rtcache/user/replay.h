/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RTCACHE_USER_REPLAY_H
#define RTCACHE_USER_REPLAY_H

struct err;

/*
 * Replay the trace in file @path ("-": standard input), and print the state. A first line
 * "axes AXIS=VALUE ..." sets the switches.
 * Returns 0 or negative errno; -EINVAL names the line.
 */
int replay_file(const char *path, struct err *err);

#endif
