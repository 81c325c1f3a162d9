// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/watch_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "mon/sample.h"
#include "mon/view.h"

#define TEXT_WIDTH 80 /* of most terminals */

struct text_rate {
	const char *head;
	size_t offset; /* of a uint64_t in struct sample_neigh */
	unsigned part; /* that must have been read */
};

static const struct text_rate text_rates[] = {
	{"alloc", offsetof(struct sample_neigh, tbl.allocs), SAMPLE_NEIGH},
	{"destroy", offsetof(struct sample_neigh, tbl.destroys), SAMPLE_NEIGH},
	{"forced-GC", offsetof(struct sample_neigh, tbl.forced_gc_runs), SAMPLE_NEIGH},
	{"full", offsetof(struct sample_neigh, tbl.table_fulls), SAMPLE_NEIGH},
	{"failed", offsetof(struct sample_neigh, tbl.res_failed), SAMPLE_NEIGH},
	{"discard", offsetof(struct sample_neigh, unresolved_discards), SAMPLE_NEIGH_FILES},
};
#define TEXT_RATES (sizeof(text_rates) / sizeof(*text_rates))

static const char *const text_families[] = {"IPv4", "IPv6"};

/* Names and sentences come from elsewhere: a terminal must get no other bytes. */
static void text_safe(FILE *to, const char *s, size_t len)
{
	for (; *s && len; s++, len--)
		fputc(isprint((unsigned char)*s) ? *s : '?', to);
}

/* "@label: @why", in lines of the table's width. */
static void text_why(FILE *to, const char *label, const char *why)
{
	size_t column = (size_t)fprintf(to, "\n%s:", label), n;

	for (why += strspn(why, " "); *why; why += n + strspn(why + n, " ")) {
		n = strcspn(why, " ");
		if (column + 1 + n > TEXT_WIDTH)
			column = (size_t)fprintf(to, "\n ") - 1;
		column += (size_t)fprintf(to, " ") + n;
		text_safe(to, why, n);
	}
	fputc('\n', to);
}

static double text_per_s(const struct watch_frame *f, uint64_t before, uint64_t now)
{
	double s = (double)(f->now->t_ns - f->before->t_ns) / 1e9;

	return s > 0 ? (double)(now - before) / s : 0;
}

/* A rate in a column of @width; "-" where there is none yet. */
static void text_rate(FILE *to, const struct watch_frame *f, int width, bool known, uint64_t before,
		      uint64_t now)
{
	double rate;

	if (!known || !f->before) {
		fprintf(to, " %*s", width, "-");
		return;
	}
	rate = text_per_s(f, before, now);
	fprintf(to, " %*.*f", width, rate > 0 && rate < 10 ? 1 : 0, rate);
}

static uint64_t text_u64(const struct sample_neigh *n, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)n + offset, sizeof(v));
	return v;
}

static void text_entries(FILE *to, const struct watch_frame *f)
{
	fprintf(to, "%-10s %9s %9s %9s %9s %9s\n", "neighbours", "entries", "near", "thresh1",
		"thresh2", "thresh3");
	for (unsigned k = 0; k < 2; k++) {
		const struct neightbl *t = &f->now->neigh[k].tbl;

		fprintf(to, "%-10s", text_families[k]);
		if (!(f->now->have & SAMPLE_NEIGH)) {
			fputs("  cannot be read\n", to);
			continue;
		}
		fprintf(to, " %9u %8.0f%% %9u %9u %9u\n", t->entries,
			t->gc_thresh3 ? 100.0 * t->entries / t->gc_thresh3 : 0, t->gc_thresh1,
			t->gc_thresh2, t->gc_thresh3);
	}
	fputs("(near: of thresh3; permanent and externally learned ones are not limited)\n",
	      to);
}

static void text_neighbour_rates(FILE *to, const struct watch_frame *f)
{
	fprintf(to, "\n%-10s", "per second");
	for (unsigned i = 0; i < TEXT_RATES; i++)
		fprintf(to, " %9s", text_rates[i].head);
	fputc('\n', to);
	for (unsigned k = 0; k < 2; k++) {
		fprintf(to, "%-10s", text_families[k]);
		for (unsigned i = 0; i < TEXT_RATES; i++) {
			const struct text_rate *r = &text_rates[i];
			bool known =
				f->before && f->now->have & r->part && f->before->have & r->part;

			text_rate(to, f, 9, known,
				  known ? text_u64(&f->before->neigh[k], r->offset) : 0,
				  text_u64(&f->now->neigh[k], r->offset));
		}
		fputc('\n', to);
	}
}

static void text_forwarded(FILE *to, const struct watch_frame *f)
{
	const struct sample *a = f->before, *b = f->now;
	bool v4 = a && a->have & b->have & SAMPLE_IP4, v6 = a && a->have & b->have & SAMPLE_IP6;

	fputs("\nforwarded/s  IPv4", to);
	text_rate(to, f, 9, v4, v4 ? a->ip.forwarded_pkts : 0, b->ip.forwarded_pkts);
	fputs("  IPv6", to);
	text_rate(to, f, 9, v6, v6 ? a->ip6.forwarded_pkts : 0, b->ip6.forwarded_pkts);
	if (b->have & SAMPLE_DST)
		fprintf(to, "   dst entries IPv4 %llu", (unsigned long long)b->dst.entries);
	if (b->have & SAMPLE_IP6)
		fprintf(to, " IPv6 %llu", (unsigned long long)b->dst6.entries);
	fputc('\n', to);
}

static void text_devices(FILE *to, const struct watch_frame *f)
{
	if (f->devs_age_s < 0) {
		text_why(to, "top devices", f->devs_why ? f->devs_why : "not listed yet");
		return;
	}
	fprintf(to, "\n%-16s %9s %9s  (of this namespace, from a dump %.0f s ago)\n", "top devices",
		"IPv4", "IPv6", f->devs_age_s);
	for (unsigned i = 0; i < f->nr_devs; i++) {
		const struct watch_dev *d = &f->devs[i];
		int room = 16 - (int)strlen(d->name);

		text_safe(to, d->name, sizeof(d->name));
		fprintf(to, "%*s %9u %9u\n", room > 0 ? room : 0, "", d->entries[0], d->entries[1]);
	}
}

static void text_drops(FILE *to, const struct watch_frame *f)
{
	const struct view_drops *d = f->drops, *b = f->drops_before;
	unsigned shown = 0;

	if (!f->now->has_drops) {
		text_why(to, "drops by cause", f->no_drops);
		return;
	}
	fprintf(to, "\n%-16s %9s %9s %9s %12s  (since the start)\n",
		"drops by cause", "IPv4/s", "IPv6/s", "own/s", "packets");
	for (unsigned c = 0; c < NR_CAUSES; c++) {
		uint64_t own = d->own[0][c] + d->own[1][c];
		uint64_t sum = d->received[0][c] + d->received[1][c] + own;

		if (!sum)
			continue;
		fprintf(to, "%-16s", cause_name(c));
		for (unsigned k = 0; k < 2; k++)
			text_rate(to, f, 9, b, b ? b->received[k][c] : 0, d->received[k][c]);
		text_rate(to, f, 9, b, b ? b->own[0][c] + b->own[1][c] : 0, own);
		fprintf(to, " %12llu", (unsigned long long)sum);
		if (c == CAUSE_OTHER && d->other_reason) {
			fputs("\n  most: ", to);
			text_safe(to, d->other_reason, TEXT_WIDTH);
			fputs(" in ", to);
			text_safe(to, *d->other_location ? d->other_location : "?", TEXT_WIDTH);
		}
		fputc('\n', to);
		shown++;
	}
	fputs(shown ? "(own: made by this host)\n" : "none\n", to);
	if (d->overflow)
		fprintf(to, "and %llu of causes for which there was no room\n",
			(unsigned long long)d->overflow);
}

void watch_text(FILE *to, const struct watch_frame *f)
{
	fputs("dststorm-mon watch   ", to);
	text_safe(to, f->host, TEXT_WIDTH);
	fputs("   Linux ", to);
	text_safe(to, f->kernel, TEXT_WIDTH);
	fprintf(to, "   every %g s%s\n\n", f->interval_s, f->keys ? "   q: quit" : "");
	text_entries(to, f);
	text_neighbour_rates(to, f);
	text_forwarded(to, f);
	text_devices(to, f);
	text_drops(to, f);
	if (f->now->missing[0])
		text_why(to, "not all can be read", f->now->missing);
}

void watch_screen(FILE *to, const char *text, unsigned columns, unsigned rows)
{
	fputs("\033[H", to);
	for (unsigned row = 1; *text && row < rows; row++) {
		size_t n = strcspn(text, "\n");

		fprintf(to, "%.*s\033[K\n", (int)(n < columns ? n : columns), text);
		text += n + (text[n] == '\n');
	}
	fputs("\033[J", to);
}
