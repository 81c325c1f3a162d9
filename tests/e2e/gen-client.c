// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A controller for tests of the control socket, played from a script on stdin:
 *
 *	gen-client SOCKET
 *
 *	{...}		send the request and print its answer; @NOW+MS@ becomes CLOCK_MONOTONIC plus MS
 *	raw TEXT	send TEXT and a newline, and print the next line that comes
 *	event NAME	print the next event NAME, which may have come already
 *	sleep MS	do nothing for so long
 *	ping MS		for so long send a ping each 500 ms
 *
 * Everything must come within 10 s. Exit 0; 1 if something did not come; 3 if the peer hung up.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>

enum { WAIT_MS = 10000 };

static int sock;
static char in[1 << 20];
static size_t in_len;
static json_t *events;

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void send_line(const char *text)
{
	if (dprintf(sock, "%s\n", text) < 0)
		exit(3);
}

/* The next line that comes, malloc'ed. */
static char *receive_line(void)
{
	long long until = now_ns() + WAIT_MS * 1000000ll;
	char *end, *line;
	ssize_t n;

	while (!(end = memchr(in, '\n', in_len))) {
		struct pollfd p = { .fd = sock, .events = POLLIN };
		long long left = (until - now_ns()) / 1000000;

		if (left <= 0 || poll(&p, 1, (int)left) != 1)
			exit(1);
		n = read(sock, in + in_len, sizeof(in) - in_len);
		if (n <= 0)
			exit(3);
		in_len += (size_t)n;
	}
	line = strndup(in, (size_t)(end - in));
	in_len -= (size_t)(end + 1 - in);
	memmove(in, end + 1, in_len);
	return line;
}

static json_t *receive(void)
{
	char *line = receive_line();
	json_t *msg = json_loads(line, 0, NULL);

	if (!msg || json_integer_value(json_object_get(msg, "v")) != 1) {
		fprintf(stderr, "no message: %s\n", line);
		exit(1);
	}
	free(line);
	return msg;
}

static void print(json_t *msg)
{
	json_dumpf(msg, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	fflush(stdout);
	json_decref(msg);
}

static void request(const char *text, int show)
{
	json_t *sent = json_loads(text, 0, NULL), *id = json_object_get(sent, "id"), *msg;

	send_line(text);
	while (!json_equal(json_object_get(msg = receive(), "id"), id))
		json_array_append_new(events, msg);
	json_decref(sent);
	if (show)
		print(msg);
	else
		json_decref(msg);
}

static void wait_event(const char *name)
{
	for (size_t i = 0;; i++) {
		json_t *msg;

		if (i == json_array_size(events))
			json_array_append_new(events, receive());
		msg = json_array_get(events, i);
		if (strcmp(name, json_string_value(json_object_get(msg, "event")) ?: ""))
			continue;
		json_incref(msg);
		json_array_remove(events, i);
		print(msg);
		return;
	}
}

static void pings(long ms)
{
	long long until = now_ns() + ms * 1000000ll;

	while (now_ns() < until) {
		request("{\"v\":1,\"id\":999999,\"method\":\"ping\",\"params\":{}}", 0);
		nap_ms(500);
	}
}

static void play(char *line)
{
	char *at = strstr(line, "@NOW+"), *end = at ? strchr(at + 1, '@') : NULL;
	char text[65536];

	if (!strncmp(line, "raw ", 4)) {
		send_line(line + 4);
		puts(receive_line());
	} else if (!strncmp(line, "event ", 6)) {
		wait_event(line + 6);
	} else if (!strncmp(line, "sleep ", 6)) {
		nap_ms(atol(line + 6));
	} else if (!strncmp(line, "ping ", 5)) {
		pings(atol(line + 5));
	} else if (end) {
		snprintf(text, sizeof(text), "%.*s%lld%s", (int)(at - line), line,
			 now_ns() + atol(at + 5) * 1000000ll, end + 1);
		request(text, 1);
	} else {
		request(line, 1);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	static char line[65536];

	if (argc != 2 || strlen(argv[1]) >= sizeof(sun.sun_path))
		return 2;
	strcpy(sun.sun_path, argv[1]);
	signal(SIGPIPE, SIG_IGN);
	events = json_array();
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (int tries = 0; connect(sock, (struct sockaddr *)&sun, sizeof(sun)); tries++) {
		if (tries == 100)
			return 1;
		nap_ms(50);
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			play(line);
	}
	json_decref(events);
	return 0;
}
