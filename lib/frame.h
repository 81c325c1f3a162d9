/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of the frames that carry a probe: where each header lies, and how small a frame can be.
 * What generator, sink and scenario have to agree on. All offsets count from the first byte of the
 * destination MAC; all lengths of frames include the FCS.
 */
#ifndef LIB_FRAME_H
#define LIB_FRAME_H

#include <stdint.h>

enum frame_protocol { FRAME_UDP, FRAME_TCP_SYN, FRAME_ICMP_ECHO /* ICMPv6 over IPv6 */ };

#define FRAME_VLANS_MAX 2u    /* 802.1Q (0x8100); QinQ: outer 0x88a8, inner 0x8100 */
#define FRAME_VLAN_LEN	4u
#define FRAME_FCS	4u
#define FRAME_L1	20u   /* preamble, start delimiter and the least gap between two frames */
#define FRAME_LEN_MAX	9026u /* MTU 9000 + 14 + FCS, and FRAME_VLANS_MAX tags: room for any frame */

struct frame_shape {
	int family;		/* AF_INET, AF_INET6 */
	enum frame_protocol protocol;
	uint32_t nr_vlans;	/* 0 to FRAME_VLANS_MAX */
};

uint32_t frame_at_l3(const struct frame_shape *s);    /* 14, and 4 for each tag */
uint32_t frame_at_l4(const struct frame_shape *s);    /* headers without options or extensions */
uint32_t frame_at_probe(const struct frame_shape *s); /* the payload's first byte */

/*
 * The least frame with a probe, without tags: IPv4/UDP 64, IPv4/ICMP 64, IPv4/TCP 76, IPv6/UDP 84,
 * IPv6/ICMPv6 84, IPv6/TCP 96; each tag 4 more. The greatest: 9018, each tag 4 more.
 */
uint32_t frame_len_min(const struct frame_shape *s);
uint32_t frame_len_max(const struct frame_shape *s);

#endif
