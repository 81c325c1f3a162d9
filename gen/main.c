// SPDX-License-Identifier: GPL-2.0-or-later
/* The boundary: nothing below prints or exits. */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "gen/agent.h"
#include "gen/alone.h"
#include "gen/dryrun.h"
#include "gen/options.h"
#include "lib/err.h"
#include "lib/out.h"

const char *argp_program_version = "dststorm-gen " DSTSTORM_VERSION " (" DSTSTORM_GIT_ID ")";

/* Told as an error of the write instead. */
static void ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static int dry_run(const struct options *o, int *code, struct err *err)
{
	char text[512];
	struct plan plan;
	int ret = plan_make(&plan, &o->request, err);

	*code = EXIT_USAGE;
	if (ret)
		return ret;
	if (!plan.unlimited)
		*code = EXIT_RIG;
	ret = dryrun_write(&plan, o->dry_run, err);
	if (!ret) {
		*code = EXIT_OK;
		plan_text(&plan, strcmp(o->dry_run, "-") ? o->dry_run : "stdout", text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	plan_free(&plan);
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;
	struct err err;
	int code = EXIT_USAGE, ret;

	out_hold();
	ignore_signals();
	scenario_pcap = capture_destinations;
	ret = options_parse(&o, argc, argv, &err);
	if (!ret && o.dry_run)
		ret = dry_run(&o, &code, &err);
	else if (!ret && o.control)
		ret = agent_run(&o, &code, &err);
	else if (!ret)
		ret = alone_run(&o, &code, &err);
	if (ret) {
		options_name_culprit(&o, &err);
		fprintf(stderr, "dststorm-gen: %s\n", err.text);
	}
	options_free(&o);
	return code;
}
