/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results directory: manifest.json, samples.jsonl, events.jsonl, summary.json, hist/, logs.
 * summary.json is there from the start with "valid": false; lines are written whole and at once, so
 * that what was measured survives whatever happens to dststorm.
 */
#ifndef CTL_RESULTS_H
#define CTL_RESULTS_H

#include <limits.h>
#include <stdio.h>
#include <jansson.h>

#include "lib/err.h"

struct results {
	char dir[PATH_MAX];
	FILE *samples, *events;
	int failed; /* first write error, negative errno; 0 so far */
};

/* Make @base/<UTC>-<name>, and a first summary.json from @summary (stolen). @base is created too. */
int results_open(struct results *r, const char *base, const char *name, json_t *summary,
		 struct err *err);
void results_close(struct results *r);

/* Replace file @name by @doc (stolen), indented, atomically. 0 or negative errno. */
int results_put(struct results *r, const char *name, json_t *doc, struct err *err);

/* Append one line; @obj is stolen. A write error is kept in r->failed. */
void results_sample(struct results *r, json_t *obj);
void results_event(struct results *r, json_t *obj);

/* Read all lines of @dir/@name into an array; a torn last line is left out. NULL with @err. */
json_t *results_lines(const char *dir, const char *name, struct err *err);
json_t *results_json(const char *dir, const char *name, struct err *err);

#endif
