// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "ctl/ctl.h"
#include "ctl/loop.h"

static void loop_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)what;
	loop_fail(arg, "interrupted by signal %d; what was measured until then is kept", (int)sig);
}

static void loop_child(evutil_socket_t sig, short what, void *arg)
{
	struct loop *l = arg;
	int status, pid;

	(void)sig, (void)what;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		l->on_exit(l->on_exit_arg, pid, status);
}

int loop_init(struct loop *l, void (*on_exit)(void *, int, int), void *arg, struct err *err)
{
	struct sigaction hup;

	memset(l, 0, sizeof(*l));
	l->on_exit = on_exit;
	l->on_exit_arg = arg;
	l->base = event_base_new();
	if (!l->base)
		return err_set(err, -ENOMEM, "no event loop: out of memory");
	l->sigint = evsignal_new(l->base, SIGINT, loop_signal, l);
	l->sigterm = evsignal_new(l->base, SIGTERM, loop_signal, l);
	l->sighup = evsignal_new(l->base, SIGHUP, loop_signal, l);
	l->sigchld = evsignal_new(l->base, SIGCHLD, loop_child, l);
	if (!l->sigint || !l->sigterm || !l->sighup || !l->sigchld)
		return err_set(err, -ENOMEM, "no signal events: out of memory");
	event_add(l->sigint, NULL);
	event_add(l->sigterm, NULL);
	/* Ignored: nohup has it so. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		event_add(l->sighup, NULL);
	event_add(l->sigchld, NULL);
	return 0;
}

void loop_free(struct loop *l)
{
	struct event *events[] = {l->sigint, l->sigterm, l->sighup, l->sigchld};

	for (unsigned int i = 0; i < 4; i++)
		if (events[i])
			event_free(events[i]);
	if (l->base)
		event_base_free(l->base);
	l->base = NULL;
}

void loop_fail(struct loop *l, const char *fmt, ...)
{
	va_list ap;

	if (l->failed)
		return;
	l->failed = true;
	va_start(ap, fmt);
	vsnprintf(l->err.text, sizeof(l->err.text), fmt, ap);
	va_end(ap);
}

static void loop_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	*(bool *)arg = true;
}

int loop_wait(struct loop *l, bool (*done)(void *arg), void *arg, uint64_t timeout_ms)
{
	struct timeval tv = {(time_t)(timeout_ms / 1000), (suseconds_t)(timeout_ms % 1000) * 1000};
	bool late = false;
	struct event *timer = evtimer_new(l->base, loop_timeout, &late);
	int ret = 0;

	if (!timer)
		return -ENOMEM;
	evtimer_add(timer, &tv);
	while (!(done && done(arg))) {
		ret = l->failed ? -ECANCELED : late ? -ETIMEDOUT : 0;
		if (ret)
			break;
		event_base_loop(l->base, EVLOOP_ONCE);
	}
	event_free(timer);
	return ret;
}

int loop_sleep(struct loop *l, uint64_t ms)
{
	int ret = loop_wait(l, NULL, NULL, ms);

	return ret == -ETIMEDOUT ? 0 : ret;
}
