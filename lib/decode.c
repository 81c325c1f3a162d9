// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode.h"

#include <stdbool.h>

enum {
	DECODE_ETH_LEN = 14,
	DECODE_ARP_LEN = 28,
	DECODE_IP_LEN = 20, /* without options */
	DECODE_UDP_LEN = 8,
	DECODE_ICMP_LEN = 8,
};

static inline uint32_t be16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, 2);
	return be16toh(v);
}

static inline uint32_t be32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return be32toh(v);
}

static inline uint64_t sum4(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return v;
}

/*
 * RFC 1071 over a header of @len bytes, a multiple of 4: right if the one's complement sum is all
 * ones. That sum does not depend on the byte order, so words are added as they lie in memory.
 */
static inline bool csum_right(const uint8_t *ip, size_t len)
{
	uint64_t sum = sum4(ip) + sum4(ip + 4) + sum4(ip + 8) + sum4(ip + 12) + sum4(ip + 16);

	for (size_t i = DECODE_IP_LEN; i < len; i += 4)
		sum += sum4(ip + i);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static enum decode_kind decode_udp(const uint8_t *udp, size_t len, struct decoded *d)
{
	if (len < DECODE_UDP_LEN + PROBE_LEN)
		return DECODE_OTHER;
	if (be16(udp + 4) > len || be16(udp + 4) < DECODE_UDP_LEN + PROBE_LEN)
		return DECODE_OTHER;
	return probe_decode(udp + DECODE_UDP_LEN, &d->probe) ? DECODE_OTHER : DECODE_PROBE;
}

static enum decode_kind decode_icmp(const uint8_t *icmp, size_t len, struct decoded *d)
{
	if (len < DECODE_ICMP_LEN)
		return DECODE_OTHER;
	d->icmp_type = icmp[0];
	d->icmp_code = icmp[1];
	return DECODE_ICMP;
}

/* @len: bytes of the frame from the IPv4 header on, padding included. */
static enum decode_kind decode_ipv4(const uint8_t *ip, size_t len, struct decoded *d)
{
	size_t header, total;

	if (len < DECODE_IP_LEN || ip[0] >> 4 != 4)
		return DECODE_OTHER;
	header = (size_t)(ip[0] & 15) * 4;
	if (header < DECODE_IP_LEN || header > len)
		return DECODE_OTHER;
	d->src = be32(ip + 12);
	d->dst = be32(ip + 16);
	d->ttl = ip[8];
	/* Before anything else is believed, the length included. */
	if (!csum_right(ip, header))
		return DECODE_BAD_CSUM;
	total = be16(ip + 2);
	if (total < header || total > len)
		return DECODE_OTHER;
	if (be16(ip + 6) & 0x3fff) /* more fragments, or an offset */
		return DECODE_OTHER;
	if (__builtin_expect(ip[9] == 17, 1))
		return decode_udp(ip + header, total - header, d);
	if (ip[9] == 1)
		return decode_icmp(ip + header, total - header, d);
	return DECODE_OTHER;
}

/* A sender whose MAC is a group or zero cannot be answered: not sane. */
static enum decode_kind decode_arp(const uint8_t *arp, size_t len, struct decoded *d)
{
	static const uint8_t request[8] = { 0, 1, 0x08, 0x00, 6, 4, 0, 1 };
	static const uint8_t zero[6];

	if (len < DECODE_ARP_LEN || memcmp(arp, request, sizeof(request)))
		return DECODE_OTHER;
	if ((arp[8] & 1) || !memcmp(arp + 8, zero, sizeof(zero)))
		return DECODE_OTHER;
	d->src = be32(arp + 14);
	d->dst = be32(arp + 24);
	return DECODE_ARP_REQUEST;
}

void decode(const uint8_t *frame, size_t len, struct decoded *d)
{
	uint32_t type;

	*d = (struct decoded){ .kind = DECODE_OTHER };
	if (len < DECODE_ETH_LEN)
		return;
	memcpy(d->src_mac, frame + 6, 6);
	type = be16(frame + 12);
	if (__builtin_expect(type == 0x0800, 1))
		d->kind = decode_ipv4(frame + DECODE_ETH_LEN, len - DECODE_ETH_LEN, d);
	else if (type == 0x0806)
		d->kind = decode_arp(frame + DECODE_ETH_LEN, len - DECODE_ETH_LEN, d);
}
