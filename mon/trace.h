/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops by cause, from the kernel itself: a histogram trigger on the event skb:kfree_skb, in a
 * trace instance of our own, so that nobody's tracing is touched.
 *
 * An event probe on top of kfree_skb adds the interface by which the packet came in (skb_iif, its
 * place taken from the kernel's type information). It is 0 for packets that the host made itself,
 * an ICMP error for example, which would otherwise be counted as dropped probes.  * Where the
 * kernel cannot do that, the plain event is used and trace->origin is false.
 *
 * Kernels free an answer of neighbour discovery that they have read just like one that they refuse
 * (icmpv6_rcv on 6.1, part of them on 6.12). These are no lost probes: a histogram of their own
 * takes what lies in memory where such a message would, and its rows of that function are not
 * counted.
 */
#ifndef MON_TRACE_H
#define MON_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "mon/cause.h"
#include "mon/evformat.h"
#include "mon/file.h"
#include "mon/khist.h"

struct err;

#define TRACE_NAME_MAX 24
#define TRACE_IFS_MAX  8

struct trace {
	char name[TRACE_NAME_MAX]; /* of the instance and of the group of our event */
	const char *root; /* where tracefs is mounted */
	bool usable; /* the event is there and its reasons have names */
	bool origin; /* received and own packets are told apart */
	bool armed;
	bool mounted; /* by us */
	/* The events are the kernel's, those of other network namespaces included: with interfaces
	 * given only what came in by one of them counts. */
	int ifindex[TRACE_IFS_MAX];
	unsigned nr_ifs;
	struct evformat_names reasons;
	struct file_buf buf;
	struct khist hist; /* as of the last trace_read() */
};

/*
 * Find or mount tracefs, remove what a crashed run left, learn the names of the reasons, make the
 * probe. A kernel or user that cannot trace leaves @t unusable and returns -errno with the
 * sentence. The agent, of which a host has one, is not @shared and takes over all that its
 * predecessor left; a @shared user has an instance that is named after its process, as many others
 * may, and removes those of processes that are gone.
 */
int trace_open(struct trace *t, bool shared, struct err *err);

int trace_arm(struct trace *t, struct err *err); /* from zero */
int trace_read(struct trace *t, struct err *err);
int trace_disarm(struct trace *t, struct err *err); /* the last read stays in t->hist */
void trace_close(struct trace *t); /* leaves the kernel as it was found */

/* One place where packets were freed. */
struct trace_drop {
	int protocol; /* EtherType */
	int iif; /* received by this interface; 0: made by this host; -1: not known */
	const char *reason; /* name, or "?" */
	const char *location;
	uint64_t pkts;
	enum cause cause;
	bool own; /* made by this host, also if it came back over the loopback interface */
	bool counted; /* a received IP packet: one of those that the accounting is about */
};
void trace_drop(const struct trace *t, unsigned i, struct trace_drop *d);

#endif
