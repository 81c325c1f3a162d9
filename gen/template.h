/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packet that never changes, and the 32 bytes of it that do.
 *
 * A frame is Ethernet, IPv4 and UDP around the probe of lib/probe.h: 60 bytes, the least there is
 * (64 with FCS). It is copied into a buffer once. After that two stores of 16 bytes make the next
 * packet of it:
 *
 *	18	id, fragment, ttl, protocol, checksum, source, destination	"ip"
 *	44	stream, shard, sequence number, due time			"probe"
 *
 * Both include a few bytes that stay the same, because one wide store costs less than two exact
 * ones, and because a port that copies the frame with wide loads then never waits for a store that
 * covers only a part of what it loads.
 *
 * The IPv4 checksum is made by difference (RFC 1624): the sum of the fixed words is known, only the
 * addresses are added. The UDP checksum is 0, "none" (RFC 768).
 *
 * Pure: no DPDK, no clock.
 */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include <stdint.h>
#include <string.h>

#include "batch.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the stores are laid out for it");

#define TEMPLATE_LEN	  60u
#define TEMPLATE_AT_IP	  18u
#define TEMPLATE_AT_PROBE 44u

struct template {
	uint8_t frame[64];    /* TEMPLATE_LEN bytes; addresses, checksum, seq and due time 0 */
	uint32_t tag;	      /* not 0: marks the buffers that hold this frame */
	uint32_t partial;     /* sum of the header's fixed 16-bit words as they lie in memory */
	uint64_t ip_head;     /* bytes 18 to 25, checksum 0 */
	uint64_t probe_head;  /* bytes 44 to 51 as a number, sequence 0 */
};

struct template_fields {
	uint8_t src_mac[6], dst_mac[6];
	uint16_t src_port, dst_port;
	uint8_t ttl;
	uint8_t stream, shard;
};

void template_init(struct template *t, const struct template_fields *f, uint32_t tag);

/* From addresses, numbers and times of @b to the 16-byte stores, the first @n of them. */
void template_fill(const struct template *t, struct batch *b, unsigned int n);

/* Turn the frame at @at, which is this template's, into packet @k of @b. */
static inline void template_stamp(uint8_t *at, const struct batch *b, unsigned int k)
{
	memcpy(at + TEMPLATE_AT_IP, &b->ip[k], 16);
	memcpy(at + TEMPLATE_AT_PROBE, &b->probe[k], 16);
}

#endif
