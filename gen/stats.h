/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statistics of a flood, as docs/protocol.md names them. */
#ifndef GEN_STATS_H
#define GEN_STATS_H

#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

struct answer;
struct err;
struct lanes;
struct plan;
struct seen;

struct stats_source {
	const char *state;
	uint64_t t_ns;
	const struct plan *plan;
	const struct lanes *lanes;   /* nr 0: not started */
	const struct answer *answer;
	const struct seen *seen;     /* one a stream, once started */
};

/* A new reference, NULL if no memory. While lanes run, the numbers are of about the same moment. */
json_t *stats_json(const struct stats_source *s);

/* One line. 0, or -EIO with a sentence that calls the file @name. */
int stats_write(const json_t *stats, FILE *file, const char *name, struct err *err);

#endif
