/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of track for orders that are drawn (random orders and windows): what a destination gets
 * is known only by walking the schedule. Private to track*.c. */
#ifndef SINK_TRACK_DRAW_H
#define SINK_TRACK_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct track_destination;
struct track_flow;
struct track_stream;

/* The numbers @seq to @seq + 63 are final, those with a bit in @valid at least; those with a bit in
 * @lost did not come. Each number once, in ascending order. */
void track_draw_settle(struct track_flow *f, uint64_t seq, uint64_t lost, uint64_t valid);

/* Everything is final: judge the runs that go on, fill the histograms. */
void track_draw_finish(struct track_stream *s);

/* What became of destination @index, after that. Returns false if nothing was sent to it. */
bool track_draw_of(const struct track_stream *s, uint64_t index, struct track_destination *d);

#endif
