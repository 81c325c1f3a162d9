/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is going to be sent, decided and checked, before anything is opened or started: the scenario
 * with the overrides applied, this shard's schedule, and the packet.
 */
#ifndef GEN_PLAN_H
#define GEN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/template.h"
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

struct plan {
	struct scenario scenario;
	struct sched sched;
	struct template template;
	const struct scenario_stream *stream; /* in scenario */
	bool unlimited;		/* only the duration ends it */
	uint64_t duration_ns;
	uint8_t src_mac[6], dst_mac[6];
};

/*
 * The source MAC is that of the first source; without a destination MAC, that of dut.in_address
 * (arp_mac_of(), lib/arp.h). Returns 0, or negative errno with the sentence; then *p needs no
 * plan_free().
 */
int plan_make(struct plan *p, const struct plan_request *r, struct err *err);
void plan_free(struct plan *p); /* also valid on a zeroed plan */

/* "NAME: N packets -> M destinations via @port" for people. */
void plan_text(const struct plan *p, const char *port, char *buf, size_t size);

/* "aa:bb:cc:dd:ee:ff" to bytes. A group address is refused: hosts do not forward such frames. */
int plan_parse_mac(const char *text, uint8_t mac[6], struct err *err);

#endif
