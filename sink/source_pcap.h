/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from a capture file. The only user of libpcap. */
#ifndef SINK_SOURCE_PCAP_H
#define SINK_SOURCE_PCAP_H

#include <stdbool.h>
#include <stdint.h>

struct account;
struct err;

/* Where the reading stood when it ended. */
struct source_pcap_result {
	uint64_t frames_pkts;
	bool opened; /* the file is a capture of Ethernet: what it holds was counted */
};

/*
 * Hand every frame of @path ("-": standard input) to @a, with the time the file gives it. @align:
 * shift these times so that the first probe has a delay of 0. Returns 0 at the end of the file or
 * after source_pcap_stop(); -ENOENT and the like if it cannot be read; -EINVAL if it is no capture
 * of Ethernet; -EIO if it breaks off or is damaged, with what was read before counted.
 */
int source_pcap_run(struct account *a, const char *path, bool align,
		    struct source_pcap_result *result, struct err *err);

/* End the run early. From a signal handler. */
void source_pcap_stop(void);

#endif
