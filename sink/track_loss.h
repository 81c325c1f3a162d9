/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The half of track that deals with what did not come. Private to track*.c. */
#ifndef SINK_TRACK_LOSS_H
#define SINK_TRACK_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct track;
struct track_flow;

/* Give @f a window, with nothing in it. Returns 0 or -ENOMEM. */
int track_loss_window(struct track *t, struct track_flow *f);

/* Move the window so that @seq, which is beyond its end, is in it. What falls out is final. */
void track_loss_slide(struct track *t, struct track_flow *f, uint64_t seq);

/* Judge what is left in the window of a flow with a schedule, and what was sent beyond it. */
void track_loss_finish(struct track *t, struct track_flow *f);

/* One past the last number that was sent or came. */
uint64_t track_loss_end(const struct track_flow *f);

/* Whether the flow is known not to have sent @seq. */
bool track_loss_unsent(const struct track_flow *f, uint64_t seq);

/* Cyclic orders: the destination index of position @pos among those of the flow's shard, and
 * whether any of its packets was sent. */
uint64_t track_loss_index(const struct track_flow *f, uint64_t pos);
bool track_loss_reached(const struct track_flow *f, uint64_t pos);

#endif
