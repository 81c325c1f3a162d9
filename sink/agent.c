// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "lib/err.h"
#include "lib/sock.h"
#include "lib/wire.h"
#include "sink/agent_private.h"
#include "sink/source.h"

#define AGENT_TICK_US	  20000
#define AGENT_SAMPLE_NS	  UINT64_C(1000000000)
#define AGENT_FLUSH_NS	  UINT64_C(1000000000) /* a controller may be slow to read its last answer */
#define AGENT_SILENCE_NS  UINT64_C(2000000000) /* while running: the controller is gone */
#define AGENT_PATIENCE_NS UINT64_C(10000000000) /* nobody came: whoever started this is gone */
#define AGENT_OUTPUT_MAX  (4u << 20) /* the controller does not read: it is gone */

/* The end, with a reason that only the first caller gives. */
static void agent_fail(struct agent *a, int code, const char *text)
{
	if (!a->end && !a->ret && code)
		a->ret = err_set(a->err, code, "%s", text);
	a->end = true;
	event_base_loopbreak(a->base);
}

/* In state done everything was handed over: a controller that leaves then has what it wanted. */
static void agent_gone(struct agent *a, const char *text)
{
	agent_fail(a, a->state == AGENT_DONE ? 0 : -ECONNRESET, text);
}

/* --- the connection --------------------------------------------------------------------------- */

void agent_send(struct agent *a, json_t *message)
{
	size_t len;
	char *line = wire_line(message, &len);

	json_decref(message);
	if (!line) {
		agent_fail(a, -EMSGSIZE, WIRE_NO_LINE);
		return;
	}
	if (a->controller)
		bufferevent_write(a->controller, line, len);
	free(line);
	if (a->controller &&
	    evbuffer_get_length(bufferevent_get_output(a->controller)) > AGENT_OUTPUT_MAX)
		agent_gone(a, "the controller does not read any more");
}

static void agent_answer(struct agent *a, json_t *message)
{
	json_t *id = json_object_get(message, "id"), *result = NULL;
	const char *method = json_string_value(json_object_get(message, "method"));
	json_int_t number = json_integer_value(id);
	enum agent_reply reply;
	struct err err;

	if (!json_is_integer(id) || !method) {
		agent_send(a, wire_error(number, EXIT_USAGE,
					 "a request needs an integer id and a method"));
		return;
	}
	reply = agent_call(a, method, number, json_object_get(message, "params"), &result, &err);
	if (reply == AGENT_RESULT)
		agent_send(a, wire_result(number, result));
	else if (reply != AGENT_DEFERRED)
		agent_send(a, wire_error(number, reply == AGENT_USAGE ? EXIT_USAGE : EXIT_RIG,
					 err.text));
}

static int agent_messages(struct agent *a)
{
	json_t *message;
	struct err err;
	int ret;

	while ((ret = wire_next(a->reader, &message, &err)) != 0) {
		if (ret == 1) {
			agent_answer(a, message);
			json_decref(message);
		} else {
			agent_send(a, wire_error(0, EXIT_USAGE, err.text));
			if (ret == -EMSGSIZE)
				agent_gone(a, "the controller sent a line without end");
		}
		if (a->end || a->quitting)
			return -1;
	}
	return 0;
}

static void agent_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct agent *a = arg;
	size_t room;
	char *at;
	int n;

	a->heard_ns = sink_now_ns();
	while (evbuffer_get_length(in)) {
		at = wire_reader_space(a->reader, &room);
		n = evbuffer_remove(in, at, room);
		if (n > 0)
			wire_reader_added(a->reader, (size_t)n);
		if (agent_messages(a))
			return;
	}
}

/* Everything is written. */
static void agent_written(struct bufferevent *bev, void *arg)
{
	struct agent *a = arg;

	(void)bev;
	if (a->quitting)
		agent_fail(a, 0, "");
}

static void agent_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		agent_gone(arg, "the controller is gone: the run is incomplete");
}

static void agent_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *addr,
			 int len, void *arg)
{
	static const char busy[] = "{\"v\":1,\"event\":\"error\",\"text\":\"there is a controller "
				   "already\"}\n";
	struct agent *a = arg;

	(void)listener, (void)addr, (void)len;
	if (a->controller) {
		(void)send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	a->controller = bufferevent_socket_new(a->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!a->controller) {
		close(fd);
		agent_fail(a, -ENOMEM, "no memory for the controller's connection");
		return;
	}
	a->heard_ns = sink_now_ns();
	bufferevent_setcb(a->controller, agent_read, agent_written, agent_event, a);
	bufferevent_enable(a->controller, EV_READ | EV_WRITE);
}

/* --- time and signals ------------------------------------------------------------------------- */

static void agent_sample(struct agent *a, uint64_t now_ns)
{
	if ((a->state != AGENT_RUNNING && a->state != AGENT_DRAINING) || now_ns < a->next_sample_ns)
		return;
	a->next_sample_ns += AGENT_SAMPLE_NS;
	agent_send(a, wire_event("sample", agent_stats(a)));
}

static void agent_tick(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	uint64_t now_ns = sink_now_ns();
	struct err err;

	(void)fd, (void)what;
	if (source_failure(a->conf->source, &err))
		agent_fail(a, -EIO, err.text);
	agent_arm_poll(a);
	agent_sample(a, now_ns);
	if (a->quitting && now_ns - a->quit_ns > AGENT_FLUSH_NS)
		agent_fail(a, 0, "");
	if (!a->controller && now_ns - a->opened_ns > AGENT_PATIENCE_NS)
		agent_gone(a, "no controller came to the control socket within 10 s");
	if ((a->state == AGENT_RUNNING || a->state == AGENT_DRAINING) &&
	    now_ns - a->heard_ns > AGENT_SILENCE_NS)
		agent_gone(a, "the controller was silent for 2 s: the run is incomplete");
}

static void agent_signal(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	struct err err;

	(void)fd, (void)what;
	if (source_failure(a->conf->source, &err)) /* that is who sent it */
		agent_fail(a, -EIO, err.text);
	else
		agent_fail(a, 0, "");
}

static int agent_events(struct agent *a)
{
	const struct timeval tick = {.tv_usec = AGENT_TICK_US};

	a->signal_fd = signalfd(-1, a->conf->end, SFD_CLOEXEC | SFD_NONBLOCK);
	if (a->signal_fd < 0)
		return -errno;
	a->tick = event_new(a->base, -1, EV_PERSIST, agent_tick, a);
	a->signal = event_new(a->base, a->signal_fd, EV_READ, agent_signal, a);
	if (!a->tick || !a->signal || event_add(a->tick, &tick) || event_add(a->signal, NULL))
		return -ENOMEM;
	return 0;
}

/* --- life ------------------------------------------------------------------------------------ */

static int agent_listen(struct agent *a, struct err *err)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int ret = sock_make_way(a->conf->path, err);
	mode_t mask;

	if (ret)
		return ret;
	strcpy(sun.sun_path, a->conf->path);
	mask = umask(0177);
	a->listener = evconnlistener_new_bind(a->base, agent_accept, a,
					      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 1,
					      (struct sockaddr *)&sun, sizeof(sun));
	ret = -errno;
	umask(mask);
	if (!a->listener)
		return err_set(err, ret, "cannot listen at %s: %s", a->conf->path, strerror(-ret));
	a->opened_ns = sink_now_ns();
	return 0;
}

static int agent_open(struct agent *a, struct wire_reader *reader, struct err *err)
{
	if (wire_reader_init(reader))
		return err_set(err, -ENOMEM, "no memory for the control socket");
	a->reader = reader;
	a->base = event_base_new();
	if (!a->base || agent_events(a))
		return err_set(err, -ENOMEM, "no memory for an event loop");
	return agent_listen(a, err);
}

static void agent_close(struct agent *a)
{
	if (a->controller)
		bufferevent_free(a->controller);
	if (a->listener) {
		evconnlistener_free(a->listener);
		unlink(a->conf->path);
	}
	if (a->tick)
		event_free(a->tick);
	if (a->signal)
		event_free(a->signal);
	if (a->signal_fd >= 0)
		close(a->signal_fd);
	if (a->base)
		event_base_free(a->base);
	if (a->reader)
		wire_reader_free(a->reader);
	sink_free(&a->sink);
	free(a->hist_dir);
}

int agent_run(const struct agent_conf *conf, struct err *err)
{
	struct agent a = {
		.conf = conf, .lock = PTHREAD_MUTEX_INITIALIZER, .signal_fd = -1, .err = err};
	struct wire_reader reader;
	int ret = agent_open(&a, &reader, err), finish;

	if (!ret) {
		event_base_dispatch(a.base);
		if (a.ret)
			a.state = AGENT_FAILED;
		finish = agent_finish(&a, a.ret ? NULL : err);
		ret = a.ret ? a.ret : finish;
	}
	source_stop(conf->source);
	agent_close(&a);
	return ret;
}
