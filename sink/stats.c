// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <unistd.h>

#include "lib/err.h"
#include "sink/hlog.h"
#include "sink/sink.h"

static json_t *stats_int(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *stats_hist(const struct hist *h)
{
	json_t *o = json_object();

	json_object_set_new(o, "p50", stats_int(hist_value_at(h, 500000)));
	json_object_set_new(o, "p90", stats_int(hist_value_at(h, 900000)));
	json_object_set_new(o, "p99", stats_int(hist_value_at(h, 990000)));
	json_object_set_new(o, "p999", stats_int(hist_value_at(h, 999000)));
	json_object_set_new(o, "max", stats_int(h->max));
	return o;
}

static void stats_counts(json_t *o, const struct sink *s)
{
	const struct account *a = &s->account;
	const struct {
		const char *name;
		uint64_t value;
	} field[] = {
		{"frames_pkts", a->counts.frames_pkts},
		{"rx_pkts", a->track.counts.rx_pkts},
		{"dup_pkts", a->track.counts.dup_pkts},
		{"reordered_pkts", a->track.counts.reordered_pkts},
		{"late_pkts", a->track.counts.late_pkts},
		{"early_pkts", a->track.counts.early_pkts},
		{"foreign_pkts", a->track.counts.foreign_pkts},
		{"bad_csum_pkts", a->counts.bad_csum_pkts},
		{"other_pkts", a->counts.other_pkts},
		{"destinations_seen", a->track.counts.destinations_seen},
		{"arp_requests", a->counts.arp.requests},
		{"arp_replies", a->counts.arp.replies},
		{"arp_silent", a->counts.arp.silent},
		{"arp_refused", a->counts.arp.refused},
		{"arp_dropped", a->counts.arp.dropped},
		{"nd_requests", a->counts.nd.requests},
		{"nd_replies", a->counts.nd.replies},
		{"nd_silent", a->counts.nd.silent},
		{"nd_refused", a->counts.nd.refused},
		{"nd_dropped", a->counts.nd.dropped},
		{"copies_pkts", a->counts.copies_pkts},
		{"announcements_pkts", a->counts.announcements_pkts},
		{"capture_dropped_pkts", s->drops.capture_dropped_pkts},
		{"interface_dropped_pkts", s->drops.interface_dropped_pkts},
		{"lost_by_schedule_pkts", track_lost(&a->track)},
	};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		json_object_set_new(o, field[i].name, stats_int(field[i].value));
	if (!a->track.finished)
		return;
	json_object_set_new(o, "destinations_expected",
			    stats_int(a->track.counts.destinations_expected));
	json_object_set_new(o, "destinations_unseen",
			    stats_int(a->track.counts.destinations_unseen));
}

json_t *stats_json(struct sink *s, const char *state, uint64_t t_ns)
{
	struct account *a = &s->account;
	json_t *o = json_object(), *gap;

	account_flush(a);
	json_object_set_new(o, "v", json_integer(1));
	json_object_set_new(o, "state", json_string(state));
	json_object_set_new(o, "t_ns", stats_int(t_ns));
	stats_counts(o, s);
	json_object_set_new(o, "delay_ns", stats_hist(&a->track.delay));
	json_object_set_new(o, "first_delivery_ns", stats_hist(&a->track.first_delivery));
	gap = stats_hist(&a->track.gap);
	json_object_set_new(gap, "resolution_ns", stats_int(track_resolution_ns(&a->track)));
	json_object_set_new(o, "gap_ns", gap);
	return o;
}

/* --- files ------------------------------------------------------------------------------------ */

static int stats_open(const char *path, FILE **out, struct err *err)
{
	*out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!*out)
		return err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

/* A full disk shows here at the latest. */
static int stats_close(FILE *f, const char *path, struct err *err)
{
	int failed = fflush(f) || ferror(f), code = errno;

	if (f != stdout && fclose(f) && !failed) {
		failed = 1;
		code = errno;
	}
	if (failed)
		return err_set(err, -(code ? code : EIO), "cannot write %s: %s", path,
			       strerror(code ? code : EIO));
	return 0;
}

int stats_write(json_t *stats, const char *path, struct err *err)
{
	int ret;
	FILE *f;

	if (!stats)
		return err_set(err, -ENOMEM, "no memory for the statistics");
	ret = stats_open(path, &f, err);
	if (ret)
		return ret;
	if (!json_dumpf(stats, f, JSON_COMPACT))
		putc('\n', f);
	return stats_close(f, path, err);
}

struct stats_lines {
	FILE *f;
	int scheduled;
};

static int stats_destination(void *arg, const struct track_destination *d)
{
	const struct stats_lines *lines = arg;
	char text[INET6_ADDRSTRLEN];

	fprintf(lines->f, "{\"address\":\"%s\",\"received\":%" PRIu64,
		addr_text(AF_INET, d->addr, text), d->received);
	if (lines->scheduled && d->seen)
		fprintf(lines->f, ",\"first_delivery_ns\":%" PRIu64, d->first_delivery_ns);
	else
		fputs(",\"first_delivery_ns\":null", lines->f);
	if (lines->scheduled)
		fprintf(lines->f, ",\"gap_ns\":%" PRIu64 "}\n", d->gap_ns);
	else
		fputs(",\"gap_ns\":null}\n", lines->f);
	return ferror(lines->f);
}

int stats_write_destinations(const struct sink *s, const char *path, struct err *err)
{
	const struct account *a = &s->account;
	struct stats_lines lines = {.scheduled = a->track.scheduled};
	int ret = stats_open(path, &lines.f, err);

	if (ret)
		return ret;
	(void)track_each(&a->track, stats_destination, &lines);
	return stats_close(lines.f, path, err);
}

int stats_check_dir(const char *dir, struct err *err)
{
	if (access(dir, W_OK | X_OK))
		return err_set(err, -errno,
			       "cannot write histograms to %s: %s; give a directory "
			       "that exists and is yours",
			       dir, strerror(errno));
	return 0;
}

int stats_write_hists(const struct sink *s, const char *dir, struct err *err)
{
	const struct account *a = &s->account;
	const struct {
		const char *name;
		const struct hist *h;
	} file[] = {
		{"delay", &a->track.delay},
		{"first_delivery", &a->track.first_delivery},
		{"gap", &a->track.gap},
	};
	uint64_t length = a->counts.frames_pkts ? a->last_ns - a->first_ns : 0;
	int ret = 0;

	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]) && !ret; i++)
		ret = hlog_write(dir, file[i].name, file[i].h, length, err);
	return ret;
}
