// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source_pcap.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/decode.h"
#include "lib/err.h"
#include "sink/account.h"

#define CAPTURE_BUFFER (256u * 1024u)

struct source_pcap {
	struct account *account;
	bool align;
	uint64_t shift_ns; /* added to the times of the file, modulo 2^64 */
};

static volatile sig_atomic_t capture_stopped;
static pcap_t *capture_running; /* set before the handler can need it */

void source_pcap_stop(void)
{
	capture_stopped = 1;
	if (capture_running)
		pcap_breakloop(capture_running);
}

/* The first probe tells how far the clock of the capture is from the generator's. */
static void capture_align(struct source_pcap *s, const struct pcap_pkthdr *header,
			  const u_char *frame, uint64_t now_ns)
{
	struct decoded d;

	decode_part(frame, header->caplen, header->len, &d);
	if (d.kind != DECODE_PROBE)
		return;
	s->shift_ns = d.probe.due_ns - now_ns;
	s->align = false;
}

/* With nanoseconds asked for, tv_usec holds nanoseconds. */
static void capture_frame(u_char *arg, const struct pcap_pkthdr *header, const u_char *frame)
{
	struct source_pcap *s = (struct source_pcap *)(void *)arg;
	uint64_t now_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;

	if (s->align)
		capture_align(s, header, frame, now_ns);
	account_part(s->account, frame, header->caplen, header->len, now_ns + s->shift_ns);
}

/* The file, with a buffer that is worth a system call: by default it would be one block. */
static int capture_file(const char *path, FILE **out, struct err *err)
{
	struct stat st;
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!f)
		return err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode)) {
		fclose(f);
		return err_set(err, -EISDIR, "cannot read %s: it is a directory; give a file",
			       path);
	}
	setvbuf(f, NULL, _IOFBF, CAPTURE_BUFFER);
	__fsetlocking(f, FSETLOCKING_BYCALLER); /* nobody else reads it */
	*out = f;
	return 0;
}

static int capture_start(const char *path, pcap_t **out, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	FILE *f = NULL;
	int ret = capture_file(path, &f, err), link;
	pcap_t *p;

	if (ret)
		return ret;
	p = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!p) {
		if (f != stdin)
			fclose(f);
		return err_set(err, -EINVAL, "%s is no capture that can be read: %s", path, text);
	}
	link = pcap_datalink(p);
	if (link != DLT_EN10MB) {
		err_set(err, -EINVAL,
			"%s holds no Ethernet frames (its link type is %d): capture on an Ethernet "
			"interface",
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
	ret = capture_start(path, &capture_running, err);
	if (ret)
		return ret;
	result->opened = true;
	ret = pcap_loop(capture_running, -1, capture_frame, (u_char *)&s);
	account_flush(a);
	result->frames_pkts = a->counts.frames_pkts - before;
	if (ret == PCAP_ERROR && !capture_stopped)
		ret = err_set(err, -EIO, "%s breaks off after %" PRIu64 " packets: %s", path,
			      result->frames_pkts, pcap_geterr(capture_running));
	else
		ret = 0;
	pcap_close(capture_running);
	capture_running = NULL;
	return ret;
}
