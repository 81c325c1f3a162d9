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

static void table_host(FILE *f, const json_t *s)
{
	fprintf(f, "%-15s", "neighbours");
	table_cell(f, s, "before", "neigh.ipv4.entries_before");
	table_cell(f, s, "most", "neigh.ipv4.entries_max");
	table_cell(f, s, "after", "neigh.ipv4.entries_after");
	table_cell(f, s, "table full", "neigh.ipv4.table_fulls");
	fprintf(f, "\n%-15s", "");
	table_cell(f, s, "allocated", "neigh.ipv4.allocs");
	table_cell(f, s, "destroyed", "neigh.ipv4.destroys");
	table_cell(f, s, "forced GC", "neigh.ipv4.forced_gc_runs");
	table_cell(f, s, "failed", "neigh.ipv4.res_failed");
	fputc('\n', f);
}

void table_print(FILE *f, const json_t *s)
{
	fputc('\n', f);
	table_traffic(f, s);
	table_host(f, s);
	table_times(f, s, "delay", "delay_ns");
	table_times(f, s, "first delivery", "first_delivery_ns");
	table_times(f, s, "longest gap", "gap_ns");
	fprintf(f, "%-15s", "accounting");
	table_cell(f, s, "duplicate", "sink.dup_pkts");
	table_cell(f, s, "reordered", "sink.reordered_pkts");
	table_cell(f, s, "unexplained", "accounting.unexplained_pkts");
	fputc('\n', f);
	table_drops(f, s);
	fprintf(f, "\n%s\n", json_string_value(json_object_get(s, "verdict_text")));
}
