// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <net/ethernet.h>

#include "ctl/jpath.h"
#include "ctl/summary.h"
#include "ctl/verdict.h"

struct verdict_cause {
	const char *path;  /* of the lost packets in the summary */
	const char *name;  /* the verdict */
	const char *text;  /* what it means; {F}: "IPv4 ", {f}: "ipv4", {A}: "ARP", or the other family's */
};

static const struct verdict_cause verdict_causes[] = {
	{"offered.unsent_pkts", "generator-limited",
	 "were never sent: the generator, or the port it sent to, could not take the asked rate"},
	{"dut.drops_pkts.neigh_full", "neigh-full",
	 "found no room in the {F}neighbour table: raise net.{f}.neigh.default.gc_thresh3, or send to fewer destinations"},
	{"dut.drops_pkts.neigh_unresolved", "neigh-unresolved",
	 "did not fit into the queues of {F}neighbours that were still being resolved"},
	{"dut.drops_pkts.neigh_failed", "neigh-failed",
	 "were for neighbours that did not answer {A}"},
	{"dut.drops_pkts.no_route", "no-route", "had no {F}route"},
	{"dut.drops_pkts.local", "local", "were for the host itself and nobody listened"},
	{"dut.drops_pkts.broadcast", "broadcast", "went to a broadcast or multicast address"},
	{"dut.drops_pkts.martian", "martian", "had a source or destination that may not be routed"},
	{"dut.drops_pkts.ttl", "ttl", "ran out of hops"},
	{"dut.drops_pkts.qdisc", "qdisc", "were dropped by the queueing discipline"},
	{"dut.drops_pkts.softnet", "softnet", "overran the backlog of a CPU"},
	{"dut.drops_pkts.port_full", "port-full", "were dropped by a network driver"},
	{"dut.drops_pkts.other", "other", "were dropped elsewhere in the kernel"},
	{"sink.capture_dropped_pkts", "sink-limited",
	 "came to the sink faster than its capture took them: this says nothing about the host under test"},
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

/* Every packet belongs to one stream. */
static int verdict_streams_close(const json_t *s)
{
	static const char *const paths[] = {"offered.intended_pkts", "offered.sent_pkts",
					    "offered.unsent_pkts", "sink.rx_pkts"};
	const json_t *streams = json_object_get(s, "streams"), *one;
	size_t i;

	for (unsigned int k = 0; k < 4 && json_array_size(streams); k++) {
		json_int_t sum = 0;

		json_array_foreach(streams, i, one)
			sum += jpath_int(one, paths[k]);
		if (sum != jpath_int(s, paths[k]))
			return 0;
	}
	return 1;
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
	else if (!verdict_neigh_closes(s, "ipv4") || !verdict_neigh_closes(s, "ipv6"))
		snprintf(buf, size,
			 "neighbour allocations less destructions are not the change of entries");
	else if (!verdict_streams_close(s))
		snprintf(buf, size, "the streams together are not the whole");
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

/* Which families @cause hit: bit 0 IPv4, bit 1 IPv6. @symbol: of the row with most packets, or NULL. */
static unsigned int verdict_rows(const json_t *drops, const char *cause, const char **symbol)
{
	unsigned int families = 0;
	json_int_t most = 0;
	const json_t *row;
	size_t i;

	*symbol = NULL;
	json_array_foreach(drops, i, row) {
		const char *of = json_string_value(json_object_get(row, "cause"));
		json_int_t pkts = jpath_int(row, "pkts");

		if (!of || strcmp(of, cause) != 0)
			continue;
		families |= jpath_int(row, "protocol") == ETHERTYPE_IPV6 ? 2 : 1;
		if (pkts > most) {
			most = pkts;
			*symbol = json_string_value(json_object_get(row, "location"));
		}
	}
	return families;
}

/* Fill the family in. What hit both, or is not known, is called after none. */
static void verdict_fill(char *buf, size_t size, const char *text, unsigned int families)
{
	static const char *const words[][4] = {
		{"", "IPv4 ", "IPv6 ", ""},
		{"ipv*", "ipv4", "ipv6", "ipv*"},
		{"ARP", "ARP", "neighbour discovery", "ARP or neighbour discovery"},
	};
	static const char keys[] = "FfA";
	size_t n = 0;

	while (*text && n + 1 < size) {
		const char *key = *text == '{' ? strchr(keys, text[1]) : NULL;

		if (!key) {
			buf[n++] = *text++;
			continue;
		}
		n += (size_t)snprintf(buf + n, size - n, "%s", words[key - keys][families & 3]);
		n = n < size ? n : size - 1;
		text += 3;
	}
	buf[n] = '\0';
}

static void verdict_lossy(json_t *s, const struct verdict_cause *c, json_int_t most,
			  const char *doubt, const json_t *drops)
{
	json_int_t intended = jpath_int(s, "offered.intended_pkts");
	double share = intended ? 100.0 * (double)most / (double)intended : 0;
	char name[96], text[256];
	const char *symbol;
	unsigned int families = verdict_rows(drops, strrchr(c->path, '.') + 1, &symbol);

	if (!strcmp(c->name, "other") && symbol)
		snprintf(name, sizeof(name), "other(%s)", symbol);
	else
		snprintf(name, sizeof(name), "%s", c->name);
	verdict_fill(text, sizeof(text), c->text, families);
	if (doubt)
		verdict_put(s, 0, name, "%s: %lld of %lld packets (%.1f %%) %s; but not valid: %s.",
			    name, most, intended, share, text, doubt);
	else
		verdict_put(s, 1, name, "%s: %lld of %lld packets (%.1f %%) %s.", name, most,
			    intended, share, text);
}

void verdict_set(json_t *s, const char *why_invalid, int dut_died, const json_t *drops)
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
		verdict_lossy(s, c, most, doubt, drops);
	else if (doubt)
		verdict_put(s, 0, "invalid", "invalid: %s.", doubt);
	else
		verdict_clean(s);
}
