// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * While a run runs: samples go to the files, silence and death become failures, and every second a
 * line tells how it is going.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/jpath.h"
#include "ctl/run.h"

#define TICK_MS	      500
#define HANG_S	      7.5 /* a hang is told within 10 s: this, a tick, and the sink's sample */
#define ROLE_SILENT_S 5.0

void run_log(struct run *run, const char *event, json_t *fields)
{
	json_t *line = json_pack("{s:i, s:I, s:s}", "v", WIRE_VERSION, "t_ns",
				 (json_int_t)ctl_now_ns(), "event", event);

	json_object_update(line, fields);
	json_decref(fields);
	results_event(&run->results, line);
}

static double run_since_s(uint64_t then)
{
	return (double)(ctl_now_ns() - then) / (double)NS_PER_S;
}

/* A number of both neighbour tables together. */
static json_int_t run_both(const json_t *mon, const char *name)
{
	const json_t *neigh = json_object_get(mon, "neigh");

	return jpath_int(json_object_get(neigh, "ipv4"), name) +
	       jpath_int(json_object_get(neigh, "ipv6"), name);
}

static void run_progress(struct run *run)
{
	int64_t sent = jpath_int(run->last_gen, "sent_pkts");
	int64_t rx = jpath_int(run->last_sink, "rx_pkts");

	printf("%4.0f s  sent %10" PRId64 "  delivered %10" PRId64 "  destinations %7" JSON_INTEGER_FORMAT
	       "  neighbours %7" JSON_INTEGER_FORMAT "  table full %8" JSON_INTEGER_FORMAT "\n",
	       run_since_s(run->t0_ns), sent, rx, jpath_int(run->last_sink, "destinations_seen"),
	       run_both(run->last_mon, "entries"), run_both(run->last_mon, "table_fulls"));
	fflush(stdout);
}

static void run_keep_sample(struct run *run, struct role *r, json_t *msg)
{
	json_t **last = r == &run->gen ? &run->last_gen :
			r == &run->sink ? &run->last_sink : &run->last_mon;
	json_t *line = json_copy(msg);

	json_object_set_new(line, "role", json_string(r->name));
	json_object_set_new(line, "t_host_ns", json_integer((json_int_t)ctl_now_ns()));
	json_decref(*last);
	*last = json_incref(line);
	results_sample(&run->results, line);
	if (r == &run->sink && jpath_int(msg, "rx_pkts") > run->forward_pkts) {
		run->forward_pkts = jpath_int(msg, "rx_pkts");
		run->forward_ns = ctl_now_ns();
	}
	/* The sink's numbers are the older ones, so that no more is delivered than was sent. */
	if (r == &run->gen && !run->opt.quiet && !run->gen_done)
		run_progress(run);
}

/*
 * A program complains. If that is because the guest has ended, the guest's end is the failure: its
 * ports go a moment before its process does.
 */
static void run_complaint(struct run *run, const struct role *r, const char *text)
{
	int status;

	pid_t guest;

	for (int i = 0; i < 50 && (guest = run->lab.guest.pid); i++) {
		if (waitpid(guest, &status, WNOHANG) > 0)
			run->lab.ops->exited(run, guest, status);
		else
			usleep(10000);
	}
	loop_fail(&run->loop, "dststorm-%s: %s", r->name, text ? text : "an error");
}

void run_on_event(void *arg, struct role *r, const char *event, json_t *msg)
{
	struct run *run = arg;

	if (!strcmp(event, "sample")) {
		run_keep_sample(run, r, msg);
	} else if (!strcmp(event, "alive")) {
		run->mon_up = true;
	} else if (!strcmp(event, "done")) {
		run->gen_done = true;
	} else if (!strcmp(event, "error")) {
		run_complaint(run, r, json_string_value(json_object_get(msg, "text")));
	} else {
		json_t *fields = json_copy(msg);

		json_object_del(fields, "event");
		json_object_set_new(fields, "role", json_string(r->name));
		run_log(run, event, fields);
	}
}

void run_on_exit(void *arg, int pid, int status)
{
	struct run *run = arg;
	struct role *roles[] = {&run->gen, &run->sink, &run->mon};
	bool known = run->lab.ops->exited(run, pid, status);

	for (unsigned int i = 0; i < 3 && !known; i++)
		known = role_exited(roles[i], pid, status);
}

static void run_check_silence(struct run *run)
{
	struct role *roles[] = {&run->gen, &run->sink};

	if (run->mon_up && run_since_s(run->mon.heard_ns) > HANG_S &&
	    run_since_s(run->forward_ns) > HANG_S) {
		run->loop.dut_died = true;
		loop_fail(&run->loop,
			  "%s hangs: neither heartbeat nor forwarded packet for %.1f s",
			  run->lab.ops->dut, run_since_s(run->mon.heard_ns));
	}
	for (unsigned int i = 0; i < 2; i++)
		if (roles[i]->bev && run_since_s(roles[i]->heard_ns) > ROLE_SILENT_S)
			loop_fail(&run->loop, "dststorm-%s has been silent for %.1f s",
				  roles[i]->name, run_since_s(roles[i]->heard_ns));
	if (run->results.failed)
		loop_fail(&run->loop, "%s: cannot be written: %s", run->results.dir,
			  strerror(-run->results.failed));
}

static void run_fire_hooks(struct run *run)
{
	double t = run_since_s(run->t0_ns);
	bool panic = run->opt.panic_after_s > 0 && t >= run->opt.panic_after_s;
	bool hang = run->opt.hang_after_s > 0 && t >= run->opt.hang_after_s;

	if (run->hook_fired || !(panic || hang))
		return;
	run->hook_fired = true;
	role_cast(&run->mon, panic ? "panic" : "hang");
}

static void run_tick(evutil_socket_t fd, short what, void *arg)
{
	struct run *run = arg;
	struct role *roles[] = {&run->gen, &run->sink, &run->mon};

	(void)fd, (void)what;
	for (unsigned int i = 0; i < 3; i++)
		if (roles[i]->bev)
			role_cast(roles[i], "ping");
	run_check_silence(run);
	if (!run->t0_ns || run->t0_ns > ctl_now_ns())
		return;
	run_fire_hooks(run);
}

int run_watch_start(struct run *run)
{
	struct timeval tv = {0, TICK_MS * 1000};

	run->tick = event_new(run->loop.base, -1, EV_PERSIST, run_tick, run);
	return run->tick && !event_add(run->tick, &tv) ? 0 : -ENOMEM;
}

void run_watch_stop(struct run *run)
{
	if (run->tick)
		event_free(run->tick);
	run->tick = NULL;
}
