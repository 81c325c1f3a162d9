/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A summary for people: a short table and the verdict. */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stdio.h>
#include <jansson.h>

void table_print(FILE *f, const json_t *summary);

/* "1,234,567" into @buf, 32 bytes. Returns @buf. */
const char *table_count(json_int_t n, char *buf);

/* "1.23 ms" and the like, "-" for 0, into @buf, 32 bytes. Returns @buf. */
const char *table_time(json_int_t ns, char *buf);

#endif
