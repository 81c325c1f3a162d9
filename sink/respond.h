/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom to answer, how and when. Pure: a request in, a decision out. Neighbours are stateless, but
 * for a count of requests by address where a rule needs one (answer_probe above 1, mac_changes).
 *
 * Refused, whatever the scenario says: a sender without an address (it probes for duplicates, and
 * an answer would take the address from it), an announcement (sender equal to target), the DUT's
 * own addresses, and everything that is in none of the sets.
 */
#ifndef SINK_RESPOND_H
#define SINK_RESPOND_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addrset.h"
#include "sink/tally.h"

struct err;

#define RESPOND_COUNTED_MAX (1u << 22) /* addresses whose requests are counted: 200 MB of them */
#define RESPOND_COPIES_MAX  1000u

enum respond_verdict {
	RESPOND_ANSWER,
	RESPOND_SILENT, /* plays dead, as the scenario wants */
	RESPOND_REFUSE, /* must not be answered */
	RESPOND_NO_ROOM, /* RESPOND_COUNTED_MAX others were counted, or there is no memory */
};

struct respond_rule {
	const struct addrset *prefix; /* sealed, must outlive the respond; NULL: all */
	double answer_ratio; /* 0 to 1: share of addresses that ever answer */
	double delay_ms; /* from request to answer */
	uint32_t answer_probe; /* 1 to 65535: answer from the k-th request for an address on */
	uint32_t copies; /* answers to each request: 1 to RESPOND_COPIES_MAX */
	bool mac_changes; /* each answer for an address has another MAC than the last */
};

struct respond_host {
	int family;
	struct addr addr;
};

struct respond_conf {
	const struct addrset *const *sets; /* whose addresses there are; sealed, must outlive it */
	uint32_t nr_sets;
	const struct respond_host *dut; /* the DUT's own addresses; copied */
	uint32_t nr_dut;
	uint64_t seed;
	const struct respond_rule *rules; /* the first that holds the target decides; copied */
	uint32_t nr_rules; /* what no rule holds is refused */
};

struct respond {
	const struct addrset **sets;
	uint32_t nr_sets;
	struct respond_host *dut;
	uint32_t nr_dut;
	uint64_t seed;
	struct respond_rule *rules;
	uint32_t nr_rules;
	struct tally counted; /* requests by address, of the rules that need it */
};

/* How to answer. */
struct respond_how {
	uint64_t delay_ns;
	uint32_t copies;
	uint64_t mac; /* for respond_mac(); copy c has this number plus c if mac_changes */
	bool mac_changes;
};

/* Returns 0, -EINVAL for a value out of range, -ENOMEM. */
int respond_init(struct respond *r, const struct respond_conf *conf, struct err *err);
void respond_free(struct respond *r);

/* @sender asks who has @target. Counts the request. @how is filled for RESPOND_ANSWER. */
enum respond_verdict respond_decide(struct respond *r, int family, struct addr sender,
				    struct addr target, struct respond_how *how);

/* MAC number @nr (modulo 64) of an address; number 0 is arp_mac_of()'s or nd_mac_of()'s. All are
 * locally administered and unicast, and those with different numbers differ. */
void respond_mac(int family, struct addr a, uint64_t nr, uint8_t mac[6]);

#endif
