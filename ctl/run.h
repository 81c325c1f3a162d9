/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run: its options and everything that it holds. */
#ifndef CTL_RUN_H
#define CTL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/lab.h"
#include "ctl/loop.h"
#include "ctl/results.h"
#include "ctl/role.h"
#include "ctl/rundir.h"
#include "lib/scenario.h"

#define RUN_MAX_SETS 64

struct run_options {
	const char *scenario; /* path */
	const char *sets[RUN_MAX_SETS];
	unsigned int nr_sets;
	const char *allow[RUN_MAX_SETS];
	unsigned int nr_allow;
	const char *results;
	bool quiet;
	bool huge;
	const char *gen_port; /* kind of port in lab netns; NULL: its default */
	/* For the tests of the accounting and of the supervision. */
	const char *hide_cause;
	const char *sink_buffer; /* MB of its capture; NULL: its default */
	double panic_after_s, hang_after_s; /* 0: never */
};

struct run {
	struct run_options opt;
	struct scenario scenario;
	char *text; /* the scenario, verbatim */
	struct loop loop;
	struct role gen, sink, mon;
	struct lab lab;
	struct rundir rundir;
	struct results results;
	json_t *hello_mon;
	json_t *settings; /* sysctls of the DUT, as configured */
	json_t *last_gen, *last_sink, *last_mon; /* newest samples */
	struct event *tick;
	uint64_t t0_ns;	      /* of the schedule */
	uint64_t forward_ns;  /* when the sink's count grew last */
	int64_t forward_pkts;
	bool mon_up;	      /* its silence counts from now on */
	bool gen_done;
	bool failed;	      /* before it was done: what comes while it is taken down is no failure */
	bool hook_fired;
	int code;	      /* exit code of a failure: EXIT_USAGE or EXIT_RIG */
};

/* run.c: do what run->opt says; the exit code. Sentences go to stderr. */
int run_scenario(struct run *run);

/* run_lab.c: bring the lab and the programs up to the point where a flood could begin, and take it down. */
int run_lab_up(struct run *run, struct err *err);
void run_lab_down(struct run *run);

/* run_watch.c: what happens while the loop runs. */
int run_watch_start(struct run *run);
void run_watch_stop(struct run *run);
void run_on_event(void *arg, struct role *r, const char *event, json_t *msg);
void run_on_exit(void *arg, int pid, int status);

/* Append an event line with the time. @fields is stolen. */
void run_log(struct run *run, const char *event, json_t *fields);

/* Summarise the files of @dir, write summary.json, print; exit code. */
int run_judge(struct run *run);

#endif
