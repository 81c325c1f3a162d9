/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the kernel says about a dropped packet (its reason and the function that freed it) to
 * the cause that users read. Pure. Knows Debian's 6.1 and 6.12.
 */
#ifndef MON_CAUSE_H
#define MON_CAUSE_H

#include <stdbool.h>

enum cause {
	CAUSE_NEIGH_FULL, /* no room for another neighbour */
	CAUSE_NEIGH_UNRESOLVED, /* the neighbour's queue was full while it was being asked for */
	CAUSE_NEIGH_FAILED, /* the neighbour never answered; its queue went with it */
	CAUSE_NO_ROUTE,
	CAUSE_LOCAL, /* to the host itself, and nobody listened */
	CAUSE_BROADCAST, /* to a broadcast address, and nobody listened */
	CAUSE_MARTIAN, /* an address that must not come in here */
	CAUSE_TTL,
	CAUSE_QDISC, /* the output queue dropped it */
	CAUSE_SOFTNET, /* the input backlog was full */
	CAUSE_PORT_FULL,
	CAUSE_OTHER, /* the kernel named it, but no row here knows the name */
	NR_CAUSES
};

/* @reason: the name from the event's format (NULL if it has none); @location: the symbol, "" if
 * unknown. */
enum cause cause_of(const char *reason, const char *location);

/* @symbol is @name, or a part of it that the compiler split off. */
bool cause_is_symbol(const char *symbol, const char *name);

/* As in the results: "neigh_full". */
const char *cause_name(enum cause c);

/* NR_CAUSES if there is no such name. */
enum cause cause_parse(const char *name);

#endif
