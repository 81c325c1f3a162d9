// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/dump.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"

#define DUMP_BUFFER  (1u << 20)
#define DUMP_SNAPLEN 65535

struct dump {
	pcap_t *pcap; /* says of which kind the frames are */
	pcap_dumper_t *dumper;
	FILE *file; /* the dumper's */
	char *path;
};

static int dump_failed(struct dump *d, const char *path, int code, struct err *err)
{
	if (d && d->file && !d->dumper)
		fclose(d->file);
	if (d && d->pcap)
		pcap_close(d->pcap);
	if (d)
		free(d->path);
	free(d);
	return err_set(err, -code, "cannot write %s: %s", path, strerror(code));
}

int dump_open(struct dump **out, const char *path, struct err *err)
{
	struct dump *d = calloc(1, sizeof(*d));

	if (d)
		d->path = strdup(path);
	if (d)
		d->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, DUMP_SNAPLEN,
							       PCAP_TSTAMP_PRECISION_NANO);
	if (!d || !d->path || !d->pcap)
		return dump_failed(d, path, ENOMEM, err);
	d->file = fopen(path, "we");
	if (!d->file)
		return dump_failed(d, path, errno, err);
	setvbuf(d->file, NULL, _IOFBF, DUMP_BUFFER);
	__fsetlocking(d->file, FSETLOCKING_BYCALLER); /* one writer at a time */
	d->dumper = pcap_dump_fopen(d->pcap, d->file);
	if (!d->dumper)
		return dump_failed(d, path, EIO, err);
	*out = d;
	return 0;
}

/* With nanoseconds asked for, tv_usec holds nanoseconds. */
void dump_frame(void *dump, const uint8_t *frame, size_t len, uint64_t now_ns)
{
	struct dump *d = dump;
	struct pcap_pkthdr header = {.ts.tv_sec = (time_t)(now_ns / 1000000000u),
				     .ts.tv_usec = (suseconds_t)(now_ns % 1000000000u),
				     .caplen = (bpf_u_int32)len,
				     .len = (bpf_u_int32)len};

	pcap_dump((u_char *)d->dumper, &header, frame);
}

int dump_close(struct dump *d, struct err *err)
{
	char *path;
	int code = 0;

	if (!d)
		return 0;
	if (fflush(d->file) || ferror(d->file))
		code = errno ? errno : EIO;
	pcap_dump_close(d->dumper);
	pcap_close(d->pcap);
	path = d->path;
	free(d);
	if (code)
		err_set(err, -code, "cannot write all of %s: %s", path, strerror(code));
	free(path);
	return -code;
}
