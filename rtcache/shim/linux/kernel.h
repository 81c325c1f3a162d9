/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdio.h>

#include <linux/types.h>

/* As snprintf(), but returns what was written. */
int scnprintf(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
