/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of `dststorm-mon watch`. Pure. */
#ifndef MON_WATCH_TEXT_H
#define MON_WATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sample;
struct view_drops;

#define WATCH_TOP_MAX 10

struct watch_dev {
	char name[16];
	uint32_t entries[2]; /* IPv4, IPv6 */
};

struct watch_frame {
	const char *host, *kernel;
	double interval_s;
	bool keys; /* q ends it */
	const struct sample *now, *before; /* before: NULL in the first one, which has no rates */
	const struct view_drops *drops, *drops_before; /* if now->has_drops */
	const char *no_drops; /* why not, otherwise */
	const struct watch_dev *devs;
	unsigned nr_devs;
	double devs_age_s; /* of the dump that they are from; negative if there is none */
	const char *devs_why; /* why there is none */
};

/* Lines end in '\n' and fit into 80 columns, but for long numbers and names; only printable ASCII. */
void watch_text(FILE *to, const struct watch_frame *f);

/*
 * The same text for a terminal of @columns x @rows: from its upper left corner, each line cut and
 * what stood behind it removed, one row left free so that nothing scrolls.
 */
void watch_screen(FILE *to, const char *text, unsigned columns, unsigned rows);

#endif
