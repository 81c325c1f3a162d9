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

struct dryrun {
	const struct plan *plan;
	struct lane *lanes;
	FILE *text;	     /* one of these two is NULL */
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	uint8_t frame[64];
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

static void write_text(struct dryrun *d, const struct batch *b, unsigned int k)
{
	char buf[64];

	fputs(addr_text(AF_INET, (struct addr){ .lo = b->dst[k] }, buf), d->text);
	putc('\n', d->text);
}

static void write_packet(struct dryrun *d, const struct batch *b, unsigned int k)
{
	struct pcap_pkthdr h = { .caplen = TEMPLATE_LEN, .len = TEMPLATE_LEN };

	/* With nanosecond precision tv_usec holds nanoseconds. */
	h.ts.tv_sec = (time_t)(b->due_ns[k] / 1000000000u);
	h.ts.tv_usec = (suseconds_t)(b->due_ns[k] % 1000000000u);
	template_stamp(d->frame, b, k);
	pcap_dump((u_char *)d->dumper, &h, d->frame);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The next burst of each lane, merged in the order of their numbers. Returns how many packets. */
static uint64_t write_burst(struct dryrun *d, uint64_t left)
{
	uint32_t nr = d->plan->scenario.lanes;
	uint64_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		walk_next(&d->lanes[i].walk, &d->lanes[i].batch, DRYRUN_BURST);
		template_fill(&d->plan->template, &d->lanes[i].batch, DRYRUN_BURST);
	}
	for (unsigned int k = 0; k < DRYRUN_BURST; k++) {
		for (uint32_t i = 0; i < nr && n < left; i++, n++) {
			if (d->text)
				write_text(d, &d->lanes[i].batch, k);
			else
				write_packet(d, &d->lanes[i].batch, k);
		}
	}
	return n;
}

static int write_all(struct dryrun *d, const char *path, struct err *err)
{
	FILE *file = d->text ? d->text : pcap_dump_file(d->dumper);
	const struct plan *p = d->plan;
	uint64_t left = p->sched.total;

	for (uint32_t i = 0; i < p->scenario.lanes; i++)
		walk_init(&d->lanes[i].walk, &p->sched, &p->stream->destinations,
			  &p->stream->sources, 0, i, p->scenario.lanes);
	memcpy(d->frame, p->template.frame, sizeof(d->frame));
	while (left && !ferror(file))
		left -= write_burst(d, left);
	if (fflush(file) || ferror(file))
		return err_set(err, -EIO, "cannot write %s: %s", path, strerror(errno));
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
	d.lanes = aligned_alloc(64, p->scenario.lanes * sizeof(*d.lanes));
	if (!d.lanes)
		return err_set(err, -ENOMEM, "no memory for %" PRIu32 " lanes", p->scenario.lanes);
	ret = open_out(&d, path, err);
	if (!ret)
		ret = write_all(&d, path, err);
	close_out(&d);
	free(d.lanes);
	return ret;
}
