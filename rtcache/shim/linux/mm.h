/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_MM_H
#define SHIM_MM_H

#include <linux/slab.h>

void *kvzalloc(size_t size, gfp_t flags);
void *kvcalloc(size_t nr, size_t size, gfp_t flags);
void kvfree(void *p);

#endif
