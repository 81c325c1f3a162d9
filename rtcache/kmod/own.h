/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refcnt=percpu: on output each CPU has results of its own, those that the kernel's lookup returned on
 * it, so that no two CPUs count references in one dst. A table of fixed size per CPU, which only its
 * CPU fills, with bottom halves off; what lies in a slot gives way to what comes. (Memory of each
 * entry's own per CPU would cost tens of thousands of instructions an entry.)
 */
#ifndef KMOD_OWN_H
#define KMOD_OWN_H

#include <net/route.h>

#include "core/key.h"

/* 0, or -ENOMEM after a message. */
int own_init(void);
void own_exit(void);

/*
 * This CPU's result for @key at generation @gen, with a reference, and its source address in @saddr; or
 * NULL. Under RCU.
 */
struct rtable *own_get(const struct rtcache_key *key, u64 hash, u32 gen, __be32 *saddr);

/* Keep @rt for this CPU, with a reference more. Under RCU. */
void own_put(const struct rtcache_key *key, u64 hash, u32 gen, struct rtable *rt, __be32 saddr);

/* Give back all CPUs' results of device @ifindex; 0: of all. */
void own_flush(int ifindex);

#endif
