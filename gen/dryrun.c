// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/dryrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <pcap/pcap.h>

#include "gen/plan.h"
#include "gen/walk.h"
#include "lib/err.h"

enum { DRYRUN_BURST = 64, DRYRUN_SNAPLEN = 65535 };

struct lane {
	struct walk walk;
	struct batch batch;
};

/* A stream, whose lanes' bursts are merged in the order of their numbers. */
struct source {
	const struct plan_stream *stream;
	struct lane *lanes;
	uint64_t seq, left; /* the next packet, and how many there are from it on */
};

struct dryrun {
	const struct plan *plan;
	struct source *sources;
	FILE *text;	     /* one of these two is NULL */
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	uint8_t frame[FRAME_LEN_MAX];
};

static bool ends_in(const char *path, const char *suffix)
{
	size_t len = strlen(path), n = strlen(suffix);

	return len > n && !strcmp(path + len - n, suffix);
}

int dryrun_check(const char *path, struct err *err)
{
	if (!strcmp(path, "-") || ends_in(path, ".pcap") || ends_in(path, ".txt"))
		return 0;
	return err_set(err, -EINVAL, "--dry-run %s: the name must end in .pcap (packets) or .txt "
		       "(addresses), or be - (addresses to stdout)", path);
}

/* --- one packet ------------------------------------------------------------------------------- */

static void write_text(struct dryrun *d, const struct addrset *to, const struct batch *b,
		       unsigned int k)
{
	struct addr a = { .lo = b->dst[k] };
	char buf[64];

	if (to->family == AF_INET6)
		a = (struct addr){ b->dst_hi[k], b->dst_lo[k] };
	fputs(addr_text(to->family, a, buf), d->text);
	putc('\n', d->text);
}

static void write_packet(struct dryrun *d, const struct template *t, const struct batch *b,
			 unsigned int k)
{
	struct pcap_pkthdr h = { .caplen = t->len, .len = t->len };

	/* With nanosecond precision tv_usec holds nanoseconds. */
	h.ts.tv_sec = (time_t)(b->due_ns[k] / 1000000000u);
	h.ts.tv_usec = (suseconds_t)(b->due_ns[k] % 1000000000u);
	memcpy(d->frame, t->frame, t->len);
	template_stamp(t->kind, t, d->frame + t->at_l3, b, k);
	pcap_dump((u_char *)d->dumper, &h, d->frame);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The batch that holds the next packet of @s, and where. */
static struct batch *source_batch(const struct dryrun *d, const struct source *s, unsigned int *k)
{
	uint32_t nr = d->plan->scenario.lanes;

	*k = (unsigned int)(s->seq / nr % DRYRUN_BURST);
	return &s->lanes[s->seq % nr].batch;
}

static uint64_t source_due(const struct dryrun *d, const struct source *s)
{
	unsigned int k;
	const struct batch *b = source_batch(d, s, &k);

	return s->left ? b->due_ns[k] : UINT64_MAX;
}

/* Once all that the batches hold is written. */
static void source_refill(const struct dryrun *d, struct source *s)
{
	const struct templates *t = &s->stream->templates;
	uint32_t nr = d->plan->scenario.lanes;

	if (s->seq % (nr * DRYRUN_BURST))
		return;
	for (uint32_t i = 0; i < nr; i++) {
		walk_next(&s->lanes[i].walk, &s->lanes[i].batch, DRYRUN_BURST);
		if (t->nr == 1)
			template_fill(t->list, &s->lanes[i].batch, 0, DRYRUN_BURST);
	}
}

static void write_next(struct dryrun *d, struct source *s)
{
	const struct templates *ts = &s->stream->templates;
	const struct template *t = &ts->list[templates_at(ts, s->seq)];
	unsigned int k;
	struct batch *b = source_batch(d, s, &k);

	if (ts->nr > 1)
		template_fill(t, b, k, 1);
	if (d->text)
		write_text(d, &s->stream->stream->destinations, b, k);
	else
		write_packet(d, t, b, k);
	s->seq++;
	s->left--;
	source_refill(d, s);
}

static struct source *next_source(struct dryrun *d)
{
	struct source *best = NULL;

	for (uint32_t i = 0; i < d->plan->nr_streams; i++) {
		struct source *s = &d->sources[i];

		if (s->left && (!best || source_due(d, s) < source_due(d, best)))
			best = s;
	}
	return best;
}

static int source_init(struct dryrun *d, uint32_t nr)
{
	const struct plan_stream *p = &d->plan->streams[nr];
	uint32_t lanes = d->plan->scenario.lanes;
	struct source *s = &d->sources[nr];

	*s = (struct source){ .stream = p, .left = p->sched.total };
	s->lanes = aligned_alloc(64, lanes * sizeof(*s->lanes));
	if (!s->lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes; i++)
		walk_init(&s->lanes[i].walk, &p->sched, p->stream,
			  template_takes_ports(p->templates.list), p->start_ns, i, lanes);
	source_refill(d, s);
	return 0;
}

static int write_all(struct dryrun *d, const char *path, struct err *err)
{
	FILE *file = d->text ? d->text : pcap_dump_file(d->dumper);
	struct source *s;

	for (uint32_t i = 0; i < d->plan->nr_streams; i++)
		if (source_init(d, i))
			return err_set(err, -ENOMEM, "no memory for a dry run");
	while (!ferror(file) && (s = next_source(d)))
		write_next(d, s);
	if (fflush(file) || ferror(file)) {
		if (errno == EPIPE && file == stdout)
			return 0; /* who reads it has enough, as head(1) */
		return err_set(err, -EIO, "cannot write %s: %s", path, strerror(errno));
	}
	return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

static int open_out(struct dryrun *d, const char *path, struct err *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!file)
		return err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	if (!ends_in(path, ".pcap")) {
		d->text = file;
		return 0;
	}
	d->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, DRYRUN_SNAPLEN,
						       PCAP_TSTAMP_PRECISION_NANO);
	d->dumper = d->pcap ? pcap_dump_fopen(d->pcap, file) : NULL;
	if (d->dumper)
		return 0;
	fclose(file);
	return err_set(err, -EIO, "cannot write %s: %s", path,
		       d->pcap ? pcap_geterr(d->pcap) : "no memory");
}

/* Flushed already: nothing can go wrong that was not told. */
static void close_out(struct dryrun *d)
{
	if (d->dumper)
		pcap_dump_close(d->dumper);
	if (d->pcap)
		pcap_close(d->pcap);
	if (d->text && d->text != stdout)
		fclose(d->text);
}

int dryrun_write(const struct plan *p, const char *path, struct err *err)
{
	struct dryrun d = { .plan = p };
	int ret;

	if (p->unlimited)
		return err_set(err, -EINVAL, "a dry run at rate max has no end: give a rate, or --count");
	d.sources = calloc(p->nr_streams, sizeof(*d.sources));
	if (!d.sources)
		return err_set(err, -ENOMEM, "no memory for a dry run");
	ret = open_out(&d, path, err);
	if (!ret)
		ret = write_all(&d, path, err);
	close_out(&d);
	for (uint32_t i = 0; i < p->nr_streams; i++)
		free(d.sources[i].lanes);
	free(d.sources);
	return ret;
}
