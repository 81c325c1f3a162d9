// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode.h"

#include "ether.h"

#define likely(x) __builtin_expect(!!(x), 1)
/* What is not IPv4 and UDP stays out of the way of what is. */
#define ASIDE  __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))

enum {
	DECODE_ARP_LEN = 28,
	DECODE_IPV4_LEN = 20, /* without options */
	DECODE_IPV6_LEN = 40,
	DECODE_UDP_LEN = 8,
	DECODE_TCP_LEN = 20, /* without options */
	DECODE_ICMP_LEN = 8,
	DECODE_SOLICIT_LEN = 24, /* without options */
};

enum {
	DECODE_HOP_BY_HOP = 0,
	DECODE_ICMPV4 = 1,
	DECODE_TCP = 6,
	DECODE_UDP = 17,
	DECODE_ICMPV6 = 58,
	DECODE_DST_OPTIONS = 60,
};

enum {
	DECODE_ECHO = 8,
	DECODE_ECHO6 = 128,
	DECODE_SOLICIT = 135,
};

/* What IP carries. */
struct payload {
	const uint8_t *at;
	size_t len; /* by the IP header */
	size_t here; /* bytes that can be read, at most len */
	const uint8_t *addresses; /* source and destination, for the checksum */
	unsigned int protocol;
};

static inline uint32_t be32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return be32toh(v);
}

static inline uint64_t be64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return be64toh(v);
}

/* Of a datagram of @total bytes, those that can be read; 0 if the wire had not so many either. */
static inline size_t readable(size_t total, size_t len, size_t wire_len)
{
	if (likely(total <= len))
		return total;
	return total <= wire_len ? len : 0;
}

/* --- checksums (RFC 1071) --------------------------------------------------------------------- */

/*
 * Data with its checksum is right if the one's complement sum is all ones. That sum depends neither
 * on the byte order nor on the size of the words: they are added eight bytes at a time as they lie
 * in memory, and each carry goes back in at the bottom.
 */
static inline uint64_t sum_add(uint64_t sum, uint64_t v)
{
	sum += v;
	return sum + (sum < v);
}

static inline bool sum_right(uint64_t sum)
{
	uint32_t half = (uint32_t)sum;
	uint16_t quarter;

	half += (uint32_t)(sum >> 32);
	half += half < (uint32_t)(sum >> 32);
	quarter = (uint16_t)(half + (half >> 16));
	quarter = (uint16_t)(quarter + (quarter < half >> 16));
	return quarter == 0xffff;
}

static inline uint64_t sum_bytes(uint64_t sum, const uint8_t *at, size_t len)
{
	uint64_t v = 0;

	for (; len >= 8; len -= 8, at += 8) {
		memcpy(&v, at, 8);
		sum = sum_add(sum, v);
	}
	v = 0;
	if (len & 4)
		memcpy(&v, at, 4);
	sum = sum_add(sum, v);
	v = 0;
	if (len & 2)
		memcpy(&v, at + (len & 4), 2);
	sum = sum_add(sum, v);
	v = 0;
	if (len & 1)
		memcpy(&v, at + (len & 6), 1);
	return sum_add(sum, v);
}

/* The first @len bytes of the payload, with its pseudo header; true if they are not all here. */
static bool payload_right(struct payload p, size_t len, const struct decoded *d)
{
	uint64_t sum = 0;

	if (len > p.here)
		return true;
	if (p.protocol != DECODE_ICMPV4) {
		sum = (uint64_t)htobe16((uint16_t)p.protocol) + htobe16((uint16_t)len);
		sum = sum_bytes(sum, p.addresses, d->family_is_v6 ? 32 : 8);
	}
	return sum_right(sum_bytes(sum, p.at, len));
}

/* --- layer 4 ---------------------------------------------------------------------------------- */

/* With a probe in its payload, and a checksum over the first @len bytes. */
static ASIDE void decode_checked(struct payload p, size_t len, struct decoded *d)
{
	d->kind = payload_right(p, len, d) ? DECODE_PROBE : DECODE_BAD_CSUM;
}

static INLINE void decode_udp(struct payload p, struct decoded *d)
{
	size_t len;

	if (p.here < DECODE_UDP_LEN + PROBE_LEN)
		return;
	len = ether_be16(p.at + 4);
	if (len > p.len || len < DECODE_UDP_LEN + PROBE_LEN)
		return;
	if (probe_decode(p.at + DECODE_UDP_LEN, &d->probe))
		return;
	/* Over IPv6 zero is no "none", and as a checksum always wrong. */
	if (ether_be16(p.at + 6) || d->family_is_v6)
		decode_checked(p, len, d);
	else
		d->kind = DECODE_PROBE;
}

static ASIDE void decode_tcp(struct payload p, struct decoded *d)
{
	size_t header;

	if (p.here < DECODE_TCP_LEN)
		return;
	header = (size_t)(p.at[12] >> 4) * 4;
	if (header < DECODE_TCP_LEN || p.here < header + PROBE_LEN)
		return;
	if (!probe_decode(p.at + header, &d->probe))
		decode_checked(p, p.len, d);
}

/*
 * The options of a solicitation, each a type, a length in units of 8 bytes, and the rest. Asked
 * without an address (@anonymous), it must not give a link-layer address (type 1); the one it gives
 * otherwise is where the answer goes.
 */
static bool solicit_options(const uint8_t *at, size_t len, bool anonymous)
{
	size_t option;

	for (; len >= 2; at += option, len -= option) {
		option = (size_t)at[1] * 8;
		if (!option || option > len)
			return false;
		if (at[0] == 1 && (anonymous || !ether_is_station(at + 2)))
			return false;
	}
	return !len;
}

/* RFC 4861 7.1.1. */
static bool solicit_valid(struct payload p, const struct decoded *d)
{
	static const uint8_t solicited_node[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
	static const uint8_t unspecified[16];
	const uint8_t *target = p.at + 8;
	bool anonymous = !(d->src.hi | d->src.lo);

	if (d->ttl != 255 || d->icmp_code || p.len < DECODE_SOLICIT_LEN || p.here < p.len)
		return false;
	if (target[0] == 0xff || !memcmp(target, unspecified, sizeof(unspecified)))
		return false;
	if (anonymous && memcmp(p.addresses + 16, solicited_node, sizeof(solicited_node)))
		return false;
	return solicit_options(p.at + DECODE_SOLICIT_LEN, p.len - DECODE_SOLICIT_LEN, anonymous);
}

static ASIDE void decode_icmp(struct payload p, struct decoded *d)
{
	if (p.here < DECODE_ICMP_LEN)
		return;
	d->icmp_type = p.at[0];
	d->icmp_code = p.at[1];
	if (!payload_right(p, p.len, d))
		d->kind = DECODE_BAD_CSUM;
	else if (d->icmp_type == (d->family_is_v6 ? DECODE_ECHO6 : DECODE_ECHO) && !d->icmp_code &&
		 p.here >= DECODE_ICMP_LEN + PROBE_LEN &&
		 !probe_decode(p.at + DECODE_ICMP_LEN, &d->probe))
		d->kind = DECODE_PROBE;
	else
		d->kind = DECODE_ICMP;
}

static ASIDE void decode_icmp6(struct payload p, struct decoded *d)
{
	decode_icmp(p, d);
	/* Right behind the addresses, so that who answers it need not look for it. */
	if (d->kind != DECODE_ICMP || d->icmp_type != DECODE_SOLICIT || p.at != p.addresses + 32 ||
	    !solicit_valid(p, d))
		return;
	d->dst = (struct addr){be64(p.at + 8), be64(p.at + 16)};
	d->kind = DECODE_ND_SOLICIT;
}

/* --- layer 3: @len bytes can be read, the wire had @wire_len, padding included -----------------
 */

/* With a header of @header bytes. */
static INLINE void decode_ipv4_behind(const uint8_t *ip, size_t header, size_t len, size_t wire_len,
				      struct decoded *d)
{
	struct payload p = {.at = ip + header, .addresses = ip + 12, .protocol = ip[9]};
	size_t total = ether_be16(ip + 2), here = readable(total, len, wire_len);

	d->src.lo = be32(ip + 12);
	d->dst.lo = be32(ip + 16);
	d->ttl = ip[8];
	/* Before anything else is believed, the length included. */
	if (!sum_right(sum_bytes(0, ip, header))) {
		d->kind = DECODE_BAD_CSUM;
		return;
	}
	if (here < header)
		return;
	if (ether_be16(ip + 6) & 0x3fff) /* more fragments, or an offset */
		return;
	p.len = total - header;
	p.here = here - header;
	if (likely(p.protocol == DECODE_UDP))
		decode_udp(p, d);
	else if (p.protocol == DECODE_TCP)
		decode_tcp(p, d);
	else if (p.protocol == DECODE_ICMPV4)
		decode_icmp(p, d);
}

static ASIDE void decode_ipv4_options(const uint8_t *ip, size_t len, size_t wire_len,
				      struct decoded *d)
{
	size_t header = (size_t)(ip[0] & 15) * 4;

	if (ip[0] >> 4 == 4 && header >= DECODE_IPV4_LEN && header <= len)
		decode_ipv4_behind(ip, header, len, wire_len, d);
}

static INLINE void decode_ipv4(const uint8_t *ip, size_t len, size_t wire_len, struct decoded *d)
{
	if (len < DECODE_IPV4_LEN)
		return;
	if (likely(ip[0] == 0x45)) /* no options: compiled for this length of the header */
		decode_ipv4_behind(ip, DECODE_IPV4_LEN, len, wire_len, d);
	else
		decode_ipv4_options(ip, len, wire_len, d);
}

/* Go past the extension headers that may be between. */
static void skip_options(struct payload *p)
{
	size_t header;

	while (p->protocol == DECODE_HOP_BY_HOP || p->protocol == DECODE_DST_OPTIONS) {
		header = p->here < 2 ? SIZE_MAX : 8 + (size_t)p->at[1] * 8;
		if (header > p->here) {
			p->here = 0;
			return;
		}
		p->protocol = p->at[0];
		p->at += header;
		p->len -= header;
		p->here -= header;
	}
}

static ASIDE void decode_ipv6(const uint8_t *ip, size_t len, size_t wire_len, struct decoded *d)
{
	struct payload p = {.at = ip + DECODE_IPV6_LEN, .addresses = ip + 8};

	if (len < DECODE_IPV6_LEN || ip[0] >> 4 != 6)
		return;
	d->family_is_v6 = 1;
	d->src = (struct addr){be64(ip + 8), be64(ip + 16)};
	d->dst = (struct addr){be64(ip + 24), be64(ip + 32)};
	d->ttl = ip[7];
	p.len = ether_be16(ip + 4);
	p.here = readable(p.len, len - DECODE_IPV6_LEN, wire_len - DECODE_IPV6_LEN);
	p.protocol = ip[6];
	skip_options(&p);
	if (p.protocol == DECODE_UDP)
		decode_udp(p, d);
	else if (p.protocol == DECODE_TCP)
		decode_tcp(p, d);
	else if (p.protocol == DECODE_ICMPV6)
		decode_icmp6(p, d);
}

static ASIDE void decode_arp(const uint8_t *arp, size_t len, struct decoded *d)
{
	static const uint8_t request[8] = {0, 1, 0x08, 0x00, 6, 4, 0, 1};

	if (len < DECODE_ARP_LEN || memcmp(arp, request, sizeof(request)))
		return;
	if (!ether_is_station(arp + 8))
		return;
	d->src.lo = be32(arp + 14);
	d->dst.lo = be32(arp + 24);
	d->kind = DECODE_ARP_REQUEST;
}

/* --- Ethernet --------------------------------------------------------------------------------- */

static INLINE void decode_l3(uint32_t type, const uint8_t *at, size_t len, size_t wire_len,
			     struct decoded *d)
{
	if (likely(type == ETHER_IPV4))
		decode_ipv4(at, len, wire_len, d);
	else if (type == ETHER_ARP)
		decode_arp(at, len, d);
	else if (type == ETHER_IPV6)
		decode_ipv6(at, len, wire_len, d);
}

static ASIDE void decode_tagged(const uint8_t *frame, size_t len, size_t wire_len,
				struct decoded *d)
{
	size_t at = ETHER_LEN;

	for (; ether_is_tag(ether_be16(frame + at - 2)); at += ETHER_TAG_LEN) {
		if (d->nr_vlans == ETHER_TAGS_MAX || len < at + ETHER_TAG_LEN)
			return;
		d->vlans[d->nr_vlans++] = (uint16_t)(ether_be16(frame + at) & 0xfff);
	}
	decode_l3(ether_be16(frame + at - 2), frame + at, len - at, wire_len - at, d);
}

void decode_part(const uint8_t *frame, size_t len, size_t wire_len, struct decoded *d)
{
	uint32_t type;

	*d = (struct decoded){.kind = DECODE_OTHER};
	if (len < ETHER_LEN)
		return;
	type = ether_be16(frame + 12);
	if (!likely(type == ETHER_IPV4) && ether_is_tag(type))
		decode_tagged(frame, len, wire_len, d);
	else
		decode_l3(type, frame + ETHER_LEN, len - ETHER_LEN, wire_len - ETHER_LEN, d);
}
