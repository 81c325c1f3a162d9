// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of `dststorm run`. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/run.h"

enum { OPT_GEN_PORT = 256, OPT_HIDE_CAUSE, OPT_PANIC, OPT_HANG, OPT_SINK_BUFFER };

static const struct argp_option run_argp_options[] = {
	{"set", 's', "KEY=VALUE", 0, "Override a key of the scenario; may be repeated", 0},
	{"allow", 'a', "PREFIX", 0,
	 "Allow destinations and sources outside 198.18.0.0/15 and 2001:2::/48; may be repeated", 0},
	{"results", 'r', "DIR", 0, "Put the results directory into DIR (default: results)", 0},
	{"quiet", 'q', NULL, 0, "No progress lines", 0},
	{"huge", 'H', NULL, 0, "Let generator and sink use hugepages", 0},
	{"gen-port", OPT_GEN_PORT, "KIND", 0,
	 "In lab netns: how the generator sends: af_packet (default) or af_xdp", 0},
	{"test-hide-cause", OPT_HIDE_CAUSE, "CAUSE", OPTION_HIDDEN, NULL, 0},
	{"test-sink-buffer", OPT_SINK_BUFFER, "MB", OPTION_HIDDEN, NULL, 0},
	{"test-panic-after", OPT_PANIC, "SECONDS", OPTION_HIDDEN, NULL, 0},
	{"test-hang-after", OPT_HANG, "SECONDS", OPTION_HIDDEN, NULL, 0},
	{0}};

static void run_push(struct argp_state *state, const char **list, unsigned int *nr, char *arg)
{
	if (*nr == RUN_MAX_SETS)
		argp_error(state, "too many options of one kind: %d at most", RUN_MAX_SETS);
	list[(*nr)++] = arg;
}

static error_t run_parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case 's':
		run_push(state, o->sets, &o->nr_sets, arg);
		return 0;
	case 'a':
		run_push(state, o->allow, &o->nr_allow, arg);
		return 0;
	case 'r':
		o->results = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'H':
		o->huge = true;
		return 0;
	case OPT_GEN_PORT:
		if (strcmp(arg, "af_packet") && strcmp(arg, "af_xdp"))
			argp_error(state, "--gen-port is af_packet or af_xdp, not `%s'", arg);
		o->gen_port = arg;
		return 0;
	case OPT_HIDE_CAUSE:
		o->hide_cause = arg;
		return 0;
	case OPT_SINK_BUFFER:
		o->sink_buffer = arg;
		return 0;
	case OPT_PANIC:
		o->panic_after_s = strtod(arg, NULL);
		return 0;
	case OPT_HANG:
		o->hang_after_s = strtod(arg, NULL);
		return 0;
	case ARGP_KEY_ARG:
		if (o->scenario)
			argp_error(state, "one scenario at a time; `%s' is the second", arg);
		o->scenario = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->scenario)
			argp_error(state, "which scenario? for example configs/many-destinations.yaml");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int verb_run(int argc, char **argv)
{
	static const struct argp argp = {
		run_argp_options, run_parse, "SCENARIO.yaml",
		"Flood the host under test and say what happened."
		"\vExit status: 0 done and valid; 1 done, but a `require:' line does not hold; "
		"2 usage or configuration; 3 the rig failed or the run is not valid.",
		NULL, NULL, NULL};
	struct run *run = calloc(1, sizeof(*run));
	int code;

	if (!run) {
		fprintf(stderr, "dststorm: out of memory\n");
		return EXIT_RIG;
	}
	run->opt.results = "results";
	argp_parse(&argp, argc, argv, 0, NULL, &run->opt);
	code = run_scenario(run);
	free(run);
	return code;
}
