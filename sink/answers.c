// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/answers.h"

#include <stdlib.h>
#include <string.h>

#define ANSWERS_FIRST 256u

void answers_free(struct answers *a)
{
	free(a->ring);
	memset(a, 0, sizeof(*a));
}

static struct answer *answers_slot(const struct answers *a, size_t i)
{
	return &a->ring[i & (a->size - 1)];
}

static int answers_grow(struct answers *a)
{
	size_t size = a->size ? 2 * a->size : ANSWERS_FIRST;
	struct answer *ring;

	if (size > ANSWERS_MAX)
		return -1;
	ring = malloc(size * sizeof(*ring));
	if (!ring)
		return -1;
	for (size_t i = a->head; i != a->tail; i++)
		ring[i - a->head] = *answers_slot(a, i);
	free(a->ring);
	*a = (struct answers){.ring = ring, .size = size, .tail = a->tail - a->head};
	return 0;
}

struct answer *answers_push(struct answers *a)
{
	if (a->tail - a->head == a->size && answers_grow(a))
		return NULL;
	return answers_slot(a, a->tail++);
}

const struct answer *answers_due(const struct answers *a, size_t n, uint64_t now_ns)
{
	const struct answer *answer;

	if (a->tail - a->head <= n)
		return NULL;
	answer = answers_slot(a, a->head + n);
	return answer->due_ns <= now_ns ? answer : NULL;
}

void answers_pop(struct answers *a, size_t n)
{
	a->head += n;
}

uint64_t answers_next_ns(const struct answers *a)
{
	return a->head == a->tail ? UINT64_MAX : answers_slot(a, a->head)->due_ns;
}
