/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sink as configured: scenario, account, and where the results go. */
#ifndef SINK_SINK_H
#define SINK_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/addrset.h"
#include "lib/scenario.h"
#include "sink/account.h"
#include "sink/neighbours.h"

struct dump;
struct err;

struct sink_conf {
	const char *path; /* of the scenario, or what errors call it; NULL: no schedule */
	const char *text; /* its text, or NULL: read @path */
	const char *const *sets, *const *allow, *const *dut; /* overrides, prefixes, addresses */
	unsigned int nr_sets, nr_allow, nr_dut;
	uint32_t nr_shards; /* generators that share the work */
	bool answers_arp;
	const char *write; /* capture file to make of all frames; NULL: none */
};

/* Frames that came and that the sink did not get to see, as far as the source knows. */
struct sink_drops {
	uint64_t capture_dropped_pkts; /* the kernel's ring for captures was full */
	uint64_t interface_dropped_pkts; /* the interface did not hand them to the kernel */
};

struct sink {
	bool configured;
	bool has_scenario;
	struct scenario scenario;
	struct account account;
	struct neighbours neighbours; /* of the account */
	struct sink_drops drops; /* the source keeps it */
	struct dump *dump; /* or NULL */
};

/* Returns 0; -EINVAL and others of the scenario; -ENOMEM. On failure nothing is held. */
int sink_configure(struct sink *s, const struct sink_conf *conf, struct err *err);
void sink_free(struct sink *s);

/* Where the results go; each may be NULL. */
struct sink_files {
	const char *json, *destinations, *hist_dir;
	const char *write; /* made while frames come, and closed by sink_write() */
};

/* Everything is in: judge the rest. Idempotent. */
void sink_finish(struct sink *s);

/* Write what @files asks for. Tries all; returns 0 or the first failure. After sink_finish(). */
int sink_write(struct sink *s, const struct sink_files *files, json_t *stats, struct err *err);

uint64_t sink_now_ns(void); /* CLOCK_MONOTONIC */

#endif
