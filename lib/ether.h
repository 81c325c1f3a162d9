/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Ethernet header with its VLAN tags: what decode(), ARP and neighbour discovery have in
 * common. A tag is four bytes between the source MAC and the type: 0x8100 (802.1Q, and the inner
 * one of two) or 0x88a8 (802.1ad, the outer one).
 */
#ifndef LIB_ETHER_H
#define LIB_ETHER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ETHER_LEN      14u /* without tags */
#define ETHER_TAG_LEN  4u
#define ETHER_TAGS_MAX 2u
#define ETHER_LEAST    60u /* least frame, without FCS and tags */

enum ether_type {
	ETHER_IPV4 = 0x0800,
	ETHER_ARP = 0x0806,
	ETHER_VLAN = 0x8100,
	ETHER_IPV6 = 0x86dd,
	ETHER_QINQ = 0x88a8,
};

static inline uint32_t ether_be16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, 2);
	return be16toh(v);
}

static inline void ether_put16(uint8_t *at, uint32_t v)
{
	uint16_t big = htobe16((uint16_t)v);

	memcpy(at, &big, 2);
}

static inline bool ether_is_tag(uint32_t type)
{
	return type == ETHER_VLAN || type == ETHER_QINQ;
}

/* Neither a group nor zero: a station that can be answered. */
static inline bool ether_is_station(const uint8_t *mac)
{
	static const uint8_t zero[6];

	return !(mac[0] & 1) && memcmp(mac, zero, sizeof(zero));
}

/* Bytes of the tags (at most ETHER_TAGS_MAX) of a frame of at least 22 bytes. */
static inline size_t ether_tags(const uint8_t *frame)
{
	size_t tags = 0;

	while (tags < ETHER_TAGS_MAX * ETHER_TAG_LEN && ether_is_tag(ether_be16(frame + 12 + tags)))
		tags += ETHER_TAG_LEN;
	return tags;
}

/* Write a header with tags for @vlans (1 to 4094), outer one first. Returns its length. */
static inline size_t ether_put(uint8_t *frame, const uint8_t *dst, const uint8_t *src,
			       const uint16_t *vlans, unsigned int nr_vlans, enum ether_type type)
{
	size_t at = 12;

	memcpy(frame, dst, 6);
	memcpy(frame + 6, src, 6);
	for (unsigned int i = 0; i < nr_vlans; i++, at += ETHER_TAG_LEN) {
		ether_put16(frame + at, i + 1 < nr_vlans ? ETHER_QINQ : ETHER_VLAN);
		ether_put16(frame + at + 2, vlans[i]);
	}
	ether_put16(frame + at, type);
	return at + 2;
}

#endif
