/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample as the message that docs/protocol.md describes. New references; NULL if no memory. */
#ifndef MON_JSON_H
#define MON_JSON_H

#include <stdint.h>

#include <jansson.h>

#include "mon/cause.h"

struct sample;
struct sampler;
struct trace;

/* The sample without its drops. */
json_t *json_sample(const struct sampler *s, const struct sample *in);

/*
 * Add what was last read of the drops: `drops` (rows; `cause` is null for packets that the
 * accounting is not about), `drops_pkts` (received IP packets by cause), `drops6_pkts` (of these
 * IPv6), `own_drops_pkts` and `own_drops6_pkts` (packets that the host made itself),
 * `hist_overflow` (drops that no row holds: the sums are too small then). @answered_pkts: of IPv4
 * and IPv6, as in struct sample; they are local, and get a row.
 * @hide: a cause that drops_pkts leaves out (NR_CAUSES: none), so that a test can see the
 * accounting fail.
 */
int json_add_drops(json_t *sample, const struct trace *t, const uint64_t answered_pkts[2],
		   enum cause hide);

/* b - a for every integer that both hold, down through objects; the rest of b is left out. */
json_t *json_difference(const json_t *a, const json_t *b);

#endif
