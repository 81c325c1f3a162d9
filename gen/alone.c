// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/alone.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "gen/flood.h"
#include "gen/options.h"
#include "gen/results.h"
#include "lib/err.h"

enum {
	ALONE_POLL_US = 10 * 1000,
	ALONE_PEER_S = 60,		/* how long to wait for a guest */
	ALONE_LEAD_NS = 2 * 1000 * 1000, /* from the start of the lanes to the first packet */
};

struct alone {
	struct flood flood;
	struct event *poll, *sigint, *sigterm;
	uint64_t give_up_ns;
	FILE *json;
	int signal; /* that ended it, or 0 */
	int ret;
	struct err *err;
};

static void alone_break(struct alone *a)
{
	event_base_loopbreak(a->flood.base);
}

static void on_ended(struct flood *f, void *arg)
{
	struct alone *a = arg;

	if (f->state == FLOOD_FAILED) {
		*a->err = f->err;
		a->ret = -EIO;
	}
	alone_break(a);
}

static void on_signal(evutil_socket_t signal, short what, void *arg)
{
	struct alone *a = arg;

	(void)what;
	a->signal = signal;
	flood_stop(&a->flood);
	alone_break(a);
}

/* Until the ports are ready; then start. */
static void on_poll(evutil_socket_t fd, short what, void *arg)
{
	struct alone *a = arg;
	uint64_t now = flood_clock_ns();
	char waits[160];

	(void)fd;
	(void)what;
	if (flood_ready(&a->flood)) {
		event_del(a->poll);
		a->ret = flood_start(&a->flood, now + ALONE_LEAD_NS, a->err);
	} else if (now > a->give_up_ns) {
		ports_wait_for(&a->flood.ports, waits, sizeof(waits));
		a->ret = err_set(a->err, -ETIMEDOUT, "waited %d s in vain for %s", ALONE_PEER_S, waits);
	}
	if (a->ret)
		alone_break(a);
}

static int alone_events(struct alone *a, struct event_base *base)
{
	static const struct timeval poll = { .tv_usec = ALONE_POLL_US };

	a->poll = event_new(base, -1, EV_PERSIST, on_poll, a);
	a->sigint = evsignal_new(base, SIGINT, on_signal, a);
	a->sigterm = evsignal_new(base, SIGTERM, on_signal, a);
	if (!a->poll || !a->sigint || !a->sigterm)
		return err_set(a->err, -ENOMEM, "no memory for events");
	event_add(a->sigint, NULL);
	event_add(a->sigterm, NULL);
	event_add(a->poll, &poll);
	return 0;
}

static void alone_events_free(struct alone *a)
{
	struct event *all[] = { a->poll, a->sigint, a->sigterm };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			event_free(all[i]);
}

static void announce(const struct plan *p, const struct ports *ports)
{
	char text[512], to[256];

	ports_text(ports, to, sizeof(to));
	plan_text(p, to, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
}

/* Files are made only once it is sure that there is something to put into them. */
static int alone_loop(struct alone *a, const struct options *o, int *code)
{
	struct flood *f = &a->flood;
	int ret = flood_init(f, a->err);

	if (!ret)
		ret = flood_configure(f, &o->request, a->err);
	if (ret)
		return ret;
	*code = EXIT_RIG;
	ret = results_open(o->json, &a->json, a->err);
	if (!ret)
		ret = alone_events(a, f->base); /* first, so that a signal finds all of it */
	if (!ret)
		ret = flood_arm(f, a->err);
	if (ret == -EINVAL)
		*code = EXIT_USAGE;
	if (ret)
		return ret;
	announce(&f->plan, &f->ports);
	a->give_up_ns = flood_clock_ns() + ALONE_PEER_S * UINT64_C(1000000000);
	event_base_dispatch(f->base);
	return a->ret;
}

/* How it ended, in @err if it did not end well. */
static int alone_end(struct alone *a, struct err *err)
{
	struct flood *f = &a->flood;
	bool ran = f->lanes.nr;
	json_t *stats = ran ? flood_stats(f) : NULL;
	struct err *later = a->ret ? NULL : err; /* the first error is the one to tell */
	int ret = flood_free(f, later);

	if (ran && results_write(stats, a->json, ret || a->ret ? NULL : err) && !ret)
		ret = -EIO;
	if (!a->ret && !ret && a->signal)
		ret = err_set(err, -EINTR, "ended by SIG%s before its time",
			      sigabbrev_np(a->signal));
	json_decref(stats);
	return a->ret ? a->ret : ret;
}

int alone_run(const struct options *o, int *code, struct err *err)
{
	struct alone a = { .err = err };
	int ret;

	a.flood = (struct flood){ .ports = o->ports, .eal = o->eal, .trace_path = o->trace,
				  .ended = on_ended, .arg = &a, .base = event_base_new() };
	*code = EXIT_USAGE;
	if (!a.flood.base)
		return err_set(err, -ENOMEM, "no memory for events");
	a.ret = alone_loop(&a, o, code);
	alone_events_free(&a);
	ret = alone_end(&a, err);
	if (a.json)
		fclose(a.json);
	event_base_free(a.flood.base);
	if (!ret)
		*code = EXIT_OK;
	return ret;
}
