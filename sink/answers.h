/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that wait for their time. The delay is the same for all, so the order of the requests is
 * the order of the answers: a ring that grows. One owner at a time.
 */
#ifndef SINK_ANSWERS_H
#define SINK_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/nd.h"

#define ANSWERS_MAX (1u << 21) /* then new ones are dropped: 240 MB of them */

struct answer {
	uint64_t due_ns;
	uint32_t len;
	uint8_t frame[ND_FRAME_MAX];
};

struct answers {
	struct answer *ring;
	size_t size; /* power of two, or 0 */
	size_t head, tail; /* free running: tail - head wait */
};

void answers_free(struct answers *a);

/* Room for one more, to be filled at once; NULL if there is no memory or ANSWERS_MAX wait. */
struct answer *answers_push(struct answers *a);

/* The @n-th that waits, or NULL if there are not so many or it is not due at @now_ns. */
const struct answer *answers_due(const struct answers *a, size_t n, uint64_t now_ns);

/* The first @n are done. */
void answers_pop(struct answers *a, size_t n);

/* When the first is due; UINT64_MAX if none waits. */
uint64_t answers_next_ns(const struct answers *a);

#endif
