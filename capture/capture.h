/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures as traffic: the packets of a file, or where they went to. pcap and pcapng, as far as
 * libpcap reads them, of Ethernet, Linux "cooked" and bare IP.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/addrset.h"

struct err;

/* An Ethernet frame without FCS, whatever the file's link layer: where that has no MAC addresses,
 * they are 0. */
struct capture_packet {
	uint64_t t_ns; /* of the capture's clock */
	uint32_t len;  /* as on the wire; what the capture cut off is 0 */
	uint32_t whole; /* bytes that are really the packet's */
	size_t at;     /* in capture.bytes */
};

struct capture {
	struct capture_packet *packets;
	uint64_t nr;
	uint8_t *bytes;
	uint32_t len_max; /* of the longest packet */
	uint64_t nr_cut;  /* packets of which the capture had not everything */
};

#define CAPTURE_BYTES_MAX (UINT64_C(1) << 30) /* of packets in memory */

/*
 * Read the whole file. Returns 0; -EINVAL if it is no capture, breaks off, is empty, or its link
 * layer is another; -EFBIG beyond CAPTURE_BYTES_MAX; -ENOMEM; the errno of opening it. *c needs
 * capture_free() only after success.
 */
int capture_read(struct capture *c, const char *path, struct err *err);
void capture_free(struct capture *c); /* also valid on a zeroed one */

/*
 * Call @add for the destination addresses of @family (AF_INET, AF_INET6; AF_UNSPEC: that of the
 * first IP packet) in @path; repetitions are passed on, though not all of them. Returns as
 * capture_read(), -ENODATA if there are none, or what @add returned. It is a scenario_pcap_fn.
 */
int capture_destinations(const char *path, int family, struct addrset *set,
			 int (*add)(struct addrset *, int, struct addr, struct err *),
			 struct err *err);

#endif
