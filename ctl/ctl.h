/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of dststorm share. One thread, one libevent loop: code that waits runs the loop
 * (loop_wait) and everything that happens meanwhile, samples, deaths, signals, is handled there.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <jansson.h>

#include "lib/err.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* CLOCK_MONOTONIC. */
uint64_t ctl_now_ns(void);

/* Verbs: the arguments after the verb, as in main(). Return the exit code. */
int verb_run(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_doctor(int argc, char **argv);

/* Where a program or script of this project lies: beside the running dststorm, in its build/ or
 * scripts/, else in PATH. @buf: PATH_MAX bytes. 0 or -ENOENT. */
int ctl_find(const char *name, char *buf, struct err *err);

/* First line of what "@argv" prints; 0, or -EIO with the last line of its stderr in @err. */
int ctl_capture(char *const argv[], char *out, size_t size, struct err *err);

/* MemAvailable of /proc/meminfo in MB; 0 if unknown. */
unsigned long ctl_available_mb(void);

extern const char *ctl_version, *ctl_git_id;

#endif
