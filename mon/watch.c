// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <event2/event.h>
#include <net/if.h>

#include "lib/err.h"
#include "lib/wire.h"
#include "mon/json.h"
#include "mon/keys.h"
#include "mon/view.h"
#include "mon/watch_text.h"

/* A dump costs with the number of neighbours: it may take this part of the time at most. */
#define WATCH_DUMP_SHARE 20

struct watch {
	const struct watch_options *o;
	struct event_base *base;
	struct view view;
	struct utsname host;
	bool screen; /* standard output is a terminal that can be written all over */
	struct keys keys; /* with a screen only */
	bool failed;
	struct err err;

	struct sample samples[2];
	struct view_drops drops[2];
	unsigned nr; /* samples taken; the last one is samples[(nr - 1) % 2] */

	struct rtnl_devs all;
	struct watch_dev devs[WATCH_TOP_MAX];
	unsigned nr_devs;
	uint64_t dump_ns, dump_cost_ns; /* when the last one ended; 0: none */
	struct err dump_err;

	char *text; /* what the screen shows */
};

static void watch_fail(struct watch *w)
{
	w->failed = true;
	event_base_loopbreak(w->base);
}

/* Nobody reads any more: that is an end as good as a signal. */
static void watch_flush(struct watch *w)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	if (errno == EPIPE) {
		event_base_loopbreak(w->base);
		return;
	}
	err_set(&w->err, -EIO, "cannot write to standard output");
	watch_fail(w);
}

static void watch_devices(struct watch *w)
{
	struct rtnl_top top[WATCH_TOP_MAX];
	uint64_t begin = sample_now_ns();

	if (w->dump_ns && begin < w->dump_ns + WATCH_DUMP_SHARE * w->dump_cost_ns)
		return;
	if (rtnl_devs(&w->view.sampler.rtnl, &w->all, &w->dump_err)) {
		w->dump_ns = 0;
		return;
	}
	w->dump_ns = sample_now_ns();
	w->dump_cost_ns = w->dump_ns - begin;
	w->nr_devs = rtnl_devs_top(&w->all, top, WATCH_TOP_MAX);
	for (unsigned i = 0; i < w->nr_devs; i++) {
		struct watch_dev *d = &w->devs[i];

		if (!if_indextoname((unsigned)top[i].index, d->name))
			snprintf(d->name, sizeof(d->name), "index %d", top[i].index);
		memcpy(d->entries, top[i].dev.entries, sizeof(d->entries));
	}
}

static void watch_draw(struct watch *w)
{
	struct winsize size = {};

	if (!w->text)
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	watch_screen(stdout, w->text, size.ws_col ? size.ws_col : 80,
		     size.ws_row ? size.ws_row : 24);
	watch_flush(w);
}

static void watch_table(struct watch *w, unsigned at)
{
	const struct sample *now = &w->samples[at];
	bool first = w->nr == 1;
	struct watch_frame f = {
		.host = w->host.nodename,
		.kernel = w->host.release,
		.interval_s = w->o->interval_s,
		.keys = w->keys.on,
		.now = now,
		.before = first ? NULL : &w->samples[!at],
		.drops = &w->drops[at],
		.drops_before = first ? NULL : &w->drops[!at],
		.no_drops = w->view.no_drops,
		.devs = w->devs,
		.nr_devs = w->nr_devs,
		.devs_age_s = w->dump_ns ? (double)(sample_now_ns() - w->dump_ns) / 1e9 : -1,
		.devs_why = w->dump_err.text[0] ? w->dump_err.text : NULL,
	};
	size_t len;
	FILE *to;

	free(w->text);
	w->text = NULL;
	to = open_memstream(&w->text, &len);
	if (!to)
		return;
	watch_text(to, &f);
	if (fclose(to)) {
		free(w->text);
		w->text = NULL;
		return;
	}
	if (w->screen) {
		watch_draw(w);
	} else {
		fputs(first ? "" : "\n", stdout);
		fputs(w->text, stdout);
		watch_flush(w);
	}
}

static json_t *watch_json_devices(const struct watch *w)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < w->nr_devs; i++)
		json_array_append_new(list, json_pack("{s:o,s:I,s:I}", "ifname",
						      wire_text(w->devs[i].name), "ipv4",
						      (json_int_t)w->devs[i].entries[0], "ipv6",
						      (json_int_t)w->devs[i].entries[1]));
	return list;
}

static void watch_json(struct watch *w, unsigned at)
{
	static const uint64_t none[2]; /* an echo that was answered is no drop on any host */
	const struct sample *now = &w->samples[at];
	json_t *obj = json_sample(&w->view.sampler, now);
	char *line;
	size_t len;

	if (now->has_drops)
		json_add_drops(obj, &w->view.trace, none, NR_CAUSES);
	else
		json_object_set_new(obj, "drops_why", json_string(w->view.no_drops));
	if (w->dump_ns) {
		json_object_set_new(obj, "devices_dumped", watch_json_devices(w));
		json_object_set_new(obj, "devices_t_ns", json_integer((json_int_t)w->dump_ns));
	}
	obj = wire_event("watch", obj);
	line = obj ? wire_line(obj, &len) : NULL;
	json_decref(obj);
	if (!line) {
		err_set(&w->err, -EMSGSIZE, "a line of JSON became too long");
		watch_fail(w);
		return;
	}
	fwrite(line, 1, len, stdout);
	free(line);
	watch_flush(w);
}

static void watch_on_interval(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;
	unsigned at = w->nr % 2;

	(void)fd;
	(void)what;
	if (view_take(&w->view, &w->samples[at], &w->drops[at], &w->err)) {
		watch_fail(w);
		return;
	}
	w->nr++;
	keys_on(&w->keys);
	watch_devices(w);
	if (w->o->json)
		watch_json(w, at);
	else
		watch_table(w, at);
}

static void watch_on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct watch *w = arg;

	(void)what;
	if (sig == SIGTSTP)
		keys_stop(&w->keys);
	else if (sig == SIGCONT)
		keys_continue(&w->keys);
	else if (sig != SIGWINCH)
		event_base_loopbreak(w->base);
	if (w->screen && !event_base_got_break(w->base)) {
		fputs("\033[2J", stdout);
		watch_draw(w);
	}
}

#define WATCH_EVENTS 8

static int watch_loop(struct watch *w, struct err *err)
{
	static const int sigs[WATCH_EVENTS - 1] = {SIGINT,   SIGTERM, SIGHUP, SIGQUIT,
						   SIGWINCH, SIGTSTP, SIGCONT};
	struct event *events[WATCH_EVENTS] = {};
	struct timeval every = {
		.tv_sec = (time_t)w->o->interval_s,
		.tv_usec =
			(suseconds_t)(1e6 * (w->o->interval_s - (double)(time_t)w->o->interval_s)),
	};
	int ret = 0;

	events[0] = event_new(w->base, -1, EV_PERSIST, watch_on_interval, w);
	for (unsigned i = 1; i < WATCH_EVENTS; i++)
		events[i] = evsignal_new(w->base, sigs[i - 1], watch_on_signal, w);
	for (unsigned i = 0; i < WATCH_EVENTS; i++)
		if (!events[i] || event_add(events[i], i ? NULL : &every))
			ret = err_set(err, -ENOMEM, "cannot set up the event loop");
	if (!ret) {
		event_active(events[0], EV_TIMEOUT, 0); /* the first one at once */
		if (w->screen) {
			fputs("\033[2J", stdout);
			keys_open(&w->keys, w->base);
		}
		if (event_base_dispatch(w->base) < 0)
			ret = err_set(err, -EIO, "the event loop failed");
		keys_close(&w->keys);
	}
	for (unsigned i = 0; i < WATCH_EVENTS; i++)
		if (events[i])
			event_free(events[i]);
	return ret;
}

static bool watch_is_screen(const struct watch_options *o)
{
	const char *term = getenv("TERM");

	return !o->json && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

int watch_run(const struct watch_options *o, struct err *err)
{
	struct watch *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return err_set(err, -ENOMEM, "no memory");
	w->o = o;
	w->screen = watch_is_screen(o);
	signal(SIGPIPE, SIG_IGN);
	uname(&w->host);
	w->base = event_base_new();
	ret = w->base ? view_open(&w->view, err)
		      : err_set(err, -ENOMEM, "cannot set up the event loop");
	if (!ret) {
		ret = watch_loop(w, err);
		if (!ret && w->failed)
			ret = err_set(err, -EIO, "%s", w->err.text);
		view_close(&w->view);
	}
	if (w->base)
		event_base_free(w->base);
	rtnl_devs_free(&w->all);
	free(w->text);
	free(w);
	return ret;
}
