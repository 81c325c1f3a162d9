// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/answers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERS_FIRST 256u

void answers_free(struct answers *a)
{
	free(a->heap);
	free(a->pool);
	memset(a, 0, sizeof(*a));
}

static int answers_grow(struct answers *a)
{
	uint32_t size = a->size ? 2 * a->size : ANSWERS_FIRST;
	struct answers_key *heap;
	struct answer *pool;

	if (size > ANSWERS_MAX)
		return -1;
	heap = realloc(a->heap, size * sizeof(*heap));
	if (!heap)
		return -1;
	a->heap = heap;
	pool = realloc(a->pool, size * sizeof(*pool));
	if (!pool)
		return -1;
	a->pool = pool;
	for (uint32_t i = a->size; i < size; i++)
		heap[i].slot = i;
	a->size = size;
	return 0;
}

static bool answers_before(const struct answers_key *x, const struct answers_key *y)
{
	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns;
	return (int32_t)(x->turn - y->turn) < 0;
}

/* @key in, at the bottom, and up as far as it belongs. */
static void answers_rise(struct answers *a, struct answers_key key)
{
	uint32_t i = a->nr++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!answers_before(&key, &a->heap[parent]))
			break;
		a->heap[i] = a->heap[parent];
	}
	a->heap[i] = key;
}

/* @key takes the place of the first, and sinks as far as it belongs. */
static void answers_sink(struct answers *a, struct answers_key key)
{
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < a->nr) {
		if (child + 1 < a->nr && answers_before(&a->heap[child + 1], &a->heap[child]))
			child++;
		if (!answers_before(&a->heap[child], &key))
			break;
		a->heap[i] = a->heap[child];
		i = child;
	}
	a->heap[i] = key;
}

/* A slot for what is due then. */
static struct answer *answers_add(struct answers *a, uint64_t due_ns, uint32_t turn)
{
	struct answer *answer;
	uint32_t slot;

	if (a->nr == a->size && answers_grow(a))
		return NULL;
	slot = a->heap[a->nr].slot;
	answer = &a->pool[slot];
	answer->due_ns = due_ns;
	answer->turn = turn;
	answers_rise(a, (struct answers_key){due_ns, turn, slot});
	return answer;
}

struct answer *answers_push(struct answers *a, uint64_t due_ns)
{
	return answers_add(a, due_ns, a->turn++);
}

int answers_put_back(struct answers *a, const struct answer *answer)
{
	struct answer *again = answers_add(a, answer->due_ns, answer->turn);

	if (!again)
		return -1;
	*again = *answer;
	return 0;
}

int answers_pop(struct answers *a, uint64_t now_ns, struct answer *out)
{
	struct answers_key first;

	if (answers_next_ns(a) > now_ns || !a->nr)
		return -1;
	first = a->heap[0];
	*out = a->pool[first.slot];
	a->nr--;
	if (a->nr)
		answers_sink(a, a->heap[a->nr]);
	a->heap[a->nr].slot = first.slot;
	return 0;
}

uint64_t answers_next_ns(const struct answers *a)
{
	return a->nr ? a->heap[0].due_ns : UINT64_MAX;
}
