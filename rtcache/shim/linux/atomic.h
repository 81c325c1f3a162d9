/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_ATOMIC_H
#define SHIM_ATOMIC_H

#include <linux/types.h>

typedef struct {
	int v;
} atomic_t;

static inline int atomic_read(const atomic_t *a)
{
	return __atomic_load_n(&a->v, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *a)
{
	__atomic_fetch_sub(&a->v, 1, __ATOMIC_SEQ_CST);
}

static inline int atomic_inc_return(atomic_t *a)
{
	return __atomic_add_fetch(&a->v, 1, __ATOMIC_SEQ_CST);
}

/* Add @add unless it is @unless, or, other than the kernel's, above. Returns whether it did. */
static inline bool atomic_add_unless(atomic_t *a, int add, int unless)
{
	int old = atomic_read(a);

	while (old != unless)
		if (__atomic_compare_exchange_n(&a->v, &old, old + add, true, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

#define cmpxchg(ptr, expected, desired)                                                              \
	({                                                                                           \
		__typeof__(*(ptr)) shim_old = (expected);                                             \
		__atomic_compare_exchange_n(ptr, &shim_old, desired, false, __ATOMIC_SEQ_CST,         \
					    __ATOMIC_SEQ_CST);                                       \
		shim_old;                                                                            \
	})

#endif
