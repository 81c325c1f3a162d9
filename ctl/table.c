// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ctl/jpath.h"
#include "ctl/summary.h"
#include "ctl/table.h"

const char *table_count(json_int_t n, char *buf)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, n < 0 ? -n : n);
	char *out = buf;

	if (n < 0)
		*out++ = '-';
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

const char *table_time(json_int_t ns, char *buf)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};

	if (!ns)
		return strcpy(buf, "-");
	for (unsigned int i = 0; i < 4; i++)
		if ((double)ns >= units[i].scale || i == 3) {
			double v = (double)ns / units[i].scale;

			snprintf(buf, 32, v < 10 ? "%.2f %s" : v < 100 ? "%.1f %s" : "%.0f %s", v,
				 units[i].unit);
			break;
		}
	return buf;
}

/* One cell: a word and a number. */
static void table_cell(FILE *f, const json_t *s, const char *word, const char *path)
{
	char buf[32];

	fprintf(f, "  %-10s %11s", word, table_count(jpath_int(s, path), buf));
}

static void table_times(FILE *f, const json_t *s, const char *title, const char *name)
{
	static const char *const parts[][2] = {
		{"p50", "p50"}, {"p99", "p99"}, {"p99.9", "p999"}, {"max", "max"}};
	char path[64], buf[32];

	fprintf(f, "%-15s", title);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "sink.%s.%s", name, parts[i][1]);
		fprintf(f, "  %-10s %11s", parts[i][0], table_time(jpath_int(s, path), buf));
	}
	fputc('\n', f);
}

static void table_drops(FILE *f, const json_t *s)
{
	char path[64], name[32], buf[32];

	for (unsigned int i = 0; summary_causes[i]; i++) {
		json_int_t n;

		snprintf(path, sizeof(path), "dut.drops_pkts.%s", summary_causes[i]);
		n = jpath_int(s, path);
		if (!n)
			continue;
		snprintf(name, sizeof(name), "%s", summary_causes[i]);
		for (char *c = name; *c; c++)
			if (*c == '_')
				*c = '-';
		fprintf(f, "  dropped: %-18s %11s\n", name, table_count(n, buf));
	}
}

static void table_traffic(FILE *f, const json_t *s)
{
	fprintf(f, "%-15s", "packets");
	table_cell(f, s, "intended", "offered.intended_pkts");
	table_cell(f, s, "sent", "offered.sent_pkts");
	table_cell(f, s, "delivered", "sink.rx_pkts");
	table_cell(f, s, "lost", "sink.lost_pkts");
	fprintf(f, "\n%-15s", "destinations");
	table_cell(f, s, "asked", "offered.destinations_asked");
	table_cell(f, s, "sent", "offered.destinations_sent");
	table_cell(f, s, "seen", "sink.destinations_seen");
	fprintf(f, "\n%-15s", "rate, packets/s");
	table_cell(f, s, "asked", "offered.rate_intended_pps");
	table_cell(f, s, "achieved", "offered.rate_achieved_pps");
	table_cell(f, s, "unsent", "offered.unsent_pkts");
	fputc('\n', f);
}

/* The table of one family; one that nothing happened to is left out, unless it is @always. */
static void table_neigh(FILE *f, const json_t *s, const char *family, const char *title, int always)
{
	static const char *const cells[2][4][2] = {
		{{"before", "entries_before"}, {"most", "entries_max"}, {"after", "entries_after"},
		 {"table full", "table_fulls"}},
		{{"allocated", "allocs"}, {"destroyed", "destroys"}, {"forced GC", "forced_gc_runs"},
		 {"failed", "res_failed"}}};
	const json_t *n = json_object_get(json_object_get(s, "neigh"), family);

	if (!always && !jpath_int(n, "allocs") && !jpath_int(n, "table_fulls"))
		return;
	for (unsigned int row = 0; row < 2; row++) {
		fprintf(f, "%-15s", row ? "" : title);
		for (unsigned int i = 0; i < 4; i++)
			table_cell(f, n, cells[row][i][0], cells[row][i][1]);
		fputc('\n', f);
	}
}

/* What each stream lost, and how long its destinations waited; with one it would be said twice. */
static void table_streams(FILE *f, const json_t *s)
{
	const json_t *streams = json_object_get(s, "streams"), *one;
	char buf[32];
	size_t i;

	if (json_array_size(streams) < 2)
		return;
	json_array_foreach(streams, i, one) {
		fprintf(f, "  %-13.13s", json_string_value(json_object_get(one, "name")));
		table_cell(f, one, "sent", "offered.sent_pkts");
		table_cell(f, one, "lost", "sink.lost_pkts");
		fprintf(f, "  %-10s %11s", "1st p99",
			table_time(jpath_int(one, "sink.first_delivery_ns.p99"), buf));
		fprintf(f, "  %-10s %11s\n", "gap max",
			table_time(jpath_int(one, "sink.gap_ns.max"), buf));
	}
}

void table_print(FILE *f, const json_t *s)
{
	fputc('\n', f);
	table_traffic(f, s);
	table_streams(f, s);
	table_neigh(f, s, "ipv4", "neighbours", !jpath_int(s, "neigh.ipv6.allocs"));
	table_neigh(f, s, "ipv6", "neighbours v6", 0);
	table_times(f, s, "delay", "delay_ns");
	table_times(f, s, "first delivery", "first_delivery_ns");
	table_times(f, s, "longest gap", "gap_ns");
	fprintf(f, "%-15s", "accounting");
	table_cell(f, s, "duplicate", "sink.dup_pkts");
	table_cell(f, s, "reordered", "sink.reordered_pkts");
	table_cell(f, s, "unexplained", "accounting.unexplained_pkts");
	fputc('\n', f);
	table_drops(f, s);
	if (jpath_int(s, "sink.capture_dropped_pkts")) {
		table_cell(f, s, "capture", "sink.capture_dropped_pkts");
		fputs(" dropped by the sink's capture\n", f);
	}
	fprintf(f, "\n%s\n", json_string_value(json_object_get(s, "verdict_text")));
}
