// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/err.h"
#include "mon/prom.h"
#include "mon/view.h"

#define SERVE_FRESH_NS	1000000000u /* scrapes closer than this get the same text */
#define SERVE_KEEP_S	60 /* a sample at least so often, so that no 32-bit counter wraps unseen */
#define SERVE_TIMEOUT_S 10 /* for a client that does not go on */
#define SERVE_HEADERS	8192

struct serve {
	const struct serve_options *o;
	struct event_base *base;
	struct evhttp *http;
	struct view view;
	struct sample sample;
	struct view_drops drops;
	char *text; /* of that sample */
	size_t len;
};

int serve_address(const char *text, char host[64], unsigned short *port, struct err *err)
{
	const char *colon = strrchr(text, ':'), *from = text, *to = colon;
	struct in6_addr any;
	unsigned number;
	char rest;

	if (colon && *text == '[' && colon > text + 1 && colon[-1] == ']') {
		from++;
		to--;
	}
	if (!colon || to == from || to - from >= 64 ||
	    sscanf(colon + 1, "%5u%c", &number, &rest) != 1 || number > 65535)
		return err_set(err, -EINVAL,
			       "\"%.80s\" is no address with a port: write it like %s or "
			       "[::1]:9718",
			       text, SERVE_LISTEN);
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	*port = (unsigned short)number;
	if (inet_pton(from == text ? AF_INET : AF_INET6, host, &any) != 1)
		return err_set(err, -EINVAL,
			       "\"%.80s\" is no numeric address: write it like %s or [::1]:9718",
			       text, SERVE_LISTEN);
	return 0;
}

static int serve_refresh(struct serve *s, struct err *err)
{
	FILE *to;
	int ret = view_take(&s->view, &s->sample, &s->drops, err);

	if (ret)
		return ret;
	free(s->text);
	s->text = NULL;
	to = open_memstream(&s->text, &s->len);
	if (to)
		prom_write(to, &s->sample, &s->drops, s->o->version);
	if (to && !fclose(to) && s->text)
		return 0;
	free(s->text);
	s->text = NULL;
	return err_set(err, -ENOMEM, "no memory for the answer");
}

static int serve_text(struct serve *s, struct err *err)
{
	if (s->text && sample_now_ns() < s->sample.t_ns + SERVE_FRESH_NS)
		return 0;
	return serve_refresh(s, err);
}

static void serve_metrics(struct serve *s, struct evhttp_request *req)
{
	struct evbuffer *body = evbuffer_new();
	struct err err = {};

	if (!body || serve_text(s, &err)) {
		evhttp_send_error(req, HTTP_INTERNAL, err.text[0] ? err.text : "no memory");
	} else {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
				  PROM_CONTENT_TYPE);
		evbuffer_add(body, s->text, s->len);
		evhttp_send_reply(req, HTTP_OK, "OK", body);
	}
	if (body)
		evbuffer_free(body);
}

static void serve_on_request(struct evhttp_request *req, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	if (!path || strcmp(path, "/metrics") != 0) {
		evhttp_send_error(req, HTTP_NOTFOUND, "only /metrics is here");
	} else if (evhttp_request_get_command(req) != EVHTTP_REQ_GET) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Allow", "GET");
		evhttp_send_reply(req, HTTP_BADMETHOD, "only GET is answered", NULL);
	} else {
		serve_metrics(arg, req);
	}
}

static void serve_on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct serve *s = arg;

	(void)fd;
	(void)what;
	serve_text(s, NULL);
}

static void serve_on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	event_base_loopbreak(arg);
}

/* With port 0 the kernel chooses: say which. */
static void serve_say(const struct evhttp_bound_socket *bound)
{
	struct sockaddr_storage a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
	evutil_socket_t fd =
		evhttp_bound_socket_get_fd((struct evhttp_bound_socket *)(uintptr_t)bound);
	socklen_t len = sizeof(a);
	char host[INET6_ADDRSTRLEN] = "?";

	if (getsockname(fd, (struct sockaddr *)&a, &len))
		return;
	if (a.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
	fprintf(stderr, "dststorm-mon: serving http://%s%s%s:%u/metrics\n",
		a.ss_family == AF_INET6 ? "[" : "", host, a.ss_family == AF_INET6 ? "]" : "",
		ntohs(a.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port));
}

static int serve_listen(struct serve *s, struct err *err)
{
	struct evhttp_bound_socket *bound;
	unsigned short port;
	char host[64];
	int ret = serve_address(s->o->listen, host, &port, err);

	if (ret)
		return ret;
	s->http = evhttp_new(s->base);
	if (!s->http)
		return err_set(err, -ENOMEM, "no memory for an HTTP server");
	evhttp_set_timeout(s->http, SERVE_TIMEOUT_S);
	evhttp_set_max_headers_size(s->http, SERVE_HEADERS);
	evhttp_set_max_body_size(s->http, SERVE_HEADERS);
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
						    EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
						    EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
	evhttp_set_gencb(s->http, serve_on_request, s);
	bound = evhttp_bind_socket_with_handle(s->http, host, port);
	if (!bound)
		return err_set(err, -errno, "cannot listen on %s: %s; choose another with --listen",
			       s->o->listen, strerror(errno));
	serve_say(bound);
	return 0;
}

static int serve_loop(struct serve *s, struct err *err)
{
	struct timeval keep = {.tv_sec = SERVE_KEEP_S};
	struct event *events[] = {
		evsignal_new(s->base, SIGINT, serve_on_signal, s->base),
		evsignal_new(s->base, SIGTERM, serve_on_signal, s->base),
		event_new(s->base, -1, EV_PERSIST, serve_on_timer, s),
	};
	int ret = 0;

	for (unsigned i = 0; i < 3; i++)
		if (!events[i] || event_add(events[i], i == 2 ? &keep : NULL))
			ret = err_set(err, -ENOMEM, "cannot set up the event loop");
	if (!ret)
		ret = serve_refresh(s, err);
	if (!ret)
		ret = serve_listen(s, err);
	if (!ret && s->view.no_drops[0])
		fprintf(stderr, "dststorm-mon: %s\n", s->view.no_drops);
	if (!ret && event_base_dispatch(s->base) < 0)
		ret = err_set(err, -EIO, "the event loop failed");
	for (unsigned i = 0; i < 3; i++)
		if (events[i])
			event_free(events[i]);
	return ret;
}

int serve_run(const struct serve_options *o, struct err *err)
{
	struct serve s = {.o = o};
	int ret;

	signal(SIGPIPE, SIG_IGN);
	s.base = event_base_new();
	ret = s.base ? view_open(&s.view, err)
		     : err_set(err, -ENOMEM, "cannot set up the event loop");
	if (!ret) {
		ret = serve_loop(&s, err);
		view_close(&s.view);
	}
	if (s.http)
		evhttp_free(s.http);
	if (s.base)
		event_base_free(s.base);
	free(s.text);
	return ret;
}
