/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DPDK's environment, started silently and without traces in the file system. */
#ifndef SINK_EAL_H
#define SINK_EAL_H

#include <stdbool.h>

struct err;

/* Once in a process. The caller keeps its CPU affinity. Returns 0 or negative errno. */
int eal_start(bool huge, unsigned int memory_mb, struct err *err);
void eal_stop(void);

/* The last thing that DPDK complained about, or "". */
const char *eal_complaint(void);

#endif
