/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample as the message that docs/protocol.md describes. New references; NULL if no memory. */
#ifndef MON_JSON_H
#define MON_JSON_H

#include <jansson.h>

#include "mon/cause.h"

struct sample;
struct sampler;
struct trace;

/* The sample without its drops. */
json_t *json_sample(const struct sampler *s, const struct sample *in);

/*
 * Add `drops`, `drops_pkts` and `hist_overflow` of what was last read. @hide: a cause that drops_pkts
 * leaves out (NR_CAUSES: none), so that a test can see the accounting fail.
 */
int json_add_drops(json_t *sample, const struct trace *t, enum cause hide);

/* b - a for every integer that both hold, down through objects; the rest of b is left out. */
json_t *json_difference(const json_t *a, const json_t *b);

#endif
