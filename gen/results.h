/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the final statistics go: to stdout, and to a file that was opened before anything started. */
#ifndef GEN_RESULTS_H
#define GEN_RESULTS_H

#include <stdio.h>
#include <jansson.h>

struct err;

/* Open @path, or give *@file NULL if that is NULL. 0, or negative errno with a sentence. */
int results_open(const char *path, FILE **file, struct err *err);

/* Write @stats (NULL: there was no memory for them) to stdout and to @json, which may be NULL. */
int results_write(const json_t *stats, FILE *json, struct err *err);

#endif
