// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <event2/buffer.h>

#include "ctl/ctl.h"
#include "ctl/role.h"

void role_init(struct role *r, const char *name, struct loop *loop,
	       void (*on_event)(void *, struct role *, const char *, json_t *), void *arg)
{
	memset(r, 0, sizeof(*r));
	r->name = name;
	r->loop = loop;
	r->on_event = on_event;
	r->arg = arg;
	r->netns = -1;
}

void role_free(struct role *r)
{
	if (r->bev)
		bufferevent_free(r->bev);
	wire_reader_free(&r->reader);
	json_decref(r->reply);
	r->bev = NULL;
	r->reply = NULL;
}

/* In the child: nothing of the parent's stays, and it dies with it. */
static void role_exec(const struct role *r, char *const argv[], int death_signal, pid_t parent,
		      int wire)
{
	int log = open(r->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* Ctrl-C, and a terminal that goes, are dststorm's to handle */
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, death_signal);
	if (getppid() != parent)
		_exit(EXIT_RIG);
	dup2(wire < 0 ? null : wire, 0);
	dup2(wire < 0 ? log < 0 ? null : log : wire, 1);
	dup2(log < 0 ? null : log, 2);
	if (r->netns >= 0 && setns(r->netns, CLONE_NEWNET) < 0) {
		dprintf(2, "%s: no way into its network namespace: %s\n", argv[0], strerror(errno));
		_exit(EXIT_RIG);
	}
	execvp(argv[0], argv);
	dprintf(2, "%s: cannot be run: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int role_fork(struct role *r, char *const argv[], int death_signal, int wire, struct err *err)
{
	pid_t parent = getpid();

	r->status = 0;
	r->ending = false;
	r->pid = fork();
	if (r->pid < 0) {
		int code = -errno;

		r->pid = 0;
		return err_set(err, code, "cannot start %s: %s", argv[0], strerror(-code));
	}
	if (!r->pid)
		role_exec(r, argv, death_signal, parent, wire);
	return 0;
}

int role_spawn(struct role *r, char *const argv[], int death_signal, struct err *err)
{
	return role_fork(r, argv, death_signal, -1, err);
}

static void role_take(struct role *r, json_t *msg)
{
	const char *event = json_string_value(json_object_get(msg, "event"));

	r->heard_ns = ctl_now_ns();
	if (event) {
		r->on_event(r->arg, r, event, msg);
		json_decref(msg);
	} else if (json_integer_value(json_object_get(msg, "id")) == r->last_id && r->last_id) {
		json_decref(r->reply);
		r->reply = msg;
	} else {
		json_decref(msg); /* a ping's answer */
	}
}

static void role_readable(struct bufferevent *bev, void *arg)
{
	struct role *r = arg;
	struct err err;
	json_t *msg;
	size_t room;
	int ret;

	for (;;) {
		char *space = wire_reader_space(&r->reader, &room);
		size_t n = room ? bufferevent_read(bev, space, room) : 0;

		wire_reader_added(&r->reader, n);
		while ((ret = wire_next(&r->reader, &msg, &err)) > 0)
			role_take(r, msg);
		if (ret < 0)
			loop_fail(r->loop, "dststorm-%s spoke out of protocol: %s", r->name,
				  err.text);
		if (!n)
			return;
	}
}

static void role_hung_up(struct bufferevent *bev, short what, void *arg)
{
	struct role *r = arg;

	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	role_readable(bev, r); /* what came before the end */
	bufferevent_free(r->bev);
	r->bev = NULL;
	/* A process that dies is reported by its exit, which says more; give that a moment. */
}

static int role_try_connect(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
		int code = -errno;

		close(fd);
		return code;
	}
	return fd;
}

/* From here on messages go through @fd, which is taken over. */
static int role_attach(struct role *r, int fd, struct err *err)
{
	r->bev = bufferevent_socket_new(r->loop->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!r->bev)
		close(fd);
	if (!r->bev || wire_reader_init(&r->reader) < 0)
		return err_set(err, -ENOMEM, "no connection to dststorm-%s: out of memory", r->name);
	bufferevent_setcb(r->bev, role_readable, NULL, role_hung_up, r);
	bufferevent_enable(r->bev, EV_READ | EV_WRITE);
	r->heard_ns = ctl_now_ns();
	return 0;
}

int role_spawn_piped(struct role *r, char *const argv[], int death_signal, struct err *err)
{
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "no socket for %s: %s", argv[0], strerror(errno));
	ret = role_fork(r, argv, death_signal, fds[1], err);
	close(fds[1]);
	if (!ret)
		return role_attach(r, fds[0], err);
	close(fds[0]);
	return ret;
}

int role_connect(struct role *r, const char *path, uint64_t timeout_ms, struct err *err)
{
	uint64_t end = ctl_now_ns() + timeout_ms * NS_PER_MS;
	int fd;

	while ((fd = role_try_connect(path)) < 0) {
		if (loop_sleep(r->loop, 10) < 0)
			return err_set(err, -ECANCELED, "%s", r->loop->err.text);
		if (ctl_now_ns() > end)
			return err_set(err, fd, "dststorm-%s does not answer on %s: %s; see %s",
				       r->name, path, strerror(-fd), r->log);
	}
	return role_attach(r, fd, err);
}

static void role_send(struct role *r, json_t *msg)
{
	size_t len;
	char *line = wire_line(msg, &len);

	if (!line)
		loop_fail(r->loop, "a request to dststorm-%s has more than %u bytes: shorten the scenario, "
			  "by prefixes or ranges instead of single addresses", r->name, WIRE_LINE_MAX);
	else if (r->bev)
		bufferevent_write(r->bev, line, len);
	free(line);
	json_decref(msg);
}

void role_cast(struct role *r, const char *method)
{
	role_send(r, wire_request(0, method, json_object()));
}

static bool role_replied(void *arg)
{
	struct role *r = arg;

	return r->reply || !r->bev;
}

/* Result or sentence out of the reply that is there. */
static json_t *role_unwrap(struct role *r, int *code, struct err *err)
{
	json_t *reply = r->reply, *error, *result;

	r->reply = NULL;
	r->last_id = -r->last_id; /* later answers to it are strays */
	error = json_object_get(reply, "error");
	result = json_incref(json_object_get(reply, "result"));
	if (!result) {
		const char *text = json_string_value(json_object_get(error, "text"));

		*code = json_integer_value(json_object_get(error, "code")) == EXIT_USAGE ? EXIT_USAGE :
											   EXIT_RIG;
		err_set(err, -EIO, "%s", text ? text : "an answer without result or reason");
	}
	json_decref(reply);
	return result;
}

void role_ask(struct role *r, const char *method, json_t *params)
{
	r->last_id = (r->last_id < 0 ? -r->last_id : r->last_id) + 1;
	r->asked = method;
	json_decref(r->reply);
	r->reply = NULL;
	role_send(r, wire_request(r->last_id, method, params));
}

json_t *role_answer(struct role *r, uint64_t timeout_ms, int *code, struct err *err)
{
	int ret = loop_wait(r->loop, role_replied, r, timeout_ms);

	*code = EXIT_RIG;
	if (!ret && r->reply)
		return role_unwrap(r, code, err);
	if (!ret)
		loop_sleep(r->loop, 300); /* the connection broke: let the death be told */
	if (r->loop->failed)
		err_set(err, -ECANCELED, "%s", r->loop->err.text);
	else
		err_set(err, -ETIMEDOUT, "dststorm-%s did not answer `%s' within %.1f s", r->name,
			r->asked, (double)timeout_ms / 1000);
	return NULL;
}

json_t *role_call(struct role *r, const char *method, json_t *params, uint64_t timeout_ms,
		  int *code, struct err *err)
{
	role_ask(r, method, params);
	return role_answer(r, timeout_ms, code, err);
}

bool role_exited(struct role *r, pid_t pid, int status)
{
	char words[256];

	if (!r->pid || pid != r->pid)
		return false;
	r->pid = 0;
	r->status = status;
	if (r->ending)
		return true;
	role_last_words(r, words, sizeof(words));
	if (WIFSIGNALED(status))
		loop_fail(r->loop, "%s was killed by signal %d (%s)%s%s", r->name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)), *words ? ": " : "", words);
	else
		loop_fail(r->loop, "%s ended with status %d%s%s", r->name, WEXITSTATUS(status),
			  *words ? ": " : "", words);
	return true;
}

/* The loop may have failed already, so this waits by the clock and not by loop_wait. */
void role_await_exit(struct role *r, uint64_t ms)
{
	uint64_t end = ctl_now_ns() + ms * NS_PER_MS;

	while (r->pid && ctl_now_ns() < end) {
		struct timeval tv = {0, 10000};

		event_base_loopexit(r->loop->base, &tv);
		event_base_dispatch(r->loop->base);
	}
}

void role_end(struct role *r, uint64_t grace_ms)
{
	static const int escalation[] = {0, SIGTERM, SIGKILL};

	r->ending = true;
	for (unsigned int i = 0; i < 3 && r->pid; i++) {
		if (escalation[i])
			kill(r->pid, escalation[i]);
		else if (r->bev)
			role_cast(r, "quit");
		else
			continue;
		role_await_exit(r, grace_ms);
	}
}

void role_last_words(const struct role *r, char *buf, size_t size)
{
	char line[512];
	FILE *f = fopen(r->log, "re");

	buf[0] = '\0';
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			snprintf(buf, size, "%s", line);
	}
	fclose(f);
}
