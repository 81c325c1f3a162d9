// SPDX-License-Identifier: GPL-2.0-or-later
/* dststorm-mon: the agent on the host under test. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/out.h"
#include "mon/agent.h"
#include "mon/file.h"
#include "mon/power.h"
#include "mon/serve.h"
#include "mon/watch.h"

#define MAIN_STATE_FILE "/run/dststorm-mon.json"
/* A guest's init gives mon no options of its own; the kernel's command line can. */
#define MAIN_HOOKS_WORD "dststorm.test-hooks"

enum {
	MAIN_ONCE = 256,
	MAIN_STDIO,
	MAIN_PORT,
	MAIN_STATE,
	MAIN_TEST_HOOKS,
	MAIN_INTERVAL,
	MAIN_JSON,
	MAIN_LISTEN
};

enum main_mode {
	MAIN_MODE_NONE,
	MAIN_MODE_ONCE,
	MAIN_MODE_STDIO,
	MAIN_MODE_PORT,
	MAIN_MODE_WATCH,
	MAIN_MODE_SERVE,
};

#define MAIN_MODES "give one of watch, serve, --once, --stdio and --port"

struct main_options {
	enum main_mode mode;
	struct agent_options agent;
	struct watch_options watch;
	struct serve_options serve;
	bool has_interval;
};

static const struct argp_option main_argp[] = {
	{NULL, 0, NULL, 0, "On any host, for people and monitoring systems:", 1},
	{"interval", MAIN_INTERVAL, "SECONDS", 0, "watch: the time between two tables (default 2)",
	 1},
	{"json", MAIN_JSON, NULL, 0, "watch: a line of JSON in each interval, and no table", 1},
	{"listen", MAIN_LISTEN, "ADDRESS:PORT", 0,
	 "serve: where to answer (default " SERVE_LISTEN "); whoever can reach it can read", 1},
	{"once", MAIN_ONCE, NULL, 0, "Print one sample of the counters as JSON and end", 1},
	{NULL, 0, NULL, 0, "As the agent of dststorm:", 2},
	{"stdio", MAIN_STDIO, NULL, 0, "Serve a controller on standard input and output", 2},
	{"port", MAIN_PORT, "DEVICE", 0, "Serve a controller on this virtio-serial port", 2},
	{"state", MAIN_STATE, "FILE", 0,
	 "Keep in FILE what has to be put back on this host (default " MAIN_STATE_FILE
	 "; nothing is kept by the first process of a guest)",
	 2},
	{"test-hooks", MAIN_TEST_HOOKS, NULL, 0,
	 "Allow the methods panic and hang, which break this host on purpose; the "
	 "word " MAIN_HOOKS_WORD " on a guest's kernel command line does the same",
	 2},
	{0}};

static int main_mode(struct main_options *o, enum main_mode mode, struct argp_state *state)
{
	if (o->mode)
		argp_error(state, MAIN_MODES);
	o->mode = mode;
	return 0;
}

static int main_interval(struct main_options *o, const char *arg, struct argp_state *state)
{
	char *end;

	o->has_interval = true;
	o->watch.interval_s = strtod(arg, &end);
	if (end == arg || *end || !(o->watch.interval_s >= WATCH_INTERVAL_MIN) ||
	    o->watch.interval_s > WATCH_INTERVAL_MAX)
		argp_error(state, "--interval is a number of seconds from %g to %g",
			   WATCH_INTERVAL_MIN, WATCH_INTERVAL_MAX);
	return 0;
}

static int main_verb(struct main_options *o, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "watch"))
		return main_mode(o, MAIN_MODE_WATCH, state);
	if (!strcmp(arg, "serve"))
		return main_mode(o, MAIN_MODE_SERVE, state);
	argp_error(state, "there is no \"%s\": " MAIN_MODES, arg);
	return 0;
}

static int main_end(const struct main_options *o, struct argp_state *state)
{
	bool agent = o->mode == MAIN_MODE_STDIO || o->mode == MAIN_MODE_PORT;

	if (!o->mode)
		argp_error(state, MAIN_MODES);
	if ((o->has_interval || o->watch.json) && o->mode != MAIN_MODE_WATCH)
		argp_error(state, "--interval and --json belong to watch");
	if (o->serve.listen && o->mode != MAIN_MODE_SERVE)
		argp_error(state, "--listen belongs to serve");
	if ((o->agent.state || o->agent.test_hooks) && !agent)
		argp_error(state, "--state and --test-hooks belong to --stdio and --port");
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
	case MAIN_INTERVAL:
		return main_interval(o, arg, state);
	case MAIN_JSON:
		o->watch.json = true;
		return 0;
	case MAIN_LISTEN:
		o->serve.listen = arg;
		return 0;
	case ARGP_KEY_ARG:
		return main_verb(o, arg, state);
	case ARGP_KEY_END:
		return main_end(o, state);
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

static int main_agent(const struct agent_options *o, struct err *err)
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

static int main_run(struct main_options *o, struct err *err)
{
	switch (o->mode) {
	case MAIN_MODE_ONCE:
		return main_once(err);
	case MAIN_MODE_WATCH:
		return watch_run(&o->watch, err);
	case MAIN_MODE_SERVE:
		if (!o->serve.listen)
			o->serve.listen = SERVE_LISTEN;
		return serve_run(&o->serve, err);
	default:
		return main_agent(&o->agent, err);
	}
}

int main(int argc, char **argv)
{
	static const char version[] = DSTSTORM_VERSION "-" DSTSTORM_GIT_ID;
	struct main_options o = {
		.agent = {.version = version},
		.watch = {.interval_s = 2},
		.serve = {.version = version},
	};
	static const struct argp argp = {main_argp,
					 main_parse,
					 "watch\nserve\n--once\n--stdio\n--port DEVICE",
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

	out_hold();
	argp_program_version = "dststorm-mon " DSTSTORM_VERSION " (" DSTSTORM_GIT_ID ")";
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (power_is_init())
		o.agent.test_hooks |= main_hooks_on_cmdline();
	else if (!o.agent.state)
		o.agent.state = MAIN_STATE_FILE;
	ret = main_run(&o, &err);
	if (!ret)
		return EXIT_OK;
	if (power_is_init())
		power_fail(err.text);
	fprintf(stderr, "dststorm-mon: %s\n", err.text);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
}
