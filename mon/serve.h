/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `dststorm-mon serve`: the counters for Prometheus, over HTTP. */
#ifndef MON_SERVE_H
#define MON_SERVE_H

struct err;

#define SERVE_LISTEN "127.0.0.1:9718"

struct serve_options {
	const char *listen; /* "ADDRESS:PORT", "[ADDRESS]:PORT"; port 0: any, told on stderr */
	const char *version;
};

/*
 * Answer GET /metrics until SIGINT or SIGTERM. A scrape costs at most one sample, and one sample a
 * second is taken at most: scrapes that come closer get the same text.
 */
int serve_run(const struct serve_options *o, struct err *err);

/* Split @text; -EINVAL with the remedy. @host has room for 64 bytes. Pure. */
int serve_address(const char *text, char host[64], unsigned short *port, struct err *err);

#endif
