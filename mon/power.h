/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the first process of a guest must do besides its work. */
#ifndef MON_POWER_H
#define MON_POWER_H

#include <stdbool.h>

struct err;

bool power_is_init(void);

/* Write out what is cached and power the machine off. Only for the first process. */
void power_off(void) __attribute__((noreturn));

/* Say @why on the console and end the machine: QEMU runs with -no-reboot and exits. As above. */
void power_fail(const char *why) __attribute__((noreturn));

/* Orphans become children of the first process: collect those that ended. */
void power_reap(void);

/* Crash the kernel at once; returns only if that failed. */
int power_panic(struct err *err);

#endif
