/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is going to be sent, decided and checked, before anything is opened or started: the scenario
 * with the overrides applied, and for each stream this shard's schedule and its packets.
 */
#ifndef GEN_PLAN_H
#define GEN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/templates.h"
#include "lib/scenario.h"

struct err;

/* What the user, or the controller, asked for. */
struct plan_request {
	const char *path;	/* of the scenario; or its name, if @text is given */
	const char *text;	/* the scenario itself, or NULL */
	const char *const *overrides;
	unsigned int nr_overrides;
	const char *const *allow; /* prefixes beside the lab ranges */
	unsigned int nr_allow;
	uint32_t shard, nr_shards;
	bool dst_mac_given;
	uint8_t dst_mac[6];
};

struct plan_stream {
	const struct scenario_stream *stream; /* in the plan's scenario */
	struct sched sched;
	struct templates templates;
	uint64_t start_ns;	/* after t0 */
	uint64_t asked;		/* destinations: what the schedule reaches; of random orders, may reach */
};

struct plan {
	struct scenario scenario;
	struct plan_stream *streams;
	uint32_t nr_streams;
	bool unlimited;		/* only the duration ends it: one stream, without rate and count */
	uint64_t duration_ns;
	uint64_t total;		/* packets of all streams, unless unlimited */
	uint64_t asked;		/* destinations of all streams; common ones count for each */
	uint32_t len_max;	/* the greatest frame, without FCS */
	bool tagged;		/* every frame has a VLAN tag, for which an interface's MTU leaves room */
};

/*
 * The source MAC is that of the stream's first source; without a destination MAC, that of the first
 * dut.in_address (arp_mac_of() or nd_mac_of()). Returns 0, or negative errno with the sentence; then
 * *p needs no plan_free().
 */
int plan_make(struct plan *p, const struct plan_request *r, struct err *err);
void plan_free(struct plan *p); /* also valid on a zeroed plan */

/* False at "max", where nothing is due at any time; then there is one stream. */
static inline bool plan_has_rate(const struct plan *p)
{
	return p->streams[0].sched.rate.pps;
}

/* The mean over the stream; 0 at "max". */
uint64_t plan_mean_pps(const struct plan_stream *s);

/* "NAME: N packets -> M destinations via @port" for people; more if a replay left out packets. */
void plan_text(const struct plan *p, const char *port, char *buf, size_t size);

/* "aa:bb:cc:dd:ee:ff" to bytes. A group address is refused: hosts do not forward such frames. */
int plan_parse_mac(const char *text, uint8_t mac[6], struct err *err);

#endif
