// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/port.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"

#define PORT_QUEUE_EVENTS (256u << 10) /* beyond this, events are given up */
#define PORT_QUEUE_MAX	  (8u << 20)
#define PORT_RETRY_MS	  50

/* A virtio port without a host reads as at its end, always: look again later instead of spinning.
 */
static void port_pause(struct port *p)
{
	struct timeval tv = {.tv_usec = PORT_RETRY_MS * 1000};

	event_del(p->readable);
	event_add(p->retry, &tv);
}

static void port_on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct port *p = arg;

	(void)fd;
	(void)what;
	event_add(p->readable, NULL);
	if (p->queued)
		event_add(p->writable, NULL);
}

static void port_messages(struct port *p)
{
	struct err err;
	json_t *msg;
	int ret;

	while ((ret = wire_next(&p->reader, &msg, &err))) {
		if (ret < 0) {
			p->on_bad_message(p->ctx, err.text);
			continue;
		}
		p->on_message(p->ctx, msg);
		json_decref(msg);
	}
}

static void port_on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct port *p = arg;
	size_t room;
	char *space = wire_reader_space(&p->reader, &room);
	ssize_t n = read(fd, space, room);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		wire_reader_added(&p->reader, (size_t)n);
		port_messages(p);
	} else if (p->is_device) {
		port_pause(p);
	} else {
		event_del(p->readable);
		p->on_end(p->ctx);
	}
}

/* Returns 0 once the queue is empty. */
static int port_write(struct port *p)
{
	while (p->queued) {
		ssize_t n = write(p->out, p->queue, p->queued);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EAGAIN;
		p->queued -= (size_t)n;
		memmove(p->queue, p->queue + n, p->queued);
	}
	return 0;
}

static void port_on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct port *p = arg;

	(void)fd;
	(void)what;
	if (!port_write(p)) {
		event_del(p->writable);
	} else if (p->is_device) {
		struct timeval tv = {.tv_usec = PORT_RETRY_MS * 1000};

		/* Without a host the device is "writable" for ever; with a full queue this is as
		 * good. */
		event_del(p->writable);
		event_add(p->retry, &tv);
	}
}

static int port_open_fds(struct port *p, const char *path, struct err *err)
{
	p->is_device = path;
	if (path) {
		p->in = p->out = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		return p->in < 0 ? err_set(err, -errno, "cannot open %s: %s", path, strerror(errno))
				 : 0;
	}
	p->in = STDIN_FILENO;
	p->out = STDOUT_FILENO;
	return 0;
}

int port_open(struct port *p, struct event_base *base, const char *path, struct err *err)
{
	int ret = port_open_fds(p, path, err);

	if (ret)
		return ret;
	p->in_flags = fcntl(p->in, F_GETFL);
	p->out_flags = fcntl(p->out, F_GETFL);
	evutil_make_socket_nonblocking(p->in);
	evutil_make_socket_nonblocking(p->out);
	p->readable = event_new(base, p->in, EV_READ | EV_PERSIST, port_on_readable, p);
	p->writable = event_new(base, p->out, EV_WRITE | EV_PERSIST, port_on_writable, p);
	p->retry = evtimer_new(base, port_on_retry, p);
	if (wire_reader_init(&p->reader) || !p->readable || !p->writable || !p->retry)
		return err_set(err, -ENOMEM, "no memory for the line to the controller");
	if (event_add(p->readable, NULL))
		return err_set(err, -EIO, "cannot wait for input on %s: give a %s",
			       path ? path : "standard input",
			       path ? "virtio-serial port" : "pipe, a socket or a terminal");
	return 0;
}

void port_close(struct port *p)
{
	struct event *events[] = {p->readable, p->writable, p->retry};

	for (unsigned i = 0; i < 3; i++)
		if (events[i])
			event_free(events[i]);
	wire_reader_free(&p->reader);
	free(p->queue);
	if (p->is_device && p->in >= 0) {
		close(p->in);
	} else if (p->readable) {
		fcntl(p->out, F_SETFL, p->out_flags);
		fcntl(p->in, F_SETFL, p->in_flags);
	}
}

static int port_queue(struct port *p, const char *line, size_t len)
{
	if (p->queued + len > PORT_QUEUE_MAX)
		return -ENOBUFS;
	if (p->queued + len > p->room) {
		size_t room = 2 * (p->queued + len);
		char *queue = realloc(p->queue, room);

		if (!queue)
			return -ENOMEM;
		p->queue = queue;
		p->room = room;
	}
	memcpy(p->queue + p->queued, line, len);
	p->queued += len;
	return 0;
}

int port_send(struct port *p, json_t *msg, bool droppable)
{
	size_t len;
	char *line;
	int ret;

	if (droppable && p->queued > PORT_QUEUE_EVENTS) {
		p->lost_events++;
		json_decref(msg);
		return 0;
	}
	line = msg ? wire_line(msg, &len) : NULL;
	json_decref(msg);
	if (!line)
		return -EMSGSIZE;
	ret = port_queue(p, line, len);
	free(line);
	if (!ret && port_write(p))
		event_add(p->writable, NULL);
	return ret;
}

void port_flush(struct port *p, int timeout_ms)
{
	struct pollfd fd = {.fd = p->out, .events = POLLOUT};

	for (int i = 0; i < timeout_ms / 10 && port_write(p); i++) {
		struct timespec ts = {.tv_nsec = 10000000};

		if (poll(&fd, 1, 10) != 0)
			nanosleep(&ts, NULL);
	}
}
