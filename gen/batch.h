/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a burst of packets consists of, one array a field, so that each step of the work is a short
 * loop over arrays that the compiler turns into vectors. walk.c fills the upper half, template.c
 * the lower. Of two families' arrays a stream uses one's.
 */
#ifndef GEN_BATCH_H
#define GEN_BATCH_H

#include <stdint.h>

#define BATCH_MAX 1024u /* the greatest burst that a scenario may ask for */
/* Arrays of a power of two would lie on the same few sets of the L1 cache: a burst uses but the
 * beginning of each. */
#define BATCH_ROOM (BATCH_MAX + 80u)

struct batch_chunk {
	uint64_t lo, hi;
};

struct batch {
	uint64_t seq;	   /* of the first packet */
	uint64_t seq_step; /* to the next one of this lane */
	uint64_t due_ns[BATCH_ROOM];
	uint32_t dst[BATCH_ROOM], src[BATCH_ROOM]; /* IPv4, host byte order */
	uint64_t dst_hi[BATCH_ROOM], dst_lo[BATCH_ROOM]; /* IPv6, the same */
	uint64_t src_hi[BATCH_ROOM], src_lo[BATCH_ROOM];
	uint32_t ports[BATCH_ROOM]; /* source << 16 | destination; of templates that take them */
	uint32_t index[BATCH_ROOM]; /* walk.c's: of destinations, then of sources */
	uint64_t index64[BATCH_ROOM];

	/* As they lie in the frame. */
	struct batch_chunk probe[BATCH_ROOM];
	struct batch_chunk ip[BATCH_ROOM];  /* IPv4: half of the header; IPv6: the source */
	struct batch_chunk ip2[BATCH_ROOM]; /* IPv6: the destination */
	uint64_t l4[BATCH_ROOM], tail[BATCH_ROOM];
} __attribute__((aligned(64)));

#endif
