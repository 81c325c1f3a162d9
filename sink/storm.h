/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Announcements that nobody asked for: gratuitous ARP or unsolicited advertisements of the
 * addresses of a set in turn, again and again, at a rate. Pure: it says what is due at a time; who
 * sends it says when.
 *
 * Number k is due k / rate after the start, and there are rate * duration of them. One that could
 * not be sent in time is sent when it can, but none after the end. The DUT's own addresses are
 * passed over.
 */
#ifndef SINK_STORM_H
#define SINK_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addrset.h"
#include "lib/ether.h"
#include "sink/answers.h"
#include "sink/respond.h"

struct err;

#define STORM_SECONDS_MAX 1e9

struct storm_conf {
	const struct addrset *set; /* sealed, must outlive the storm */
	const struct respond_host *dut; /* never announced */
	uint32_t nr_dut;
	uint64_t rate_pps; /* at least 1 */
	double start_s, duration_s; /* after t0; at most STORM_SECONDS_MAX */
	const uint16_t *vlans; /* outer one first; copied */
	uint32_t nr_vlans; /* at most ETHER_TAGS_MAX */
	bool mac_changes; /* each announcement of an address has another MAC than the last */
};

struct storm {
	const struct addrset *set;
	uint64_t *holes; /* indices that are the DUT's, ascending */
	uint32_t nr_holes;
	uint64_t n; /* addresses without them */
	uint64_t rate_pps;
	uint64_t start_ns, end_ns; /* after t0, and absolute after storm_start() */
	uint64_t total; /* announcements in all */
	uint64_t next; /* the first that was not taken */
	uint16_t vlans[ETHER_TAGS_MAX];
	uint32_t nr_vlans;
	bool mac_changes, started;
};

/* Returns 0; -EINVAL for a value out of range, or if all addresses are the DUT's; -ENOMEM. */
int storm_init(struct storm *s, const struct storm_conf *conf, struct err *err);
void storm_free(struct storm *s);

void storm_start(struct storm *s, uint64_t t0_ns);

/* Take the next one that is due at @now_ns (kind, len, frame, due_ns). Returns 0; -1 if none is. */
int storm_take(struct storm *s, uint64_t now_ns, struct answer *out);

/* When the next is due; UINT64_MAX if there is none, or not started. */
uint64_t storm_next_ns(const struct storm *s);

#endif
