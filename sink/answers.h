/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that wait for their time: a heap by due time, first in first out among equals, that grows
 * to a bound. One owner at a time.
 */
#ifndef SINK_ANSWERS_H
#define SINK_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/nd.h"

#define ANSWERS_MAX (1u << 21) /* then new ones are refused: 270 MB of them */

/* What kind of frame it is: what counts it once it is sent. */
enum answer_kind {
	ANSWER_ARP,
	ANSWER_ND,
	ANSWER_COPY, /* a further answer to the same request */
	ANSWER_ANNOUNCEMENT, /* nobody asked */
};

struct answer {
	uint64_t due_ns;
	uint32_t turn; /* among those due together */
	uint8_t kind;
	uint8_t len;
	uint8_t frame[ND_FRAME_MAX]; /* an ARP frame is shorter */
};

/* The heap holds keys; keys from @nr on hold the slots of the pool that are free. */
struct answers_key {
	uint64_t due_ns;
	uint32_t turn; /* modulo 2^32: fewer than half of that wait */
	uint32_t slot;
};

struct answers {
	struct answers_key *heap;
	struct answer *pool;
	uint32_t size, nr;
	uint32_t turn; /* of the next new one */
};

void answers_free(struct answers *a);

/* Room for one that is due at @due_ns, to be filled at once (kind, len, frame); NULL if there is no
 * memory or ANSWERS_MAX wait. */
struct answer *answers_push(struct answers *a, uint64_t due_ns);

/* Take out the one that is due first. Returns 0; -1 if none is due at @now_ns. */
int answers_pop(struct answers *a, uint64_t now_ns, struct answer *out);

/* Put back one that was popped: its turn stays. There is room if nothing was pushed since. Returns
 * 0, or -1 if there is none. */
int answers_put_back(struct answers *a, const struct answer *answer);

/* When the first is due; UINT64_MAX if none waits. */
uint64_t answers_next_ns(const struct answers *a);

#endif
