/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom to answer, and when. Pure: a request in, a decision out. Neighbours are stateless, but for
 * two bytes a destination that count requests when only the k-th is to be answered.
 *
 * Refused, whatever the scenario says: a sender without an address (it probes for duplicates, and
 * an answer would take the address from it), an announcement (sender equal to target), the DUT's
 * own addresses, and everything that is no destination of the scenario.
 */
#ifndef SINK_RESPOND_H
#define SINK_RESPOND_H

#include <stdint.h>

#include "lib/addrset.h"

struct err;

enum respond_verdict {
	RESPOND_ANSWER,
	RESPOND_SILENT, /* plays dead, as the scenario wants */
	RESPOND_REFUSE, /* must not be answered */
};

struct respond_conf {
	const struct addrset *const *sets; /* destinations; sealed, must outlive the respond */
	uint32_t nr_sets;
	const uint32_t *dut; /* addresses of the DUT, host byte order; copied */
	uint32_t nr_dut;
	uint64_t seed;
	double answer_ratio; /* 0 to 1: share of addresses that ever answer */
	double delay_ms; /* from request to answer */
	uint32_t answer_probe; /* 1 to 65535: answer from the k-th request for an address on */
};

struct respond {
	const struct addrset **sets;
	uint32_t nr_sets;
	uint32_t *dut;
	uint32_t nr_dut;
	uint64_t seed;
	uint64_t threshold; /* addresses whose hash is below it answer */
	int everybody; /* ... or all do */
	uint64_t delay_ns;
	uint16_t answer_probe;
	uint16_t *requests; /* by index, set after set; saturating; NULL if answer_probe is 1 */
};

/* Returns 0, -EINVAL for a value out of range, -ENOMEM. */
int respond_init(struct respond *r, const struct respond_conf *conf, struct err *err);
void respond_free(struct respond *r);

/* @sender asks who has @target. Counts the request. */
enum respond_verdict respond_decide(struct respond *r, uint32_t sender, uint32_t target);

#endif
