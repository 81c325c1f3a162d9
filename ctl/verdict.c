// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/jpath.h"
#include "ctl/summary.h"
#include "ctl/verdict.h"

struct verdict_cause {
	const char *path;  /* of the lost packets in the summary */
	const char *name;  /* the verdict */
	const char *text;  /* what it means; %s-free */
};

static const struct verdict_cause verdict_causes[] = {
	{"offered.unsent_pkts", "generator-limited",
	 "were never sent: the generator, or the port it sent to, could not take the asked rate"},
	{"dut.drops_pkts.neigh_full", "neigh-full",
	 "found no room in the neighbour table: raise gc_thresh3, or send to fewer destinations"},
	{"dut.drops_pkts.neigh_unresolved", "neigh-unresolved",
	 "did not fit into the queue of a neighbour that was still being resolved"},
	{"dut.drops_pkts.neigh_failed", "neigh-failed",
	 "were for neighbours that did not answer ARP"},
	{"dut.drops_pkts.no_route", "no-route", "had no route"},
	{"dut.drops_pkts.local", "local", "were for the host itself and nobody listened"},
	{"dut.drops_pkts.broadcast", "broadcast", "went to a broadcast or multicast address"},
	{"dut.drops_pkts.martian", "martian", "had a source or destination that may not be routed"},
	{"dut.drops_pkts.ttl", "ttl", "ran out of hops"},
	{"dut.drops_pkts.qdisc", "qdisc", "were dropped by the queueing discipline"},
	{"dut.drops_pkts.softnet", "softnet", "overran the backlog of a CPU"},
	{"dut.drops_pkts.port_full", "port-full", "were dropped by a network driver"},
	{"dut.drops_pkts.other", "other", "were dropped elsewhere in the kernel"},
};

#define VERDICT_NR (sizeof(verdict_causes) / sizeof(*verdict_causes))

static json_int_t verdict_unexplained(const json_t *s)
{
	json_int_t explained = jpath_int(s, "sink.rx_pkts");

	for (unsigned int i = 1; i < VERDICT_NR; i++)
		explained += jpath_int(s, verdict_causes[i].path);
	return jpath_int(s, "offered.sent_pkts") - explained;
}

static const struct verdict_cause *verdict_largest(const json_t *s, json_int_t *most)
{
	const struct verdict_cause *found = NULL;

	*most = 0;
	for (unsigned int i = 0; i < VERDICT_NR; i++) {
		json_int_t n = jpath_int(s, verdict_causes[i].path);

		if (n > *most) {
			*most = n;
			found = &verdict_causes[i];
		}
	}
	return found;
}

/* Neighbour entries must have come and gone as the kernel counted. */
static int verdict_neigh_closes(const json_t *s, const char *family)
{
	char path[48];
	const json_t *n;

	snprintf(path, sizeof(path), "neigh.%s", family);
	n = jpath(s, path);
	return jpath_int(n, "allocs") - jpath_int(n, "destroys") ==
	       jpath_int(n, "entries_after") - jpath_int(n, "entries_before");
}

/* The first reason why the numbers cannot be trusted, or NULL. */
static const char *verdict_doubt(const json_t *s, json_int_t unexplained, char *buf, size_t size)
{
	if (unexplained)
		snprintf(buf, size,
			 "the accounting does not close: %lld packets are %s than sent",
			 unexplained < 0 ? -unexplained : unexplained,
			 unexplained < 0 ? "delivered or named more" : "delivered or named less");
	else if (jpath_int(s, "dut.hist_overflow"))
		snprintf(buf, size, "the kernel's histogram of drops overflowed");
	else if (jpath_int(s, "offered.intended_pkts") !=
		 jpath_int(s, "offered.sent_pkts") + jpath_int(s, "offered.unsent_pkts"))
		snprintf(buf, size, "intended packets are not sent and unsent packets together");
	else if (jpath_int(s, "sink.foreign_pkts") || jpath_int(s, "sink.bad_csum_pkts"))
		snprintf(buf, size, "packets arrived that nobody sent so: corrupted on the way");
	else if (!verdict_neigh_closes(s, "ipv4"))
		snprintf(buf, size,
			 "neighbour allocations less destructions are not the change of entries");
	else
		return NULL;
	return buf;
}

static void verdict_put(json_t *s, int valid, const char *verdict, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void verdict_put(json_t *s, int valid, const char *verdict, const char *fmt, ...)
{
	char text[640];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_object_set_new(s, "valid", json_boolean(valid));
	json_object_set_new(s, "verdict", json_string(verdict));
	json_object_set_new(s, "verdict_text", json_string(text));
}

static void verdict_clean(json_t *s)
{
	verdict_put(s, 1, "clean",
		    "clean: all %lld packets to %lld destinations were delivered.",
		    jpath_int(s, "offered.sent_pkts"), jpath_int(s, "sink.destinations_seen"));
}

static void verdict_lossy(json_t *s, const struct verdict_cause *c, json_int_t most,
			  const char *doubt, const char *other_symbol)
{
	json_int_t intended = jpath_int(s, "offered.intended_pkts");
	double share = intended ? 100.0 * (double)most / (double)intended : 0;
	char name[96];

	if (!strcmp(c->name, "other") && other_symbol)
		snprintf(name, sizeof(name), "other(%s)", other_symbol);
	else
		snprintf(name, sizeof(name), "%s", c->name);
	if (doubt)
		verdict_put(s, 0, name, "%s: %lld of %lld packets (%.1f %%) %s; but not valid: %s.",
			    name, most, intended, share, c->text, doubt);
	else
		verdict_put(s, 1, name, "%s: %lld of %lld packets (%.1f %%) %s.", name, most,
			    intended, share, c->text);
}

void verdict_set(json_t *s, const char *why_invalid, int dut_died, const char *other_symbol)
{
	json_int_t most, unexplained = verdict_unexplained(s);
	const struct verdict_cause *c = verdict_largest(s, &most);
	char buf[256];
	const char *doubt = why_invalid ? why_invalid :
					  verdict_doubt(s, unexplained, buf, sizeof(buf));

	jpath_set_int(s, "accounting.unexplained_pkts", unexplained);
	if (dut_died)
		verdict_put(s, 0, "dut-died", "dut-died: %s.", why_invalid);
	else if (why_invalid)
		verdict_put(s, 0, "invalid", "invalid: %s.", why_invalid);
	else if (c)
		verdict_lossy(s, c, most, doubt, other_symbol);
	else if (doubt)
		verdict_put(s, 0, "invalid", "invalid: %s.", doubt);
	else
		verdict_clean(s);
}
