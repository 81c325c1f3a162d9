/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packet that never changes, and the few bytes of it that do.
 *
 * A frame is Ethernet, up to two VLAN tags, IP, and UDP, TCP or ICMP echo around the probe of
 * lib/probe.h; what follows the probe is zero. It is copied into a buffer once. After that a few
 * wide stores make the next packet of it, at offsets from the network header (L3) that are constants
 * of the template's kind:
 *
 *	IPv4	4	16 bytes: id, fragment, ttl, protocol, checksum, source, destination	"ip"
 *	IPv6	8	16: source "ip"; 24: 16: destination "ip2"
 *	L4	0	8: the UDP or ICMP header; of TCP ports and number		"l4"
 *	TCP	12	8: flags, window, checksum, urgent				"tail"
 *	probe	2	16: stream, shard, sequence number, due time			"probe"
 *
 * They include a few bytes that stay the same, because one wide store costs less than two exact
 * ones, and because a port that copies the frame with wide loads then never waits for a store that
 * covers only a part of what it loads. UDP over IPv4 without a checksum, of one size and one pair of
 * ports, needs "ip" and "probe" only.
 *
 * Checksums are made by difference (RFC 1624): the sums of the fixed words are known, only what
 * changes is added. ICMP's identifier and sequence number are the "ports".
 *
 * TEMPLATE_ANY is a frame of somebody else's making, for replays: each field is stored by itself, at
 * offsets that are its own.
 *
 * Pure: no DPDK, no clock.
 */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "batch.h"
#include "lib/frame.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the stores are laid out for it");

enum template_kind {
	TEMPLATE_V4,	 /* UDP without checksum */
	TEMPLATE_V4_L4,	 /* UDP or ICMP */
	TEMPLATE_V4_TCP,
	TEMPLATE_V6_L4,
	TEMPLATE_V6_TCP,
	TEMPLATE_ANY,
};

struct template {
	enum template_kind kind;
	uint32_t tag;	      /* not 0: marks the buffers that hold this frame */
	uint16_t len;	      /* of the frame, without FCS */
	uint16_t at_l3;
	bool resized;	      /* the tag is shared by frames of other sizes: template_resize() */
	bool is_v6;
	uint8_t *frame;	      /* what is stored in each packet is 0 */

	/* Sums of fixed 16-bit words. Of the IPv4 header as they lie in memory, of pseudo header and
	 * L4 as big-endian numbers; neither depends on it (RFC 1071). */
	uint32_t partial, l4_partial;
	uint64_t ip_head;     /* IPv4: 8 bytes from L3 + 4, checksum 0 */
	uint64_t l4_head;     /* "l4" and "tail" as numbers; ports and checksum 0 */
	uint64_t tail_head;
	uint8_t ports_shift, csum_shift; /* where they belong in l4_head (TCP: in tail_head) */
	uint16_t csum_mask;   /* 0: no checksum */
	uint16_t csum_zero;   /* what a sum of 0 is written as (UDP: 0xffff) */
	uint64_t probe_head;  /* bytes 2 to 9 of the probe as a number, sequence 0 */
	uint16_t at_csum, at_probe; /* TEMPLATE_ANY: from L3 */
};

struct template_fields {
	uint8_t src_mac[6], dst_mac[6];
	struct frame_shape shape;
	uint16_t vlans[FRAME_VLANS_MAX];
	uint16_t len;		/* with FCS, frame_len_min() at least */
	bool udp_checksum;	/* IPv6 has it always */
	uint16_t src_port, dst_port; /* unless each packet brings its own */
	bool ports_vary;
	bool resized;
	uint8_t ttl, tos;
	uint8_t stream, shard;
};

/* Return 0 or -ENOMEM. template_free() is valid on a zeroed template. */
int template_init(struct template *t, const struct template_fields *f, uint32_t tag);
void template_free(struct template *t);

/*
 * TEMPLATE_ANY from a captured Ethernet frame of @len bytes. Kept are the headers of layers 2 to 4,
 * with tags, options, ports and flags, and the payload behind the probe; of @f are taken family, MACs,
 * TTL, stream and shard. A payload with no room for the probe is made larger. Returns 0; -EPROTO if
 * it is no UDP, TCP or ICMP echo request over IP of the family, whole and not fragmented; -ENOMEM.
 */
int template_init_captured(struct template *t, const struct template_fields *f, const uint8_t *bytes,
			   uint32_t len, uint32_t tag);

/* Whether packets bring their own ports in batch.ports. */
static inline bool template_takes_ports(const struct template *t)
{
	return t->kind != TEMPLATE_V4 && t->kind != TEMPLATE_ANY;
}

/* From addresses, ports, numbers and times of @b to what is stored: packets @from to @from + @n - 1. */
void template_fill(const struct template *t, struct batch *b, unsigned int from, unsigned int n);

/* TEMPLATE_ANY's stores. */
void template_stamp_any(const struct template *t, uint8_t *l3, const struct batch *b, unsigned int k);

/*
 * Turn the frame whose L3 is at @l3, which is this template's, into packet @k of @b. @kind is the
 * template's: a constant where the caller has a loop for each.
 */
static inline __attribute__((always_inline)) void
template_stamp(enum template_kind kind, const struct template *t, uint8_t *l3, const struct batch *b,
	       unsigned int k)
{
	switch (kind) {
	case TEMPLATE_V4:
		memcpy(l3 + 4, &b->ip[k], 16);
		memcpy(l3 + 30, &b->probe[k], 16);
		break;
	case TEMPLATE_V4_L4:
		memcpy(l3 + 4, &b->ip[k], 16);
		memcpy(l3 + 20, &b->l4[k], 8);
		memcpy(l3 + 30, &b->probe[k], 16);
		break;
	case TEMPLATE_V4_TCP:
		memcpy(l3 + 4, &b->ip[k], 16);
		memcpy(l3 + 20, &b->l4[k], 8);
		memcpy(l3 + 32, &b->tail[k], 8);
		memcpy(l3 + 42, &b->probe[k], 16);
		break;
	case TEMPLATE_V6_L4:
		memcpy(l3 + 8, &b->ip[k], 16);
		memcpy(l3 + 24, &b->ip2[k], 16);
		memcpy(l3 + 40, &b->l4[k], 8);
		memcpy(l3 + 50, &b->probe[k], 16);
		break;
	case TEMPLATE_V6_TCP:
		memcpy(l3 + 8, &b->ip[k], 16);
		memcpy(l3 + 24, &b->ip2[k], 16);
		memcpy(l3 + 40, &b->l4[k], 8);
		memcpy(l3 + 52, &b->tail[k], 8);
		memcpy(l3 + 62, &b->probe[k], 16);
		break;
	case TEMPLATE_ANY:
		template_stamp_any(t, l3, b, k);
		break;
	}
}

/* The lengths that lie in IP's first 8 bytes; UDP's is in "l4". */
static inline void template_resize(const struct template *t, uint8_t *l3)
{
	memcpy(l3, t->frame + t->at_l3, t->is_v6 ? 8 : 4);
}

#endif
