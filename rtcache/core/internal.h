/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cache's files share, and nobody else sees. */
#ifndef RTCACHE_INTERNAL_H
#define RTCACHE_INTERNAL_H

#include "rtcache.h"

/* --- table.c ---------------------------------------------------------------------------------- */

struct rtcache_table *rtcache_table_new(u32 buckets);
void rtcache_table_free(struct rtcache_table *t);

/* Remove the least recently used entry of the next set that has any. Returns whether there was one. */
bool rtcache_table_evict(struct rtcache *c);

/* Remove those of the next @sets sets that were not used for longer than @idle. */
void rtcache_table_sweep(struct rtcache *c, u32 sets, u32 now, u32 idle);

/* Remove those that @match; NULL: all. */
void rtcache_table_flush(struct rtcache *c, struct rtcache_table *t,
			 bool (*match)(const struct rtcache_entry *e, const void *arg),
			 const void *arg);

/* --- entry.c ---------------------------------------------------------------------------------- */

/* Not in the table yet; one reference. NULL for want of memory. */
struct rtcache_entry *rtcache_entry_new(struct rtcache *c, const struct rtcache_key *key, u64 hash,
					const struct rtcache_value *v, u32 now);
/* It never was in the table: gone at once, its object stays the caller's. */
void rtcache_entry_discard(struct rtcache_entry *e);
/* Give a reference back; with the last one it is freed after a grace period. */
void rtcache_entry_put(struct rtcache_entry *e);

/* --- timer.c ---------------------------------------------------------------------------------- */

void rtcache_list_init(struct rtcache_list *l);
/* A new entry, which nobody else sees yet. */
void rtcache_timer_add(struct rtcache *c, struct rtcache_links *links);
void rtcache_timer_del(struct rtcache_links *links);
/* Remove those on @l that were not used for longer than @idle. */
void rtcache_timer_expire(struct rtcache *c, struct rtcache_list *l, u32 now, u32 idle);

/* --- rmap.c ----------------------------------------------------------------------------------- */

struct rtcache_bucket *rtcache_rmap_new(u32 buckets);
void rtcache_rmap_free(struct rtcache_bucket *rmap);
/* The lock of the entry's set is held. Returns 0 or -ENOMEM. */
int rtcache_rmap_add(struct rtcache *c, struct rtcache_entry *e, u32 gateway);
void rtcache_rmap_del(struct rtcache_links *links);
/* Each next hop, with its entries and how many of them are linked. Nobody changes the table. */
void rtcache_rmap_each(const struct rtcache_table *t,
		       void (*each)(void *arg, u32 dev, u32 gateway, u32 nr, u32 linked), void *arg);

/* --- gc.c ------------------------------------------------------------------------------------- */

/* Take a place in the count: false if max_size has been reached. */
bool rtcache_gc_admit(struct rtcache *c);
/* An insertion is about to come. No lock is held. */
void rtcache_gc_relieve(struct rtcache *c, u32 now);

#endif
