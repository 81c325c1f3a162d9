/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a burst of packets consists of, one array a field, so that each step of the work is a short
 * loop over arrays that the compiler turns into vectors. walk.c fills the upper half, template.c
 * the lower.
 */
#ifndef GEN_BATCH_H
#define GEN_BATCH_H

#include <stdint.h>

#define BATCH_MAX 1024u /* the greatest burst that a scenario may ask for */

struct batch_chunk {
	uint64_t lo, hi;
};

struct batch {
	uint64_t seq;	   /* of the first packet */
	uint64_t seq_step; /* to the next one of this lane */
	uint32_t dst[BATCH_MAX], src[BATCH_MAX]; /* host byte order */
	uint64_t due_ns[BATCH_MAX];

	struct batch_chunk ip[BATCH_MAX], probe[BATCH_MAX]; /* as they lie in the frame */
} __attribute__((aligned(64)));

#endif
