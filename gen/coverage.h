/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many distinct destinations of a stream were really reached, from what each lane really sent.
 * Never from the plan: that is the other side of the comparison.
 *
 * A lane sends its packets in order and leaves none out, so a count for each lane says which
 * packets of the stream have gone out. This is for cyclic orders and windows, where that is enough;
 * gen/seen.h is for the others.
 */
#ifndef GEN_COVERAGE_H
#define GEN_COVERAGE_H

#include <stdint.h>

#include "lib/sched.h"

/*
 * @sent: packets sent by each of the @nr_lanes lanes. Exact. *@distinct is set unless memory runs
 * out: -ENOMEM. Takes microseconds, except where one lane is far ahead of another in a window, in
 * visits that are shorter than there are lanes, or by a whole pass: then time grows with the packets
 * between them, and memory with the destinations they reach (a bit for each).
 */
int coverage_distinct(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes,
		      uint64_t *distinct);

#endif
