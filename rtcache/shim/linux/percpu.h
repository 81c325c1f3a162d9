/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that calls the cache is a CPU: it calls shim_cpu_set() first. A CPU's part of an object
 * lies SHIM_CPU_STRIDE behind that of the one before.
 */
#ifndef SHIM_PERCPU_H
#define SHIM_PERCPU_H

#include <linux/types.h>

enum { SHIM_CPUS = 16, SHIM_CPU_STRIDE = 4096 };

extern __thread ptrdiff_t shim_cpu_offset;

static inline void shim_cpu_set(unsigned int cpu)
{
	shim_cpu_offset = (ptrdiff_t)cpu * SHIM_CPU_STRIDE;
}

void *shim_alloc_percpu(size_t size);
void free_percpu(void *p);

#define alloc_percpu(type) ((type *)shim_alloc_percpu(sizeof(type)))
#define per_cpu_ptr(p, cpu) ((__typeof__(p))((char *)(p) + (ptrdiff_t)(cpu) * SHIM_CPU_STRIDE))
#define this_cpu_ptr(p) ((__typeof__(p))((char *)(p) + shim_cpu_offset))
#define this_cpu_inc(lvalue)                                                                         \
	({                                                                                           \
		__typeof__(&(lvalue)) shim_at = this_cpu_ptr(&(lvalue));                              \
		WRITE_ONCE(*shim_at, *shim_at + 1);                                                  \
	})
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)

#endif
