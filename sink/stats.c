// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <stdbool.h>
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

struct stats_field {
	const char *name;
	uint64_t value;
};

static void stats_fields(json_t *o, const struct stats_field *field, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		json_object_set_new(o, field[i].name, stats_int(field[i].value));
}

#define STATS_FIELDS(o, field) stats_fields(o, field, sizeof(field) / sizeof((field)[0]))

/* What a stream has as well as all streams together. */
static void stats_track(json_t *o, const struct track_counts *c, bool finished, uint64_t lost)
{
	const struct stats_field now[] = {
		{"rx_pkts", c->rx_pkts},
		{"dup_pkts", c->dup_pkts},
		{"reordered_pkts", c->reordered_pkts},
		{"late_pkts", c->late_pkts},
		{"early_pkts", c->early_pkts},
		{"foreign_pkts", c->foreign_pkts},
		{"destinations_seen", c->destinations_seen},
		{"lost_by_schedule_pkts", lost},
	};
	const struct stats_field last[] = {
		{"destinations_expected", c->destinations_expected},
		{"destinations_unseen", c->destinations_unseen},
	};

	STATS_FIELDS(o, now);
	if (finished)
		STATS_FIELDS(o, last);
}

static void stats_hists(json_t *o, const struct hist *delay, const struct hist *first,
			const struct hist *gap, uint64_t resolution_ns)
{
	json_t *gaps = stats_hist(gap);

	json_object_set_new(o, "delay_ns", stats_hist(delay));
	json_object_set_new(o, "first_delivery_ns", stats_hist(first));
	json_object_set_new(gaps, "resolution_ns", stats_int(resolution_ns));
	json_object_set_new(o, "gap_ns", gaps);
}

static void stats_account(json_t *o, const struct sink *s)
{
	const struct account_counts *c = &s->account.counts;
	const struct stats_field field[] = {
		{"frames_pkts", c->frames_pkts},
		{"bad_csum_pkts", c->bad_csum_pkts},
		{"other_pkts", c->other_pkts},
		{"arp_requests", c->arp.requests},
		{"arp_replies", c->arp.replies},
		{"arp_silent", c->arp.silent},
		{"arp_refused", c->arp.refused},
		{"arp_dropped", c->arp.dropped},
		{"nd_requests", c->nd.requests},
		{"nd_replies", c->nd.replies},
		{"nd_silent", c->nd.silent},
		{"nd_refused", c->nd.refused},
		{"nd_dropped", c->nd.dropped},
		{"copies_pkts", c->copies_pkts},
		{"announcements_pkts", c->announcements_pkts},
		{"capture_dropped_pkts", s->drops.capture_dropped_pkts},
		{"interface_dropped_pkts", s->drops.interface_dropped_pkts},
	};

	STATS_FIELDS(o, field);
}

static json_t *stats_stream(const struct sink *s, uint32_t i)
{
	const struct track_stream *st = &s->account.track.streams[i];
	const struct hist *h = st->result.hist;
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(s->scenario.streams[i].name));
	stats_track(o, &st->result.counts, s->account.track.finished, track_stream_lost(st));
	stats_hists(o, &h[TRACK_DELAY], &h[TRACK_FIRST_DELIVERY], &h[TRACK_GAP],
		    track_stream_resolution_ns(st));
	return o;
}

json_t *stats_json(struct sink *s, const char *state, uint64_t t_ns)
{
	struct track *t = &s->account.track;
	json_t *o = json_object(), *streams = json_array();
	struct track_counts counts;

	account_flush(&s->account);
	json_object_set_new(o, "v", json_integer(1));
	json_object_set_new(o, "state", json_string(state));
	json_object_set_new(o, "t_ns", stats_int(t_ns));
	counts = track_counts(t);
	stats_account(o, s);
	stats_track(o, &counts, t->finished, track_lost(t));
	stats_hists(o, track_hist(t, TRACK_DELAY), track_hist(t, TRACK_FIRST_DELIVERY),
		    track_hist(t, TRACK_GAP), track_resolution_ns(t));
	for (uint32_t i = 0; i < t->nr_streams; i++)
		json_array_append_new(streams, stats_stream(s, i));
	json_object_set_new(o, "streams", streams);
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
	const struct sink *s;
};

static int stats_destination(void *arg, const struct track_destination *d)
{
	const struct stats_lines *lines = arg;
	const struct track *t = &lines->s->account.track;
	char text[INET6_ADDRSTRLEN];

	fprintf(lines->f, "{\"address\":\"%s\",\"received\":%" PRIu64,
		addr_text(d->v6 ? AF_INET6 : AF_INET, d->addr, text), d->received);
	if (t->scheduled && d->seen)
		fprintf(lines->f, ",\"first_delivery_ns\":%" PRIu64, d->first_delivery_ns);
	else
		fputs(",\"first_delivery_ns\":null", lines->f);
	if (t->scheduled)
		fprintf(lines->f, ",\"gap_ns\":%" PRIu64, d->gap_ns);
	else
		fputs(",\"gap_ns\":null", lines->f);
	if (t->nr_streams > 1) {
		json_t *name = json_string(lines->s->scenario.streams[d->stream].name);

		fputs(",\"stream\":", lines->f);
		json_dumpf(name, lines->f, JSON_ENCODE_ANY);
		json_decref(name);
	}
	fputs("}\n", lines->f);
	return ferror(lines->f);
}

int stats_write_destinations(const struct sink *s, const char *path, struct err *err)
{
	struct stats_lines lines = {.s = s};
	int ret = stats_open(path, &lines.f, err), walk;

	if (ret)
		return ret;
	walk = track_each(&s->account.track, stats_destination, &lines);
	ret = stats_close(lines.f, path, err);
	if (walk == -ENOMEM && !ret)
		ret = err_set(err, walk, "no memory to sort the destinations for %s", path);
	return ret;
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

/* @i: the stream, or -1 for all together. */
static int stats_write_three(struct sink *s, const char *dir, int i, struct err *err)
{
	static const char *const names[TRACK_HISTS] = {"delay", "first_delivery", "gap"};
	const struct account *a = &s->account;
	uint64_t length = a->counts.frames_pkts ? a->last_ns - a->first_ns : 0;
	const struct hist *h;
	char name[64];
	int ret = 0;

	for (int k = 0; k < TRACK_HISTS && !ret; k++) {
		if (i < 0) {
			h = track_hist(&s->account.track, (enum track_hist)k);
			snprintf(name, sizeof(name), "%s", names[k]);
		} else {
			h = &s->account.track.streams[i].result.hist[k];
			snprintf(name, sizeof(name), "%s-%d", names[k], i);
		}
		ret = hlog_write(dir, name, h, length, err);
	}
	return ret;
}

int stats_write_hists(struct sink *s, const char *dir, struct err *err)
{
	int nr = (int)s->account.track.nr_streams, ret = stats_write_three(s, dir, -1, err);

	for (int i = 0; nr > 1 && i < nr && !ret; i++)
		ret = stats_write_three(s, dir, i, err);
	return ret;
}
