// SPDX-License-Identifier: GPL-2.0-or-later
/* dststorm-mon: the agent on the host under test. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "mon/agent.h"
#include "mon/file.h"
#include "mon/power.h"

#define MAIN_STATE_FILE "/run/dststorm-mon.json"
/* A guest's init gives mon no options of its own; the kernel's command line can. */
#define MAIN_HOOKS_WORD "dststorm.test-hooks"

enum { MAIN_ONCE = 256, MAIN_STDIO, MAIN_PORT, MAIN_STATE, MAIN_TEST_HOOKS };

struct main_options {
	enum { MAIN_MODE_NONE, MAIN_MODE_ONCE, MAIN_MODE_STDIO, MAIN_MODE_PORT } mode;
	struct agent_options agent;
};

static const struct argp_option main_argp[] = {
	{"once", MAIN_ONCE, NULL, 0, "Print one sample of the counters as JSON and end", 0},
	{"stdio", MAIN_STDIO, NULL, 0, "Serve a controller on standard input and output", 0},
	{"port", MAIN_PORT, "DEVICE", 0, "Serve a controller on this virtio-serial port", 0},
	{"state", MAIN_STATE, "FILE", 0,
	 "Keep in FILE what has to be put back on this host (default " MAIN_STATE_FILE
	 "; nothing is kept by the first process of a guest)",
	 0},
	{"test-hooks", MAIN_TEST_HOOKS, NULL, 0,
	 "Allow the methods panic and hang, which break this host on purpose; the "
	 "word " MAIN_HOOKS_WORD " on a guest's kernel command line does the same",
	 0},
	{0}};

static int main_mode(struct main_options *o, int mode, struct argp_state *state)
{
	if (o->mode)
		argp_error(state, "give one of --once, --stdio and --port");
	o->mode = mode;
	return 0;
}

static int main_parse(int key, char *arg, struct argp_state *state)
{
	struct main_options *o = state->input;

	switch (key) {
	case MAIN_ONCE:
		return main_mode(o, MAIN_MODE_ONCE, state);
	case MAIN_STDIO:
		return main_mode(o, MAIN_MODE_STDIO, state);
	case MAIN_PORT:
		o->agent.port = arg;
		return main_mode(o, MAIN_MODE_PORT, state);
	case MAIN_STATE:
		o->agent.state = arg;
		return 0;
	case MAIN_TEST_HOOKS:
		o->agent.test_hooks = true;
		return 0;
	case ARGP_KEY_END:
		if (!o->mode)
			argp_error(state, "give one of --once, --stdio and --port");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool main_hooks_on_cmdline(void)
{
	struct file_buf b = {};
	bool found = false;

	if (!file_read(&b, "/proc/cmdline", NULL)) {
		char *save, *word = strtok_r(b.text, " \n", &save);

		for (; word && !found; word = strtok_r(NULL, " \n", &save))
			found = !strcmp(word, MAIN_HOOKS_WORD);
	}
	file_buf_free(&b);
	return found;
}

static int main_once(struct err *err)
{
	json_t *sample;
	int ret = agent_once(&sample, err);

	if (ret)
		return ret;
	if (json_dumpf(sample, stdout, JSON_INDENT(2)) || putchar('\n') == EOF || fflush(stdout))
		ret = err_set(err, -EIO, "cannot write to standard output");
	json_decref(sample);
	return ret;
}

static int main_serve(const struct agent_options *o, struct err *err)
{
	struct agent a;
	struct err late;
	int ret = agent_open(&a, o, err), closed;
	bool quits;

	if (!ret)
		ret = agent_run(&a, err);
	quits = a.then == AGENT_QUITS;
	/* Before power-off too: with the interfaces up under a flood it hangs in the virtio driver.
	 */
	if (quits && power_is_init())
		agent_links_down(&a);
	closed = agent_close(&a, &late);
	if (!ret && closed)
		ret = err_set(err, closed, "%s", late.text);
	if (!ret && quits && power_is_init())
		power_off();
	return ret;
}

int main(int argc, char **argv)
{
	struct main_options o = {.agent = {.version = DSTSTORM_VERSION "-" DSTSTORM_GIT_ID}};
	static const struct argp argp = {main_argp,
					 main_parse,
					 NULL,
					 "Watch and set up the host under test: counters of its "
					 "neighbour tables and routes, drops by "
					 "cause, settings.\v"
					 "Exit status: 0 done, 2 wrong usage, 3 something failed. "
					 "dststorm-mon(1) has the details.",
					 NULL,
					 NULL,
					 NULL};
	struct err err = {};
	int ret;

	argp_program_version = "dststorm-mon " DSTSTORM_VERSION " (" DSTSTORM_GIT_ID ")";
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (power_is_init())
		o.agent.test_hooks |= main_hooks_on_cmdline();
	else if (!o.agent.state)
		o.agent.state = MAIN_STATE_FILE;
	ret = o.mode == MAIN_MODE_ONCE ? main_once(&err) : main_serve(&o.agent, &err);
	if (!ret)
		return EXIT_OK;
	if (power_is_init())
		power_fail(err.text);
	fprintf(stderr, "dststorm-mon: %s\n", err.text);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
}
