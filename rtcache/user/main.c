// SPDX-License-Identifier: GPL-2.0-or-later
/* dststorm-rtcache: the route cache in user space. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "rtcache/user/bench.h"
#include "rtcache/user/replay.h"
#include "rtcache/user/torture.h"

const char *argp_program_version = "dststorm-rtcache " DSTSTORM_VERSION " (" DSTSTORM_GIT_ID ")";

enum { O_SECONDS = 0x100, O_THREADS, O_KEYS, O_FAIL, O_SEED, O_AXES, O_BROKEN, O_ORDER };
enum { EXIT_FOUND = 1, EXIT_USAGE_ = 2, EXIT_CANNOT = 3 };

enum mode { MODE_NONE, MODE_BENCH, MODE_TORTURE, MODE_REPLAY };

struct main_options {
	enum mode mode;
	const char *trace;
	struct torture_options torture;
	struct bench_options bench;
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "bench and torture:", 1 },
	{ "threads", O_THREADS, "N", 0, "Threads that look up (bench 1, torture 4)", 0 },
	{ "keys", O_KEYS, "N", 0, "Different keys (bench 65536, torture 4096)", 0 },
	{ "seconds", O_SECONDS, "S", 0, "How long: torture altogether, bench each sample (torture 10, bench 0.5)",
	  0 },
	{ "axes", O_AXES, "TEXT", 0, "Switches, as \"lookup=rcu refcnt=noref\" (torture: all in turn)", 0 },
	{ "seed", O_SEED, "N", 0, "Of everything that is drawn (1)", 0 },
	{ NULL, 0, NULL, 0, "bench:", 2 },
	{ "order", O_ORDER, "uniform|zipf", 0, "In which keys are asked for (uniform)", 0 },
	{ NULL, 0, NULL, 0, "torture:", 3 },
	{ "fail-one-in", O_FAIL, "N", 0, "So many allocations fail (50; 0: none)", 0 },
	{ "broken", O_BROKEN, NULL, 0, "Free without a grace period: has to be found out", 0 },
	{ 0 },
};

static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least,
		       uint64_t most)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 0);

	if (end == text || *end || *text == '-' || n < least || n > most)
		argp_error(state, "--%s is a number from %llu to %llu", name, (unsigned long long)least,
			   (unsigned long long)most);
	return n;
}

static double seconds(struct argp_state *state, const char *text)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s > 0 && s <= 86400))
		argp_error(state, "--seconds is a number above 0 and up to 86400");
	return s;
}

static void mode_of(struct main_options *m, const char *arg, struct argp_state *state)
{
	static const char *const names[] = { "", "bench", "torture", "replay" };

	if (m->mode == MODE_REPLAY && !m->trace) {
		m->trace = arg;
		return;
	}
	for (unsigned int i = MODE_BENCH; !m->mode && i <= MODE_REPLAY; i++)
		if (!strcmp(arg, names[i])) {
			m->mode = i;
			return;
		}
	argp_error(state, "what to do is one of: bench, torture, replay TRACE");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct main_options *m = state->input;

	switch (key) {
	case O_THREADS:
		m->torture.threads = (unsigned int)number(state, "threads", arg, 1, TORTURE_THREADS_MAX);
		m->bench.threads = m->torture.threads;
		return 0;
	case O_KEYS:
		m->torture.keys = (uint32_t)number(state, "keys", arg, 1, 1 << 24);
		m->bench.keys = m->torture.keys;
		return 0;
	case O_SECONDS:
		m->torture.seconds = m->bench.seconds = seconds(state, arg);
		return 0;
	case O_AXES:
		m->torture.axes = m->bench.axes = arg;
		return 0;
	case O_SEED:
		m->torture.seed = m->bench.seed = number(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case O_ORDER:
		m->bench.zipf = !strcmp(arg, "zipf");
		if (!m->bench.zipf && strcmp(arg, "uniform"))
			argp_error(state, "--order is uniform or zipf");
		return 0;
	case O_FAIL:
		m->torture.fail_one_in = (unsigned int)number(state, "fail-one-in", arg, 0, 1000000000);
		return 0;
	case O_BROKEN:
		m->torture.broken = true;
		return 0;
	case ARGP_KEY_ARG:
		mode_of(m, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!m->mode || (m->mode == MODE_REPLAY && !m->trace))
			argp_error(state, "what to do is one of: bench, torture, replay TRACE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int torture(const struct torture_options *o)
{
	struct torture_result r;
	struct err err = { 0 };

	if (torture_run(o, &r, &err)) {
		fprintf(stderr, "dststorm-rtcache: %s\n", err.text);
		return EXIT_CANNOT;
	}
	printf("{\"lookups\":%lu,\"hits\":%lu,\"held\":%lu,\"inserted\":%lu,\"evicted\":%lu,\"expired\":%lu,"
	       "\"flushed\":%lu,\"no_memory\":%lu,\"changes\":%lu,\"most_entries\":%lu,\"over\":%lu,"
	       "\"poisoned\":%lu,\"leaked\":%ld}\n", r.lookups, r.hits, r.held, r.inserted, r.evicted,
	       r.expired, r.flushed, r.no_memory, r.changes, r.most_entries, r.over, r.poisoned,
	       r.leaked);
	return r.poisoned || r.over || r.leaked ? EXIT_FOUND : 0;
}

static int said(int ret, const struct err *err)
{
	if (ret)
		fprintf(stderr, "dststorm-rtcache: %s\n", err->text);
	return ret ? EXIT_CANNOT : 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table, .parser = parse, .args_doc = "bench|torture|replay TRACE",
		.doc = "The route cache in user space: how fast it is beside other hash tables, whether it "
		       "stays right when everything happens at once, and what it makes of a trace.\v"
		       "Exit status: 0; 1: torture found something wrong; 2: wrong command line; 3: it "
		       "could not be run.",
	};
	struct main_options m = {
		.torture = { .seconds = 10, .threads = 4, .keys = 4096, .fail_one_in = 50, .seed = 1 },
		.bench = { .seconds = 0.5, .threads = 1, .keys = 65536, .seed = 1 },
	};
	struct err err = { 0 };

	argp_err_exit_status = EXIT_USAGE_;
	argp_parse(&argp, argc, argv, 0, NULL, &m);
	switch (m.mode) {
	case MODE_TORTURE:
		return torture(&m.torture);
	case MODE_REPLAY:
		return said(replay_file(m.trace, &err), &err);
	default:
		return said(bench_run(&m.bench, &err), &err);
	}
}
