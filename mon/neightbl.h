/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer to RTM_GETNEIGHTBL: counters, thresholds and times of one neighbour table. libnl can
 * only set these, so the attributes are parsed here. Pure; trusts no length in the message.
 */
#ifndef MON_NEIGHTBL_H
#define MON_NEIGHTBL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neightbl {
	uint8_t family; /* AF_INET, AF_INET6 */
	uint32_t entries; /* all, also those that no threshold counts */
	uint32_t gc_thresh1, gc_thresh2, gc_thresh3;
	uint32_t entry_size; /* bytes, without what the device adds */
	uint64_t reachable_time_ms; /* drawn anew every 300 s from 0.5 to 1.5 x base_reachable_time
				     */
	uint64_t base_reachable_time_ms;
	uint64_t retrans_time_ms;
	uint32_t mcast_probes;
	uint64_t allocs, destroys, hash_grows, res_failed, lookups, hits;
	uint64_t periodic_gc_runs, forced_gc_runs, table_fulls;
};

/*
 * Parse one RTM_NEWNEIGHTBL message of @len bytes, header included. Returns 1 with @t filled for a
 * table's own message, 0 for one about the settings of a single device, -EBADMSG.
 */
int neightbl_parse(struct neightbl *t, const void *msg, size_t len);

#endif
