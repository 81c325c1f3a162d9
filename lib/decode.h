/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of an Ethernet frame to what this project cares about. Pure, total, never reads past @len;
 * fuzzed. Anything that is not understood is DECODE_OTHER, never an error.
 */
#ifndef LIB_DECODE_H
#define LIB_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "probe.h"

enum decode_kind {
	DECODE_OTHER,	    /* IPv6 chatter, ARP replies, broken headers, ... */
	DECODE_PROBE,	    /* IPv4/UDP, header checksum right, not a fragment, magic right */
	DECODE_ARP_REQUEST, /* who-has, Ethernet/IPv4, sane */
	DECODE_ICMP,	    /* ICMP over IPv4, header checksum right */
	DECODE_BAD_CSUM,    /* IPv4 whose header checksum is wrong */
};

struct decoded {
	enum decode_kind kind;
	uint32_t src, dst;	/* IPv4 addresses in host byte order; for ARP: sender and target */
	uint8_t ttl;		/* IPv4 kinds */
	uint8_t icmp_type, icmp_code; /* DECODE_ICMP */
	uint8_t src_mac[6];	/* of the frame */
	struct probe probe;	/* DECODE_PROBE */
};

void decode(const uint8_t *frame, size_t len, struct decoded *d);

#endif
