/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings under /proc/sys. Keys are written "net.ipv4.ip_forward", or with '/' like the path. */
#ifndef MON_SYSCTL_H
#define MON_SYSCTL_H

#include <stddef.h>

struct err;
struct undo;

#define SYSCTL_PATH_MAX 256

/* The path of @key; -EINVAL for one that would leave /proc/sys. Pure. */
int sysctl_path(char path[SYSCTL_PATH_MAX], const char *key, struct err *err);

/* Numbers in a list are separated by tabs or blanks, as the kernel likes: compare them as words.
 * Pure. */
int sysctl_same(const char *a, const char *b);

int sysctl_write(const char *key, const char *value, struct err *err);

/*
 * Remember the old value in @u, write @value, read it back. -EINVAL with one sentence that names
 * the key and the value if the kernel refuses it, does not have it, or keeps another value.
 */
int sysctl_set(struct undo *u, const char *key, const char *value, struct err *err);

#endif
