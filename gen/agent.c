// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "gen/agent_parts.h"
#include "gen/options.h"
#include "gen/results.h"
#include "lib/sock.h"
#include "lib/err.h"

enum {
	AGENT_TICK_US = 20 * 1000,
	AGENT_BACKLOG_MAX = 1024 * 1024, /* bytes that the controller has not read */
};

#define AGENT_SILENCE_NS UINT64_C(2000000000)
#define AGENT_SAMPLE_NS	 UINT64_C(1000000000)
#define AGENT_FLUSH_NS	 UINT64_C(1000000000)

/* End the loop because of an error. */
static void agent_fail(struct agent *a, int code, const char *text)
{
	if (!a->ret)
		a->ret = err_set(a->err, code, "%s", text);
	event_base_loopbreak(a->flood.base);
}

/* --- the connection --------------------------------------------------------------------------- */

void agent_send(struct agent *a, json_t *msg)
{
	size_t len;
	char *line = msg ? wire_line(msg, &len) : NULL;

	json_decref(msg);
	if (!line)
		agent_fail(a, -EMSGSIZE, WIRE_NO_LINE);
	else if (a->client)
		bufferevent_write(a->client, line, len);
	free(line);
}

static void hang_up(struct agent *a)
{
	if (a->client)
		bufferevent_free(a->client);
	a->client = NULL;
	wire_reader_free(&a->reader);
}

/* Before there is anything to lose the next controller may come; later its end is the end. */
static void controller_gone(struct agent *a, const char *how)
{
	hang_up(a);
	if (a->quitting)
		event_base_loopbreak(a->flood.base);
	else if (a->flood.state != FLOOD_IDLE)
		agent_fail(a, -EPIPE, how);
}

/* A line that is no message is answered, as far as that is possible, and skipped. */
static int take_messages(struct agent *a)
{
	struct err err;
	json_t *msg;
	int ret;

	while (a->client && (ret = wire_next(&a->reader, &msg, &err))) {
		if (ret == -EMSGSIZE)
			return ret;
		if (ret < 0) {
			agent_send(a, wire_error(0, EXIT_USAGE, err.text));
			continue;
		}
		agent_request(a, msg);
		json_decref(msg);
	}
	return 0;
}

static void on_readable(struct bufferevent *client, void *arg)
{
	struct agent *a = arg;
	size_t room, n;
	char *to;

	a->heard_ns = flood_clock_ns();
	while (a->client) {
		to = wire_reader_space(&a->reader, &room);
		n = bufferevent_read(client, to, room);
		if (!n)
			return;
		wire_reader_added(&a->reader, n);
		if (take_messages(a)) {
			controller_gone(a, "the controller sent a line without end");
			return;
		}
	}
}

static void on_event(struct bufferevent *client, short what, void *arg)
{
	(void)client;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		controller_gone(arg, "the controller has gone; stopped");
}

static void on_connect(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *sa,
		       int len, void *arg)
{
	struct agent *a = arg;

	(void)listener;
	(void)sa;
	(void)len;
	if (a->client || a->quitting || wire_reader_init(&a->reader)) {
		close(fd);
		return;
	}
	a->client = bufferevent_socket_new(a->flood.base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!a->client) {
		close(fd);
		wire_reader_free(&a->reader);
		return;
	}
	bufferevent_setcb(a->client, on_readable, NULL, on_event, a);
	bufferevent_enable(a->client, EV_READ | EV_WRITE);
	a->heard_ns = flood_clock_ns();
}

/* --- time ------------------------------------------------------------------------------------- */

static void send_sample(struct agent *a, uint64_t now)
{
	if (now < a->next_sample_ns)
		return;
	a->next_sample_ns += AGENT_SAMPLE_NS;
	agent_send(a, wire_event("sample", flood_stats(&a->flood)));
}

static bool unread(const struct agent *a, size_t limit)
{
	return a->client && evbuffer_get_length(bufferevent_get_output(a->client)) > limit;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	uint64_t now = flood_clock_ns();

	(void)fd;
	(void)what;
	agent_arm_poll(a, now);
	if (a->quitting && (!unread(a, 0) || now > a->quit_ns + AGENT_FLUSH_NS))
		event_base_loopbreak(a->flood.base);
	if (a->flood.state != FLOOD_RUNNING)
		return;
	if (now > a->heard_ns + AGENT_SILENCE_NS || unread(a, AGENT_BACKLOG_MAX))
		agent_fail(a, -ETIMEDOUT, "nothing from the controller for 2 s; stopped");
	else
		send_sample(a, now);
}

static void on_ended(struct flood *f, void *arg)
{
	struct agent *a = arg;

	if (f->state == FLOOD_FAILED)
		agent_send(a, wire_event("error", json_pack("{ss}", "text", f->err.text)));
	else
		agent_send(a, wire_event("done", flood_stats(f)));
}

static void on_signal(evutil_socket_t signal, short what, void *arg)
{
	struct agent *a = arg;
	char text[64];

	(void)what;
	snprintf(text, sizeof(text), "ended by SIG%s", sigabbrev_np(signal));
	agent_fail(a, -EINTR, text);
}

/* --- life ------------------------------------------------------------------------------------- */

static int agent_listen(struct agent *a, const char *path, struct err *err)
{
	int fd = sock_listen(path, err);

	if (fd < 0)
		return fd;
	a->listener = evconnlistener_new(a->flood.base, on_connect, a,
					 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (a->listener)
		return 0;
	close(fd);
	unlink(path);
	return err_set(err, -ENOMEM, "no memory for a control socket");
}

static int agent_events(struct agent *a, struct err *err)
{
	static const struct timeval tick = { .tv_usec = AGENT_TICK_US };
	struct event_base *base = a->flood.base;

	a->tick = event_new(base, -1, EV_PERSIST, on_tick, a);
	a->sigint = evsignal_new(base, SIGINT, on_signal, a);
	a->sigterm = evsignal_new(base, SIGTERM, on_signal, a);
	if (!a->tick || !a->sigint || !a->sigterm)
		return err_set(err, -ENOMEM, "no memory for events");
	event_add(a->tick, &tick);
	event_add(a->sigint, NULL);
	event_add(a->sigterm, NULL);
	return 0;
}

static int agent_open(struct agent *a, const struct options *o, struct err *err)
{
	int ret = flood_init(&a->flood, err);

	if (!ret)
		ret = agent_listen(a, o->control, err);
	if (!ret)
		ret = agent_events(a, err);
	if (!ret)
		ret = results_open(o->json, &a->json, err);
	return ret;
}

static void agent_close(struct agent *a, const struct options *o)
{
	struct event *all[] = { a->tick, a->sigint, a->sigterm };

	if (a->listener) {
		evconnlistener_free(a->listener);
		unlink(o->control);
	}
	hang_up(a);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			event_free(all[i]);
	if (a->json)
		fclose(a->json);
}

/* What was measured is kept, however it ended. */
static int agent_end(struct agent *a)
{
	struct flood *f = &a->flood;
	bool configured = f->state != FLOOD_IDLE && f->plan.streams;
	struct err *err = a->ret ? NULL : a->err;
	json_t *stats = NULL;
	int ret;

	flood_stop(f);
	if (configured)
		stats = flood_stats(f);
	if (f->state == FLOOD_FAILED && !a->ret) {
		*a->err = f->err;
		a->ret = -EIO;
		err = NULL;
	}
	ret = flood_free(f, err);
	if (configured && results_write(stats, a->json, ret ? NULL : err) && !ret)
		ret = -EIO;
	json_decref(stats);
	return a->ret ? a->ret : ret;
}

int agent_run(const struct options *o, int *code, struct err *err)
{
	struct agent a = { .err = err };
	int ret;

	a.flood = (struct flood){ .ports = o->ports, .eal = o->eal, .trace_path = o->trace,
				  .ended = on_ended, .arg = &a, .base = event_base_new() };
	*code = EXIT_RIG;
	if (!a.flood.base)
		return err_set(err, -ENOMEM, "no memory for events");
	a.ret = agent_open(&a, o, err);
	if (!a.ret)
		event_base_dispatch(a.flood.base);
	ret = agent_end(&a);
	agent_close(&a, o);
	event_base_free(a.flood.base);
	if (!ret)
		*code = EXIT_OK;
	return ret;
}
