/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the roles reported to summary.json. Pure: the same lines give the same summary, so that
 * `dststorm report DIR` recomputes it.
 */
#ifndef CTL_SUMMARY_H
#define CTL_SUMMARY_H

#include <jansson.h>

/* Causes under which a lost packet may stand, as dststorm-mon names them; NULL-terminated. */
extern const char *const summary_causes[];

/*
 * The summary of a run that has not ended yet: valid false, every number 0. @streams: an array of
 * objects with a "name"; borrowed. It has every field that the summary of the run will have.
 */
json_t *summary_empty(const char *scenario, const json_t *streams);

/*
 * @manifest: manifest.json. @samples, @events: arrays of the lines of samples.jsonl and
 * events.jsonl. All borrowed. Returns a new object; numbers of roles whose final statistics are
 * missing come from their last sample, and the summary is then not valid.
 */
json_t *summary_build(const json_t *manifest, const json_t *samples, const json_t *events);

#endif
