/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a kernel event histogram (tracefs file `hist`) with the keys
 * {protocol|iif|iif6|nd6, reason, location.sym}: the name of the first one tells which histogram a
 * row is of. Pure; trusts no byte of the text.
 */
#ifndef MON_KHIST_H
#define MON_KHIST_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define KHIST_SYMBOL_MAX 64
#define KHIST_ROWS_MAX	 16384u

enum khist_key {
	KHIST_PROTOCOL, /* `first` is the EtherType */
	KHIST_IIF, /* IPv4; `first` is the index of the interface the packet came in by */
	KHIST_IIF6, /* IPv6, the same */
	KHIST_ND6, /* IPv6 of what looks like neighbour discovery, the same */
};

/* How many packets one place freed for one reason. */
struct khist_row {
	enum khist_key key;
	int32_t first;
	uint32_t reason;
	char symbol[KHIST_SYMBOL_MAX]; /* of the function that freed, without its module; "" if
					  unknown */
	uint64_t pkts;
};

struct khist {
	struct khist_row *rows;
	unsigned nr, room;
	uint64_t hits; /* events counted, as the kernel totals them */
	uint64_t overflow; /* events that found no room: the rows are incomplete then */
	unsigned blocks; /* histograms in the text */
};

/*
 * Replace what is in @h (zeroed at first) by the rows of all histograms in @text; rows of equal
 * keys are added up, because one function may free at several addresses. -EBADMSG with the line
 * that is not understood, -E2BIG for more than KHIST_ROWS_MAX rows, -ENOMEM.
 */
int khist_parse(struct khist *h, const char *text, size_t len, struct err *err);

void khist_free(struct khist *h);

#endif
