/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of an event field's values, from the event's `format` file: drop reasons are numbered
 * differently by every kernel, only their names last. Pure.
 */
#ifndef MON_EVFORMAT_H
#define MON_EVFORMAT_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define EVFORMAT_NAME_MAX 40

struct evformat_names {
	struct {
		uint32_t value;
		char name[EVFORMAT_NAME_MAX];
	} * list;
	unsigned nr;
};

/*
 * Take the table that `__print_symbolic(REC->field, { 1, "A" }, ...)` in @text gives for @field.
 * -ENOENT if the event prints that field otherwise, -EBADMSG for a damaged table, -ENOMEM.
 */
int evformat_parse(struct evformat_names *n, const char *text, size_t len, const char *field,
		   struct err *err);

/* NULL if the kernel names no such value. */
const char *evformat_name(const struct evformat_names *n, uint32_t value);

void evformat_free(struct evformat_names *n);

#endif
