/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the three files of the scenario share. No other file includes this. */
#ifndef LIB_SCENARIO_PARTS_H
#define LIB_SCENARIO_PARTS_H

#include "lib/probe.h"
#include "lib/scenario.h"

#define SCENARIO_RATE_MAX  UINT64_C(1000000000)
#define SCENARIO_COUNT_MAX (PROBE_SEQ_MAX + 1)
#define SCENARIO_BURST_MAX 1024u

/* What may be named beside the lab ranges; each sealed, or without a range. */
struct scenario_allow {
	struct addrset ipv4, ipv6;
};

/* Fill @s, which holds the defaults, from s->conf: types and ranges, no unknown key. Sets are read,
 * not sealed. Numbers that are mandatory and absent stay 0, texts NULL. */
int scenario_bind(struct scenario *s, struct err *err);

/*
 * Add (@add: addrset_add or addrset_exclude) the text or texts of member @key of @map. Absent is
 * fine. Returns 0, or negative errno with the line of the text.
 */
int scenario_addr_read(const struct conf *map, const char *key, struct addrset *set,
		       int (*add)(struct addrset *, const char *, struct err *), struct err *err);

/*
 * Seal the set that member @key of @map named, and refuse what is empty, what must never be sent
 * to, and what is neither in the lab ranges nor in @allow.
 */
int scenario_addr_check(const struct conf *map, const char *key, struct addrset *set,
			const struct scenario_allow *allow, struct err *err);

/* -EINVAL if @a, of dut.@dut_key, is in @set, which member @key of @map named. */
int scenario_addr_not_dut(const struct conf *map, const char *key, const struct addrset *set,
			  struct addr a, const char *dut_key, struct err *err);

/* "A.B.C.D/LEN" of a host, under the same rules. @at: where errors point. */
int scenario_addr_host(const struct conf *at, const char *key, const char *text,
		       const struct scenario_allow *allow, struct addr *a, uint8_t *len, struct err *err);

#endif
