/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. Options about the traffic are sugar: each becomes an override of a scenario key,
 * so that there is one place where they are checked.
 */
#ifndef GEN_OPTIONS_H
#define GEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dpdk/eal.h"
#include "gen/plan.h"
#include "gen/ports.h"

struct err;

struct options {
	struct plan_request request;
	struct ports ports;	/* their names */
	struct eal_options eal;
	const char *dry_run, *control, *json, *trace; /* paths, NULL: not asked for */

	/* What the request points into, and how errors about overrides are translated back. */
	char **overrides;
	const char **names; /* of the options that made them; NULL for --set */
	const char **allow;
};

/*
 * Returns 0, or negative errno with a sentence. --help, --usage and --version print and exit.
 * *o keeps pointers into @argv, and is given back by options_free() in both cases.
 */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_free(struct options *o);

/* If the sentence is about an override that an option made, let it name the option. */
void options_name_culprit(const struct options *o, struct err *err);

#endif
