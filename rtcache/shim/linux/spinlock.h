/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread is a CPU, and nothing interrupts it: bottom halves are no matter. */
#ifndef SHIM_SPINLOCK_H
#define SHIM_SPINLOCK_H

#include <pthread.h>

#include <linux/types.h>

typedef pthread_spinlock_t spinlock_t;
typedef struct {
	int v; /* readers; -1: a writer */
} rwlock_t;

static inline void shim_relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

static inline void rwlock_init(rwlock_t *l)
{
	l->v = 0;
}

static inline void read_lock_bh(rwlock_t *l)
{
	for (;;) {
		int v = __atomic_load_n(&l->v, __ATOMIC_RELAXED);

		if (v >= 0 && __atomic_compare_exchange_n(&l->v, &v, v + 1, true, __ATOMIC_ACQUIRE,
							  __ATOMIC_RELAXED))
			return;
		shim_relax();
	}
}

static inline void read_unlock_bh(rwlock_t *l)
{
	__atomic_fetch_sub(&l->v, 1, __ATOMIC_RELEASE);
}

static inline void write_lock_bh(rwlock_t *l)
{
	int none = 0;

	while (!__atomic_compare_exchange_n(&l->v, &none, -1, true, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		shim_relax();
	}
}

static inline void write_unlock_bh(rwlock_t *l)
{
	__atomic_store_n(&l->v, 0, __ATOMIC_RELEASE);
}

#define SINGLE_DEPTH_NESTING 1
#define spin_lock_init(l) pthread_spin_init(l, PTHREAD_PROCESS_PRIVATE)
#define spin_lock(l) pthread_spin_lock(l)
#define spin_lock_nested(l, depth) pthread_spin_lock(l)
#define spin_unlock(l) pthread_spin_unlock(l)
#define spin_lock_bh(l) pthread_spin_lock(l)
#define spin_unlock_bh(l) pthread_spin_unlock(l)
#define local_bh_disable() ((void)0)
#define local_bh_enable() ((void)0)

#endif
