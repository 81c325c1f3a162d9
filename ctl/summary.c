// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "ctl/jpath.h"
#include "ctl/summary.h"
#include "ctl/verdict.h"

const char *const summary_causes[] = {"neigh_full", "neigh_unresolved", "neigh_failed", "no_route",
				      "local",	    "broadcast",	"martian",	"ttl",
				      "qdisc",	    "softnet",		"port_full",	"other",
				      NULL};

/* What one role had to say. Borrowed; NULL where it said nothing. */
struct summary_src {
	const json_t *gen, *sink;
	const json_t *before, *after; /* dststorm-mon: baseline and final sample */
	const json_t *failed;	      /* the event "failed" */
	int complete;		      /* every role gave its final statistics */
};

static const json_t *summary_last(const json_t *lines, const char *event, const char *role)
{
	for (size_t i = json_array_size(lines); i-- > 0;) {
		const json_t *line = json_array_get(lines, i);
		const char *e = json_string_value(json_object_get(line, "event"));
		const char *r = json_string_value(json_object_get(line, "role"));

		if (e && !strcmp(e, event) && (!role || (r && !strcmp(r, role))))
			return line;
	}
	return NULL;
}

/* Final statistics of @role, else its last sample. */
static const json_t *summary_final(const json_t *samples, const json_t *events, const char *role,
				   int *complete)
{
	const json_t *line = summary_last(events, "final", role);

	if (line)
		return json_object_get(line, "stats");
	*complete = 0;
	return summary_last(samples, "sample", role);
}

static void summary_sources(struct summary_src *s, const json_t *samples, const json_t *events)
{
	s->complete = 1;
	s->gen = summary_final(samples, events, "gen", &s->complete);
	s->sink = summary_final(samples, events, "sink", &s->complete);
	s->after = summary_final(samples, events, "mon", &s->complete);
	s->before = json_object_get(summary_last(events, "baseline", "mon"), "stats");
	s->failed = summary_last(events, "failed", NULL);
	if (!s->before)
		s->complete = 0;
}

/* Copy integers: pairs of paths, in the source and in the summary. */
static void summary_copy(json_t *out, const json_t *from, const char *const (*map)[2])
{
	for (; (*map)[0]; map++)
		jpath_set_int(out, (*map)[1], jpath_int(from, (*map)[0]));
}

/* The same for growth between the two samples of the monitor. */
static void summary_delta(json_t *out, const struct summary_src *s, const char *const (*map)[2])
{
	for (; (*map)[0]; map++)
		jpath_set_int(out, (*map)[1],
			      jpath_int(s->after, (*map)[0]) - jpath_int(s->before, (*map)[0]));
}

static void summary_offered(json_t *out, const json_t *gen)
{
	static const char *const map[][2] = {
		{"intended_pkts", "offered.intended_pkts"},
		{"sent_pkts", "offered.sent_pkts"},
		{"unsent_pkts", "offered.unsent_pkts"},
		{"refused_pkts", "offered.refused_pkts"},
		{"rate_intended_pps", "offered.rate_intended_pps"},
		{"rate_achieved_pps", "offered.rate_achieved_pps"},
		{"destinations_asked", "offered.destinations_asked"},
		{"destinations_sent", "offered.destinations_sent"},
		{NULL, NULL}};

	summary_copy(out, gen, map);
}

static void summary_percentiles(json_t *out, const json_t *sink, const char *name)
{
	static const char *const parts[] = {"p50", "p90", "p99", "p999", "max", NULL};
	char path[64];

	for (unsigned int i = 0; parts[i]; i++) {
		snprintf(path, sizeof(path), "%s.%s", name, parts[i]);
		jpath_set_int(json_object_get(out, "sink"), path, jpath_int(sink, path));
	}
}

/* What a stream has of its own. */
static void summary_sink_flow(json_t *out, const json_t *sink)
{
	static const char *const map[][2] = {{"rx_pkts", "sink.rx_pkts"},
					     {"dup_pkts", "sink.dup_pkts"},
					     {"reordered_pkts", "sink.reordered_pkts"},
					     {"late_pkts", "sink.late_pkts"},
					     {"foreign_pkts", "sink.foreign_pkts"},
					     {"destinations_seen", "sink.destinations_seen"},
					     {NULL, NULL}};

	summary_copy(out, sink, map);
	jpath_set_int(out, "sink.lost_pkts",
		      jpath_int(out, "offered.sent_pkts") - jpath_int(sink, "rx_pkts"));
	summary_percentiles(out, sink, "delay_ns");
	summary_percentiles(out, sink, "first_delivery_ns");
	summary_percentiles(out, sink, "gap_ns");
	jpath_set_int(out, "sink.gap_ns.resolution_ns", jpath_int(sink, "gap_ns.resolution_ns"));
}

static void summary_sink(json_t *out, const json_t *sink)
{
	static const char *const map[][2] = {{"bad_csum_pkts", "sink.bad_csum_pkts"},
					     {"capture_dropped_pkts", "sink.capture_dropped_pkts"},
					     {"interface_dropped_pkts", "sink.interface_dropped_pkts"},
					     {"arp_requests", "sink.arp_requests"},
					     {"arp_replies", "sink.arp_replies"},
					     {"arp_silent", "sink.arp_silent"},
					     {"arp_refused", "sink.arp_refused"},
					     {"arp_dropped", "sink.arp_dropped"},
					     {"nd_requests", "sink.nd_requests"},
					     {"nd_replies", "sink.nd_replies"},
					     {"nd_silent", "sink.nd_silent"},
					     {"nd_refused", "sink.nd_refused"},
					     {"nd_dropped", "sink.nd_dropped"},
					     {"copies_pkts", "sink.copies_pkts"},
					     {"announcements_pkts", "sink.announcements_pkts"},
					     {NULL, NULL}};

	summary_sink_flow(out, sink);
	summary_copy(out, sink, map);
}

/* The streams, in the generator's order; what the sink says about each is found by its name. */
static void summary_streams(json_t *out, const struct summary_src *s)
{
	json_t *list = json_array();
	const json_t *gen;
	size_t i;

	json_array_foreach(json_object_get(s->gen, "streams"), i, gen) {
		const char *name = json_string_value(json_object_get(gen, "name"));
		json_t *one = json_pack("{s:s}", "name", name ? name : "");
		const json_t *sink = NULL, *other;
		size_t k;

		json_array_foreach(json_object_get(s->sink, "streams"), k, other) {
			const char *of = json_string_value(json_object_get(other, "name"));

			if (name && of && !strcmp(name, of))
				sink = other;
		}
		summary_offered(one, gen);
		summary_sink_flow(one, sink);
		json_array_append_new(list, one);
	}
	json_object_set_new(out, "streams", list);
}

/* The greatest value of @path in the samples of the monitor. */
static json_int_t summary_max(const json_t *samples, const char *path, json_int_t least)
{
	const json_t *line;
	size_t i;

	json_array_foreach(samples, i, line) {
		json_int_t v = jpath_int(line, path);

		if (v > least)
			least = v;
	}
	return least;
}

/* "…_before", "…_max", "…_after" of a level, as opposed to a counter. */
static void summary_level(json_t *out, const struct summary_src *s, const json_t *samples,
			  const char *path)
{
	json_int_t before = jpath_int(s->before, path), after = jpath_int(s->after, path);
	char name[96];

	if (strncmp(path, "neigh.", 6))
		snprintf(name, sizeof(name), "dut.%s", path);
	else
		snprintf(name, sizeof(name), "%s", path);
	char *end = name + strlen(name);
	size_t room = sizeof(name) - strlen(name);

	snprintf(end, room, "_before");
	jpath_set_int(out, name, before);
	snprintf(end, room, "_max");
	jpath_set_int(out, name, summary_max(samples, path, before > after ? before : after));
	snprintf(end, room, "_after");
	jpath_set_int(out, name, after);
}

static void summary_neigh(json_t *out, const struct summary_src *s, const json_t *samples,
			  const char *family)
{
	static const char *const counters[] = {
		"allocs",	 "destroys",   "forced_gc_runs",       "periodic_gc_runs",
		"table_fulls", "res_failed", "unresolved_discards", NULL};
	char path[64];

	snprintf(path, sizeof(path), "neigh.%s.entries", family);
	summary_level(out, s, samples, path);
	for (unsigned int i = 0; counters[i]; i++) {
		const char *map[][2] = {{path, path}, {NULL, NULL}};

		snprintf(path, sizeof(path), "neigh.%s.%s", family, counters[i]);
		summary_delta(out, s, map);
	}
}

static void summary_dut(json_t *out, const struct summary_src *s, const json_t *samples)
{
	static const char *const map[][2] = {{"ifs.in.rx_pkts", "dut.rx_pkts"},
					     {"ip.forwarded_pkts", "dut.forwarded_pkts"},
					     {"ifs.out.tx_pkts", "dut.tx_pkts"},
					     {"dst.in_slow", "dut.dst.in_slow"},
					     {"dst.out_slow", "dut.dst.out_slow"},
					     {"cpu.softirq_ns", "dut.cpu.softirq_ns"},
					     {"cpu.timer_softirqs", "dut.cpu.timer_softirqs"},
					     {"softnet.dropped_pkts", "dut.softnet_dropped_pkts"},
					     {NULL, NULL}};
	char path[64];

	summary_delta(out, s, map);
	summary_level(out, s, samples, "dst.entries");
	for (unsigned int i = 0; summary_causes[i]; i++) {
		snprintf(path, sizeof(path), "dut.drops_pkts.%s", summary_causes[i]);
		jpath_set_int(out, path, jpath_int(s->after, path + strlen("dut.")));
	}
	/* What the host itself had made, ICMP errors mostly: no packet of the flood is among them. */
	for (unsigned int i = 0; summary_causes[i]; i++) {
		snprintf(path, sizeof(path), "dut.own_drops_pkts.%s", summary_causes[i]);
		jpath_set_int(out, path, jpath_int(s->after, path + strlen("dut.")));
	}
	jpath_set_int(out, "dut.hist_overflow", jpath_int(s->after, "hist_overflow"));
}

static json_t *summary_fill(const json_t *manifest, const json_t *samples, struct summary_src *s)
{
	json_t *out = json_object();
	json_t *name = json_object_get(manifest, "scenario");
	json_t *kernel = jpath(manifest, "dut.kernel");

	json_object_set_new(out, "v", json_integer(1));
	json_object_set(out, "scenario", name ? name : json_null());
	/* Filled in by verdict_set(); here for the order of the file. */
	json_object_set_new(out, "valid", json_false());
	json_object_set_new(out, "verdict", json_string("unfinished"));
	json_object_set_new(out, "verdict_text", json_string("the run has not ended"));
	summary_offered(out, s->gen);
	jpath_set(out, "dut.kernel", kernel ? json_incref(kernel) : json_string(""));
	summary_dut(out, s, samples);
	summary_sink(out, s->sink);
	summary_neigh(out, s, samples, "ipv4");
	summary_neigh(out, s, samples, "ipv6");
	summary_streams(out, s);
	jpath_set_int(out, "accounting.unexplained_pkts", 0);
	return out;
}

json_t *summary_empty(const char *scenario, const json_t *streams)
{
	json_t *manifest = json_pack("{s:s}", "scenario", scenario);
	json_t *gen = json_pack("{s:O}", "streams", streams);
	struct summary_src none = {.gen = gen};
	json_t *out = summary_fill(manifest, NULL, &none);

	json_decref(manifest);
	json_decref(gen);
	return out;
}

/* Why the host under test cannot tell its drops by cause; NULL if it can. */
static const char *summary_blind(const json_t *manifest, char *buf, size_t size)
{
	const json_t *c = jpath(manifest, "dut.hello.capabilities");
	const char *why = json_string_value(json_object_get(c, "drops_why"));

	if (!c || (json_is_true(json_object_get(c, "drops")) &&
		   json_is_true(json_object_get(c, "drop_origin"))))
		return NULL;
	snprintf(buf, size, "this kernel cannot tell the flood's drops by cause%s%s", why ? ": " : "",
		 why ? why : "");
	return buf;
}

json_t *summary_build(const json_t *manifest, const json_t *samples, const json_t *events)
{
	struct summary_src s = {0};
	const char *why = NULL;
	char blind[256];
	json_t *out;

	summary_sources(&s, samples, events);
	out = summary_fill(manifest, samples, &s);
	if (s.failed) {
		why = json_string_value(json_object_get(s.failed, "text"));
		why = why ? why : "the run failed";
	}
	if (!why && !s.complete)
		why = "the run was cut short: not every program gave its final statistics";
	/* What it dropped then stands nowhere; where it lost nothing there is nothing to tell. */
	if (!why && jpath_int(out, "sink.lost_pkts") > jpath_int(out, "sink.capture_dropped_pkts"))
		why = summary_blind(manifest, blind, sizeof(blind));
	verdict_set(out, why, json_is_true(json_object_get(s.failed, "dut_died")),
		    json_object_get(s.after, "drops"));
	return out;
}
