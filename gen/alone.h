/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flood started from the command line, without a controller. */
#ifndef GEN_ALONE_H
#define GEN_ALONE_H

struct err;
struct options;

/*
 * Run it to its end, or until SIGINT or SIGTERM. The statistics go to stdout and to the file of
 * --json, also when it failed half-way. *@code: the exit code. Returns 0, or negative errno with a
 * sentence.
 */
int alone_run(const struct options *o, int *code, struct err *err);

#endif
