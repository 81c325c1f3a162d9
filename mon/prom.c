// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/prom.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mon/sample.h"
#include "mon/view.h"

enum prom_type { PROM_COUNTER, PROM_GAUGE };

struct prom_metric {
	const char *name, *help;
	enum prom_type type;
	unsigned part; /* of the sample that it is from */
	size_t offset; /* in what the table is about */
	bool narrow; /* a uint32_t, not a uint64_t */
	double unit; /* what one of it is worth in the unit of the name; 0: one */
};

static const char *const prom_families[] = {"ipv4", "ipv6"};

#define PROM_N(member)	  offsetof(struct sample_neigh, member)
#define PROM_S(member)	  offsetof(struct sample, member)
#define PROM_THRESHOLD(n) PROM_GAUGE, SAMPLE_NEIGH, PROM_N(tbl.gc_thresh##n), true, 0

/* One series for each family. */
static const struct prom_metric prom_neigh[] = {
	{"neighbour_entries", "Entries of the neighbour table, all network namespaces together.",
	 PROM_GAUGE, SAMPLE_NEIGH, PROM_N(tbl.entries), true, 0},
	{"neighbour_gc_thresh1_entries", "Entries below which nothing is collected (gc_thresh1).",
	 PROM_THRESHOLD(1)},
	{"neighbour_gc_thresh2_entries",
	 "Entries from which a forced collection runs every 5 s (gc_thresh2).", PROM_THRESHOLD(2)},
	{"neighbour_gc_thresh3_entries", "Entries that the table may hold (gc_thresh3).",
	 PROM_THRESHOLD(3)},
	{"neighbour_entry_size_bytes", "Size of an entry, without what a device adds.", PROM_GAUGE,
	 SAMPLE_NEIGH, PROM_N(tbl.entry_size), true, 0},
	{"neighbour_reachable_time_seconds", "Time for which a confirmed neighbour is reachable.",
	 PROM_GAUGE, SAMPLE_NEIGH, PROM_N(tbl.reachable_time_ms), false, 1e-3},
	{"neighbour_allocs_total", "Entries allocated.", PROM_COUNTER, SAMPLE_NEIGH,
	 PROM_N(tbl.allocs), false, 0},
	{"neighbour_destroys_total", "Entries freed.", PROM_COUNTER, SAMPLE_NEIGH,
	 PROM_N(tbl.destroys), false, 0},
	{"neighbour_hash_grows_total", "Doublings of the hash table.", PROM_COUNTER, SAMPLE_NEIGH,
	 PROM_N(tbl.hash_grows), false, 0},
	{"neighbour_lookups_total", "Lookups but for those of forwarded packets.", PROM_COUNTER,
	 SAMPLE_NEIGH, PROM_N(tbl.lookups), false, 0},
	{"neighbour_lookup_hits_total", "Such lookups that found an entry.", PROM_COUNTER,
	 SAMPLE_NEIGH, PROM_N(tbl.hits), false, 0},
	{"neighbour_resolutions_failed_total", "Neighbours that did not answer.", PROM_COUNTER,
	 SAMPLE_NEIGH, PROM_N(tbl.res_failed), false, 0},
	{"neighbour_forced_gc_runs_total", "Runs of the forced garbage collection.", PROM_COUNTER,
	 SAMPLE_NEIGH, PROM_N(tbl.forced_gc_runs), false, 0},
	{"neighbour_periodic_gc_runs_total", "Runs of the periodic garbage collection.",
	 PROM_COUNTER, SAMPLE_NEIGH, PROM_N(tbl.periodic_gc_runs), false, 0},
	{"neighbour_table_fulls_total", "Entries refused because the table was full.", PROM_COUNTER,
	 SAMPLE_NEIGH, PROM_N(tbl.table_fulls), false, 0},
	{"neighbour_unresolved_discards_total",
	 "Packets thrown away because too many waited for one neighbour.", PROM_COUNTER,
	 SAMPLE_NEIGH_FILES, PROM_N(unresolved_discards), false, 0},
};

static const struct prom_metric prom_host[] = {
	{"softnet_processed_packets_total", "Packets that the input softirq took.", PROM_COUNTER,
	 SAMPLE_CPU, PROM_S(softnet.processed_pkts), false, 0},
	{"softnet_dropped_packets_total", "Packets that found a CPU's backlog full.", PROM_COUNTER,
	 SAMPLE_CPU, PROM_S(softnet.dropped_pkts), false, 0},
	{"softnet_time_squeezes_total", "Runs of the input softirq that ended before their work.",
	 PROM_COUNTER, SAMPLE_CPU, PROM_S(softnet.time_squeeze), false, 0},
	{"softirq_seconds_total", "Time of all CPUs in softirqs.", PROM_COUNTER, SAMPLE_CPU,
	 PROM_S(softirq_ns), false, 1e-9},
	{"timer_softirqs_total", "Runs of the timer softirq.", PROM_COUNTER, SAMPLE_CPU,
	 PROM_S(timer_softirqs), false, 0},
	{"receive_softirqs_total", "Runs of the softirq that receives packets.", PROM_COUNTER,
	 SAMPLE_CPU, PROM_S(net_rx_softirqs), false, 0},
	{"slab_bytes", "Memory of the kernel's slab allocator.", PROM_GAUGE, SAMPLE_MEMORY,
	 PROM_S(slab_bytes), false, 0},
	{"slab_unreclaimable_bytes", "The part of it that cannot be reclaimed.", PROM_GAUGE,
	 SAMPLE_MEMORY, PROM_S(slab_unreclaimable_bytes), false, 0},
	{"ipv6_fib_entries", "Routes of IPv6 in this network namespace.", PROM_GAUGE, SAMPLE_IP6,
	 PROM_S(dst6.fib_entries), false, 0},
	{"ipv6_route_exceptions", "Routes learned from redirects and too big packets.", PROM_GAUGE,
	 SAMPLE_IP6, PROM_S(dst6.exceptions), false, 0},
};

#define PROM_NR(a) (sizeof(a) / sizeof(*(a)))

static void prom_head(FILE *to, const char *name, const char *help, enum prom_type type)
{
	fprintf(to, "# HELP dststorm_%s %s\n# TYPE dststorm_%s %s\n", name, help, name,
		type == PROM_COUNTER ? "counter" : "gauge");
}

static void prom_value(FILE *to, const struct prom_metric *m, const void *from)
{
	const char *at = (const char *)from + m->offset;
	uint64_t wide = 0;
	uint32_t narrow;

	if (m->narrow) {
		memcpy(&narrow, at, sizeof(narrow));
		wide = narrow;
	} else {
		memcpy(&wide, at, sizeof(wide));
	}
	if (m->unit > 0)
		fprintf(to, " %.9g\n", (double)wide * m->unit);
	else
		fprintf(to, " %llu\n", (unsigned long long)wide);
}

/* Both families' numbers; a family that could not be read is left out. */
static void prom_pair(FILE *to, const struct prom_metric *m, const bool have[2], uint64_t v4,
		      uint64_t v6)
{
	if (!have[0] && !have[1])
		return;
	prom_head(to, m->name, m->help, m->type);
	for (unsigned i = 0; i < 2; i++)
		if (have[i])
			fprintf(to, "dststorm_%s{family=\"%s\"} %llu\n", m->name, prom_families[i],
				(unsigned long long)(i ? v6 : v4));
}

static void prom_ip(FILE *to, const struct sample *s)
{
	static const struct prom_metric metrics[] = {
		{"ip_received_packets_total", "IP packets received.", PROM_COUNTER, 0, 0, false, 0},
		{"ip_forwarded_packets_total", "IP packets forwarded.", PROM_COUNTER, 0, 0, false,
		 0},
		{"ip_no_route_packets_total", "Received IP packets for which there was no route.",
		 PROM_COUNTER, 0, 0, false, 0},
		{"ip_header_error_packets_total",
		 "Received IP packets with a bad header or no hops left.", PROM_COUNTER, 0, 0,
		 false, 0},
		{"dst_entries", "Route destinations that the kernel holds.", PROM_GAUGE, 0, 0,
		 false, 0},
	};
	const bool ip[] = {s->have & SAMPLE_IP4, s->have & SAMPLE_IP6};
	const bool dst[] = {s->have & SAMPLE_DST, s->have & SAMPLE_IP6};

	prom_pair(to, &metrics[0], ip, s->ip.in_pkts, s->ip6.in_pkts);
	prom_pair(to, &metrics[1], ip, s->ip.forwarded_pkts, s->ip6.forwarded_pkts);
	prom_pair(to, &metrics[2], ip, s->ip.in_no_routes, s->ip6.in_no_routes);
	prom_pair(to, &metrics[3], ip, s->ip.in_hdr_errors, s->ip6.in_hdr_errors);
	prom_pair(to, &metrics[4], dst, s->dst.entries, s->dst6.entries);
}

/* Cache misses of IPv4's route lookup; since this program's start, as the kernel's own wrap. */
static void prom_slow(FILE *to, const struct sample *s)
{
	static const char name[] = "ipv4_slow_route_lookups_total";

	if (!(s->have & SAMPLE_DST))
		return;
	prom_head(to, name, "IPv4 route lookups that allocated a destination.", PROM_COUNTER);
	fprintf(to, "dststorm_%s{direction=\"in\"} %llu\n", name,
		(unsigned long long)s->dst.in_slow);
	fprintf(to, "dststorm_%s{direction=\"out\"} %llu\n", name,
		(unsigned long long)s->dst.out_slow);
}

static void prom_drops(FILE *to, const struct sample *s, const struct view_drops *d)
{
	static const char name[] = "dropped_packets_total";

	prom_head(to, "drops_available",
		  "Whether drops are told by cause (needs root and tracefs).", PROM_GAUGE);
	fprintf(to, "dststorm_drops_available %d\n", s->has_drops);
	if (!s->has_drops)
		return;
	prom_head(to, name, "IP packets dropped since this program's start.", PROM_COUNTER);
	for (unsigned c = 0; c < NR_CAUSES; c++) {
		for (unsigned k = 0; k < 4; k++) {
			bool own = k / 2;

			fprintf(to, "dststorm_%s{family=\"%s\",origin=\"%s\",cause=\"%s\"} %llu\n",
				name, prom_families[k % 2], own ? "own" : "received", cause_name(c),
				(unsigned long long)(own ? d->own[k % 2][c]
							 : d->received[k % 2][c]));
		}
	}
	prom_head(to, "drops_uncounted_packets_total",
		  "Dropped packets for whose cause there was no room.", PROM_COUNTER);
	fprintf(to, "dststorm_drops_uncounted_packets_total %llu\n",
		(unsigned long long)d->overflow);
}

void prom_write(FILE *to, const struct sample *s, const struct view_drops *drops,
		const char *version)
{
	prom_head(to, "build_info", "The version of dststorm-mon.", PROM_GAUGE);
	fprintf(to, "dststorm_build_info{version=\"%s\"} 1\n", version);
	for (unsigned i = 0; i < PROM_NR(prom_neigh); i++) {
		const struct prom_metric *m = &prom_neigh[i];

		if (!(s->have & m->part))
			continue;
		prom_head(to, m->name, m->help, m->type);
		for (unsigned k = 0; k < 2; k++) {
			fprintf(to, "dststorm_%s{family=\"%s\"}", m->name, prom_families[k]);
			prom_value(to, m, &s->neigh[k]);
		}
	}
	prom_ip(to, s);
	prom_slow(to, s);
	for (unsigned i = 0; i < PROM_NR(prom_host); i++) {
		const struct prom_metric *m = &prom_host[i];

		if (!(s->have & m->part))
			continue;
		prom_head(to, m->name, m->help, m->type);
		fprintf(to, "dststorm_%s", m->name);
		prom_value(to, m, s);
	}
	prom_drops(to, s, drops);
	prom_head(to, "sample_duration_seconds", "How long it took to read these numbers.",
		  PROM_GAUGE);
	fprintf(to, "dststorm_sample_duration_seconds %.9g\n", (double)s->cost_ns / 1e9);
}
