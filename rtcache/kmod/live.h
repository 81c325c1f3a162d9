/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache that the lookups use, its switches and its limits: the module's parameters. */
#ifndef KMOD_LIVE_H
#define KMOD_LIVE_H

#include "core/rtcache.h"

/* There from live_init() to live_exit(), and always the same. */
extern struct rtcache *live_cache;

/* 0, or -ENOMEM after a message. */
int live_init(void);

/* Nobody looks up any more. All results have been given back when it returns. */
void live_exit(void);

/* From any context that may use a softirq's locks. */
void live_flush_dev(u32 ifindex);

/*
 * Switch the lookup; with off all results are given back. Nobody may be looking up when it becomes off.
 * Returns 0, or -EINVAL after a message: it does not go with the other switches.
 */
int live_lookup_set(enum rtcache_lookup lookup);

#endif
