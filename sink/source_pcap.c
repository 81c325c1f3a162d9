// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source_pcap.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/decode.h"
#include "lib/err.h"
#include "sink/account.h"

struct source_pcap {
	struct account *account;
	bool align;
	uint64_t shift_ns; /* added to the times of the file, modulo 2^64 */
};

static volatile sig_atomic_t pcap_stopped;
static pcap_t *pcap_running; /* set before the handler can need it */

void source_pcap_stop(void)
{
	pcap_stopped = 1;
	if (pcap_running)
		pcap_breakloop(pcap_running);
}

/* The first probe tells how far the clock of the capture is from the generator's. */
static void pcap_align(struct source_pcap *s, const u_char *frame, size_t len, uint64_t now_ns)
{
	struct decoded d;

	decode(frame, len, &d);
	if (d.kind != DECODE_PROBE)
		return;
	s->shift_ns = d.probe.due_ns - now_ns;
	s->align = false;
}

/* With nanoseconds asked for, tv_usec holds nanoseconds. */
static void pcap_frame(u_char *arg, const struct pcap_pkthdr *header, const u_char *frame)
{
	struct source_pcap *s = (struct source_pcap *)(void *)arg;
	uint64_t now_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;

	if (s->align)
		pcap_align(s, frame, header->caplen, now_ns);
	account_frame(s->account, frame, header->caplen, now_ns + s->shift_ns);
}

/* libpcap's own sentence for a missing file lacks what to do, and a directory reads as no sentence
 * at all. */
static int pcap_check(const char *path, struct err *err)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st))
		return err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "cannot read %s: it is a directory; give a file",
			       path);
	return 0;
}

static int pcap_start(const char *path, pcap_t **out, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	int ret = pcap_check(path, err), link;
	pcap_t *p;

	if (ret)
		return ret;
	p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!p)
		return err_set(err, -EINVAL, "%s is no capture that can be read: %s", path, text);
	link = pcap_datalink(p);
	if (link != DLT_EN10MB) {
		err_set(err, -EINVAL,
			"%s holds no Ethernet frames (its link type is %d): capture "
			"on an Ethernet interface",
			path, link);
		pcap_close(p);
		return -EINVAL;
	}
	*out = p;
	return 0;
}

int source_pcap_run(struct account *a, const char *path, bool align,
		    struct source_pcap_result *result, struct err *err)
{
	struct source_pcap s = {.account = a, .align = align};
	uint64_t before = a->counts.frames_pkts;
	int ret;

	*result = (struct source_pcap_result){0};
	ret = pcap_start(path, &pcap_running, err);
	if (ret)
		return ret;
	result->opened = true;
	ret = pcap_loop(pcap_running, -1, pcap_frame, (u_char *)&s);
	account_flush(a);
	result->frames_pkts = a->counts.frames_pkts - before;
	if (ret == PCAP_ERROR && !pcap_stopped)
		ret = err_set(err, -EIO, "%s breaks off after %" PRIu64 " packets: %s", path,
			      result->frames_pkts, pcap_geterr(pcap_running));
	else
		ret = 0;
	pcap_close(pcap_running);
	pcap_running = NULL;
	return ret;
}
