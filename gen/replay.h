/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates from a capture: one for each packet that can carry a probe. */
#ifndef GEN_REPLAY_H
#define GEN_REPLAY_H

#include <stdint.h>

struct err;
struct scenario_stream;
struct template_fields;
struct templates;

/* As templates_init(), for a stream with a replay. -EINVAL if no packet of the file will do. */
int replay_load(struct templates *t, const struct scenario_stream *stream, struct template_fields *f,
		uint32_t *tag, struct err *err);

#endif
