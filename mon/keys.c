// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/keys.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

static void keys_off(struct keys *k)
{
	if (!k->on)
		return;
	k->on = k->known = false;
	event_del(k->readable);
	tcsetattr(STDIN_FILENO, TCSANOW, &k->found);
}

static void keys_read(evutil_socket_t fd, short what, void *arg)
{
	struct keys *k = arg;
	char pressed[64];
	ssize_t n = read(fd, pressed, sizeof(pressed));

	(void)what;
	if (n <= 0) /* the terminal has gone: SIGHUP tells */
		keys_off(k);
	else if (memchr(pressed, 'q', (size_t)n))
		event_base_loopbreak(event_get_base(k->readable));
}

/* A terminal that is not the one that controls us has no background. */
static bool keys_in_foreground(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group < 0 || group == getpgrp();
}

void keys_on(struct keys *k)
{
	struct termios raw;

	if (!k->readable || k->on || !keys_in_foreground() ||
	    (!k->known && tcgetattr(STDIN_FILENO, &k->found)))
		return;
	k->known = true;
	raw = k->found;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	k->on = !event_add(k->readable, NULL);
	if (k->on)
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

void keys_continue(struct keys *k)
{
	if (k->on)
		event_del(k->readable);
	k->on = false;
	keys_on(k);
}

void keys_stop(struct keys *k)
{
	struct sigaction caught, stop = {.sa_handler = SIG_DFL};

	keys_off(k);
	sigaction(SIGTSTP, &stop, &caught);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &caught, NULL);
	keys_on(k);
}

void keys_open(struct keys *k, struct event_base *base)
{
	*k = (struct keys){};
	if (isatty(STDIN_FILENO))
		k->readable = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, keys_read, k);
	keys_on(k);
}

void keys_close(struct keys *k)
{
	keys_off(k);
	if (k->readable)
		event_free(k->readable);
	k->readable = NULL;
}
