/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CTL_JUDGE_H
#define CTL_JUDGE_H

#include <jansson.h>

#include "lib/err.h"
#include "lib/scenario.h"

/* The summary of the files of @dir, or NULL with @err. */
json_t *judge_dir(const char *dir, struct err *err);

/*
 * Before the run: whether @summary, one of summary_empty(), has what the `require:` lines of @s name,
 * and can be compared so. Returns 0 or -EINVAL.
 */
int judge_check_requires(const struct scenario *s, const json_t *summary, struct err *err);

/* How many `require:` lines of @s do not hold; each is told on stderr. */
int judge_requires(const struct scenario *s, const json_t *summary);

#endif
