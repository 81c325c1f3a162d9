/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPDK's environment: started quietly, with nothing of it left in the file system, and with its
 * failures told in one sentence.
 */
#ifndef DPDK_EAL_H
#define DPDK_EAL_H

#include <stdbool.h>

struct err;

#define EAL_PCI_MAX 8

struct eal_options {
	const char *name;	/* of the program */
	bool telemetry;		/* let dpdk-telemetry.py in, by the file prefix NAME-PID */
	bool huge;		/* hugepages, otherwise ordinary memory */
	unsigned int memory_mb;
	const char *pci[EAL_PCI_MAX]; /* addresses of the devices to look at; all others are let be */
	unsigned int nr_pci;
	char **args;		/* more arguments, from the user; NULL-terminated or NULL */
};

/*
 * Start it, once in a process. The calling thread becomes DPDK's main thread and keeps its CPU
 * affinity. What DPDK prints, now and later, is kept and not shown. Returns 0, or negative errno
 * with DPDK's own reason in the sentence.
 */
int eal_start(const struct eal_options *o, struct err *err);

/* Give everything back. Does nothing if it was not started. */
void eal_stop(void);

/* The last line that DPDK logged since eal_start() or the last call, or "" if none; one thread. */
const char *eal_last_words(void);

#endif
