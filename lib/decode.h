/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of an Ethernet frame to what this project cares about. Pure, total, never reads past @len;
 * fuzzed. Anything that is not understood is DECODE_OTHER, never an error.
 *
 * Up to two VLAN tags are looked through. Of IPv6's extension headers hop-by-hop and destination
 * options are; fragments of either family are OTHER.
 */
#ifndef LIB_DECODE_H
#define LIB_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addrset.h"
#include "probe.h"

enum decode_kind {
	DECODE_OTHER, /* LLDP, ARP replies, datagrams without a probe, broken headers, ... */
	/* UDP, TCP or echo request of ICMP or ICMPv6 whose payload begins with a probe; checksums
	 * of the IPv4 header and of layer 4 right (UDP over IPv4 may have none). */
	DECODE_PROBE,
	DECODE_ARP_REQUEST, /* who-has, Ethernet/IPv4, asked by a station */
	/* Neighbour solicitation, whole, valid by RFC 4861 7.1.1, target unicast, no extension
	 * header before it. */
	DECODE_ND_SOLICIT,
	DECODE_ICMP, /* ICMP or ICMPv6, checksums right, that is none of the above */
	/* A wrong checksum: of an IPv4 header; of ICMP; of UDP or TCP with the magic of a probe
	 * (other datagrams are nobody's business, and those of this host may have theirs left to
	 * the NIC). */
	DECODE_BAD_CSUM,
};

struct decoded {
	enum decode_kind kind;
	uint8_t family_is_v6; /* of src and dst */
	uint8_t ttl; /* or hop limit */
	uint8_t icmp_type, icmp_code; /* DECODE_ICMP, DECODE_ND_SOLICIT */
	uint8_t nr_vlans;
	uint16_t vlans[2]; /* identifiers, outer one first */
	/* Of the IP header. ARP: sender and target. DECODE_ND_SOLICIT: dst is the target. */
	struct addr src, dst;
	struct probe probe; /* DECODE_PROBE */
};

/*
 * The first @len bytes of a frame of @wire_len (a capture may keep only a part). The headers and
 * the probe must be among them; a layer 4 checksum is verified if all that it covers is.
 */
void decode_part(const uint8_t *frame, size_t len, size_t wire_len, struct decoded *d);

/* A whole frame. */
static inline void decode(const uint8_t *frame, size_t len, struct decoded *d)
{
	decode_part(frame, len, len, d);
}

#endif
