/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account as JSON and as files. docs/protocol.md has the fields. */
#ifndef SINK_STATS_H
#define SINK_STATS_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct sink;

/* A new reference, or NULL if there is no memory. @state: as in the protocol. */
json_t *stats_json(struct sink *s, const char *state, uint64_t t_ns);

/* One JSON object and a newline into @path, "-" being stdout. Returns 0 or negative errno. */
int stats_write(json_t *stats, const char *path, struct err *err);

/* One NDJSON line for each destination: address, received, first_delivery_ns, gap_ns (null where
 * nothing is known). After track_finish(). Returns 0 or negative errno. */
int stats_write_destinations(const struct sink *s, const char *path, struct err *err);

/* delay.hlog, first_delivery.hlog and gap.hlog in @dir, and with several streams delay-I.hlog and so
 * on for each, streams counting from 0. Returns 0 or negative errno. */
int stats_write_hists(struct sink *s, const char *dir, struct err *err);

/* 0 if files can be made in @dir, else negative errno. */
int stats_check_dir(const char *dir, struct err *err);

#endif
