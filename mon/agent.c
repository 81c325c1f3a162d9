// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "mon/json.h"
#include "mon/power.h"

#define AGENT_DRAIN_MS	50
#define AGENT_DRAIN_MAX 20000u

int agent_event(struct agent *a, const char *name, json_t *fields)
{
	int ret = port_send(&a->port, wire_event(name, fields), true);

	if (ret == -EMSGSIZE)
		ret = port_send(&a->port,
				wire_event("error",
					   json_pack("{s:s+}", "text", name,
						     ": the event is too long for a message")),
				true);
	return ret;
}

void agent_warn(struct agent *a, const char *text)
{
	agent_event(a, "warning", json_pack("{s:s}", "text", text));
}

/*
 * After an overrun the tables were read anew. The number of entries always comes from the table's
 * own counter; the dump only tells how far netlink's view is from it, once the flood is over.
 */
static void agent_resynced(void *arg, const struct resync_seen seen[2], const struct err *failed)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct neightbl tbl = {};
	struct agent *a = arg;
	struct err err;
	json_t *event;

	if (failed) {
		agent_warn(a, failed->text);
		return;
	}
	event = json_pack("{s:I,s:I,s:I}", "t_ns", (json_int_t)sample_now_ns(), "overruns",
			  (json_int_t)a->events.overruns, "lost", (json_int_t)a->events.lost);
	for (unsigned i = 0; i < 2; i++) {
		if (rtnl_neightbl(&a->sampler.rtnl, families[i], &tbl, &err)) {
			agent_warn(a, err.text);
			json_decref(event);
			return;
		}
		json_object_set_new(event, i ? "ipv6" : "ipv4",
				    json_pack("{s:I,s:I,s:I}", "entries", (json_int_t)tbl.entries,
					      "dumped", (json_int_t)seen[i].distinct, "repeated",
					      (json_int_t)(seen[i].dumped - seen[i].distinct)));
	}
	agent_event(a, "overrun", event);
}

/* What is lost from here on makes another one necessary. */
static void agent_resync(struct agent *a)
{
	struct err err;

	nevents_synced(&a->events);
	if (resync_start(&a->resync, a->base, agent_resynced, a, &err))
		agent_warn(a, err.text);
}

static void agent_drain_events(struct agent *a)
{
	struct err err;

	if (nevents_drain(&a->events, AGENT_DRAIN_MAX, &err) < 0) {
		nevents_close(&a->events);
		agent_warn(a, err.text);
	}
}

int agent_sample(struct agent *a, bool full, json_t **out, struct err *err)
{
	struct sample s;
	int ret = sampler_take(&a->sampler, &s, full, err);

	if (ret)
		return ret;
	*out = json_sample(&a->sampler, &s);
	if (a->trace.usable && a->state >= AGENT_ARMED)
		json_add_drops(*out, &a->trace, s.answered_pkts, a->hide_cause);
	agent_drain_events(a);
	json_object_set_new(*out, "events",
			    json_pack("{s:b,s:I,s:I,s:I,s:I}", "listening", a->events.fd >= 0,
				      "new", (json_int_t)a->events.fresh, "del",
				      (json_int_t)a->events.gone, "overruns",
				      (json_int_t)a->events.overruns, "lost",
				      (json_int_t)a->events.lost));
	json_object_set_new(*out, "state", json_string(agent_state_name(a->state)));
	return *out ? 0 : err_set(err, -ENOMEM, "no memory for a sample");
}

static void agent_alive(struct agent *a)
{
	uint64_t forwarded = 0;

	sampler_forwarded(&a->sampler, &forwarded, NULL);
	agent_event(a, "alive",
		    json_pack("{s:I,s:I,s:s}", "t_ns", (json_int_t)sample_now_ns(),
			      "forwarded_pkts", (json_int_t)forwarded, "state",
			      agent_state_name(a->state)));
}

static void agent_on_second(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	uint64_t overruns = a->events.overruns;
	json_t *sample;
	struct err err;

	(void)fd;
	(void)what;
	agent_alive(a);
	if (a->state != AGENT_RUNNING && a->state != AGENT_DRAINING)
		return;
	if (agent_sample(a, false, &sample, &err))
		agent_event(a, "error", json_pack("{s:s}", "text", err.text));
	else
		agent_event(a, "sample", sample);
	/* Not while it still overflows: the dump would be one more load, and out of date at once.
	 */
	if (a->events.unsynced && a->events.overruns == overruns && a->resync.fd < 0)
		agent_resync(a);
}

static void agent_on_drain(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	agent_drain_events(arg);
}

static void agent_on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct agent *a = arg;

	(void)what;
	if (sig == SIGCHLD)
		power_reap();
	else if (!power_is_init())
		event_base_loopbreak(a->base);
}

static void agent_on_end(void *arg)
{
	struct agent *a = arg;

	event_base_loopbreak(a->base);
}

static void agent_on_bad(void *arg, const char *text)
{
	struct agent *a = arg;

	port_send(&a->port, wire_error(0, EXIT_USAGE, text), false);
}

/* What libevent cannot do is told once, by who asked it for that. */
static void agent_on_log(int severity, const char *text)
{
	(void)severity, (void)text;
}

static int agent_open_loop(struct agent *a, const char *path, struct err *err)
{
	static const int sigs[] = {SIGCHLD, SIGTERM, SIGINT};
	struct timeval second = {.tv_sec = 1}, drain = {.tv_usec = AGENT_DRAIN_MS * 1000};

	event_set_log_callback(agent_on_log);
	a->base = event_base_new();
	if (!a->base)
		return err_set(err, -ENOMEM, "cannot set up the event loop");
	a->port.on_message = agent_message;
	a->port.on_bad_message = agent_on_bad;
	a->port.on_end = agent_on_end;
	a->port.ctx = a;
	a->second = event_new(a->base, -1, EV_PERSIST, agent_on_second, a);
	a->drain = event_new(a->base, -1, EV_PERSIST, agent_on_drain, a);
	for (unsigned i = 0; i < 3; i++)
		a->signals[i] = evsignal_new(a->base, sigs[i], agent_on_signal, a);
	if (!a->second || !a->drain || event_add(a->second, &second) || event_add(a->drain, &drain))
		return err_set(err, -ENOMEM, "cannot set up the event loop");
	for (unsigned i = 0; i < 3; i++)
		if (!a->signals[i] || event_add(a->signals[i], NULL))
			return err_set(err, -ENOMEM, "cannot set up the event loop");
	return port_open(&a->port, a->base, path, err);
}

int agent_open(struct agent *a, const struct agent_options *o, struct err *err)
{
	struct err why;
	int ret;

	memset(a, 0, sizeof(*a));
	a->port.in = a->port.out = a->events.fd = a->resync.fd = -1;
	a->version = o->version;
	a->test_hooks = o->test_hooks;
	a->hide_cause = NR_CAUSES;
	signal(SIGPIPE, SIG_IGN);
	ret = sampler_open(&a->sampler, err);
	if (ret)
		return ret;
	a->restored = undo_open(&a->undo, o->state, &a->sampler.rtnl, err);
	if (a->restored < 0)
		return a->restored;
	if (trace_open(&a->trace, false, &why))
		snprintf(a->trace_why, sizeof(a->trace_why), "%.255s", why.text);
	a->sampler.trace = &a->trace;
	return agent_open_loop(a, o->port, err);
}

static void __attribute__((noreturn)) agent_hang(struct agent *a)
{
	agent_links_down(a);
	for (;;)
		pause();
}

int agent_run(struct agent *a, struct err *err)
{
	int ret = event_base_dispatch(a->base);

	port_flush(&a->port, 500);
	if (ret < 0)
		return err_set(err, -EIO, "the event loop failed");
	if (a->then == AGENT_PANICS)
		return power_panic(err);
	if (a->then == AGENT_HANGS)
		agent_hang(a);
	if (power_is_init() && a->then != AGENT_QUITS)
		return err_set(err, -EIO, "the event loop ended");
	return 0;
}

int agent_close(struct agent *a, struct err *err)
{
	struct event *events[] = {a->second, a->drain, a->signals[0], a->signals[1], a->signals[2]};
	int ret = a->undo.log ? undo_all(&a->undo, &a->sampler.rtnl, err) : 0;

	trace_close(&a->trace);
	nevents_close(&a->events);
	resync_stop(&a->resync);
	for (unsigned i = 0; i < 5; i++)
		if (events[i])
			event_free(events[i]);
	port_close(&a->port);
	if (a->base)
		event_base_free(a->base);
	undo_close(&a->undo);
	sampler_close(&a->sampler);
	json_decref(a->baseline);
	return ret;
}

int agent_once(json_t **out, struct err *err)
{
	struct sampler s;
	struct sample now;
	int ret = sampler_open(&s, err);

	if (ret)
		return ret;
	ret = sampler_take(&s, &now, true, err);
	*out = ret ? NULL : json_sample(&s, &now);
	sampler_close(&s);
	return ret;
}
