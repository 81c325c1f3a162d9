// SPDX-License-Identifier: GPL-2.0-or-later
#include "sched_parts.h"

void sched_fill64(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *index,
		  unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		index[i] = sched_index(s, seq + i * step);
}

void sched_fill32(const struct sched *s, uint64_t seq, uint64_t step, uint32_t *index,
		  unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		index[i] = (uint32_t)sched_index(s, seq + i * step);
}
