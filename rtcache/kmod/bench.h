/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debugfs file `bench`: what a route lookup costs, measured in the kernel. Write one line
 *
 *	dir=input|output dst=PREFIX [n=LOOKUPS] [order=seq|permute] [cpus=N] [dev=NAME src=ADDRESS]
 *
 * and read JSON. Each of the first N CPUs of the machine makes n lookups, all at once, of the addresses
 * of PREFIX in turn, in the network namespace of the writer: of packets that came in by dev from src,
 * or of a socket that sends. In the order `permute` each address comes once before any comes twice.
 * They go by the kernel's entries, so a hook sees them. What the loop itself costs, which makes the
 * address and the packet or flow ready, is in all figures, and told as loop_cycles_per_lookup, for
 * whoever compares lookups to take off. The write returns when all is done, or at a deadly signal.
 */
#ifndef KMOD_BENCH_H
#define KMOD_BENCH_H

struct dentry;

void bench_init(struct dentry *dir);
void bench_exit(void); /* after the file is gone */

#endif
