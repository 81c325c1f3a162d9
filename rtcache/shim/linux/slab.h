/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory. Freed memory is poisoned, and shim_fail_after() makes allocations fail. */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <linux/types.h>

#define GFP_KERNEL 0u
#define GFP_ATOMIC 0u
#define __GFP_NOWARN 0u

struct kmem_cache;

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned long flags,
				     void (*ctor)(void *));
void kmem_cache_destroy(struct kmem_cache *s);
void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags);
void kmem_cache_free(struct kmem_cache *s, void *p);
void *kmalloc(size_t size, gfp_t flags);
void kfree(void *p);

/* Of @nr allocations one fails, by chance; 0: none. */
void shim_fail_one_in(unsigned int nr);
/* Objects that are allocated now, of all of the above. */
long shim_allocated(void);

#endif
