/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_REFCOUNT_H
#define SHIM_REFCOUNT_H

#include <linux/types.h>

typedef struct {
	unsigned int v;
} refcount_t;

static inline void refcount_set(refcount_t *r, unsigned int n)
{
	__atomic_store_n(&r->v, n, __ATOMIC_RELAXED);
}

static inline unsigned int refcount_read(const refcount_t *r)
{
	return __atomic_load_n(&r->v, __ATOMIC_RELAXED);
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	unsigned int old = refcount_read(r);

	while (old)
		if (__atomic_compare_exchange_n(&r->v, &old, old + 1, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	return __atomic_sub_fetch(&r->v, 1, __ATOMIC_ACQ_REL) == 0;
}

#endif
