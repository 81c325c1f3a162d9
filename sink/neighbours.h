/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a scenario to the neighbours that the sink plays: who answers, who shouts. */
#ifndef SINK_NEIGHBOURS_H
#define SINK_NEIGHBOURS_H

#include <stdint.h>

#include "lib/addrset.h"

struct account;
struct err;
struct scenario;

struct neighbours {
	struct addrset gateways[2]; /* of the routes: IPv4, IPv6; used if not empty */
};

/*
 * Let @a respond for the destinations of all streams and the gateways of the routes, by the rules
 * of
 * @s, and prepare its storms. @dut: the @nr_dut texts "ADDRESS[/LEN]" are the DUT's own addresses
 * beside those of the scenario. @n and @s must outlive @a. Returns 0, -EINVAL, -ENOMEM.
 */
int neighbours_init(struct neighbours *n, struct account *a, const struct scenario *s,
		    const char *const *dut, unsigned int nr_dut, struct err *err);
void neighbours_free(struct neighbours *n); /* also of zeroes */

#endif
