// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends UDP datagrams from an unconnected socket to the addresses of 198.19.0.0/16 in turn, so that each
 * asks for a route: "rtcache-send packets N", or "rtcache-send seconds N". Prints how many were sent.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	unsigned long i = 0, sent = 0, n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int sock = socket(AF_INET, SOCK_DGRAM, 0);
	int seconds = argc == 3 && !strcmp(argv[1], "seconds");
	time_t end = now() + (time_t)n;

	if (!n || sock < 0)
		return 2;
	while (seconds ? now() < end : i < n) {
		to.sin_addr.s_addr = htonl(0xc6130000 | (i++ & 0xffff));
		sent += sendto(sock, "", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1;
	}
	printf("%lu\n", sent);
	return 0;
}
