// SPDX-License-Identifier: GPL-2.0-or-later
#include "nd.h"

#include <string.h>

#include "rng.h"

/* Offsets behind the Ethernet type. */
enum {
	ND_SRC = 8,
	ND_DST = 24,
	ND_ICMP = 40,
	ND_CSUM = ND_ICMP + 2,
	ND_FLAGS = ND_ICMP + 4,
	ND_TARGET = ND_ICMP + 8,
	ND_OPTIONS = ND_ICMP + 24,
	ND_END = ND_OPTIONS + 8,
};

enum {
	ND_ADVERTISEMENT = 136,
	ND_SOLICITED = 0x40,
	ND_OVERRIDE = 0x20,
	ND_SOURCE_MAC = 1, /* options */
	ND_TARGET_MAC = 2,
};

static void nd_put64(uint8_t *at, uint64_t v)
{
	v = htobe64(v);
	memcpy(at, &v, 8);
}

void nd_mac_of(struct addr a, uint8_t mac[6])
{
	uint64_t hi = a.hi, x = rng_splitmix64(&hi) ^ a.lo, hash = rng_splitmix64(&x);

	mac[0] = 0x02;
	mac[1] = 0xd6;
	memcpy(mac + 2,
	       (uint8_t[]){(uint8_t)(hash >> 24), (uint8_t)(hash >> 16), (uint8_t)(hash >> 8),
			   (uint8_t)hash},
	       4);
}

/* RFC 1071 over the advertisement and its pseudo header. */
static void nd_checksum(uint8_t *ip)
{
	uint32_t sum = ND_END - ND_ICMP + 58;

	for (size_t i = ND_SRC; i < ND_END; i += 2)
		sum += ether_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	ether_put16(ip + ND_CSUM, ~(sum + (sum >> 16)) & 0xffff);
}

/* Everything but the two addresses of the header: the caller puts them there first. */
static void nd_advertise(uint8_t *ip, uint8_t flags, const uint8_t target[16], const uint8_t mac[6])
{
	static const uint8_t head[8] = {0x60, 0, 0, 0, 0, ND_END - ND_ICMP, 58, 255};

	memcpy(ip, head, sizeof(head));
	memset(ip + ND_ICMP, 0, ND_TARGET - ND_ICMP);
	ip[ND_ICMP] = ND_ADVERTISEMENT;
	ip[ND_FLAGS] = flags;
	memcpy(ip + ND_TARGET, target, 16);
	ip[ND_OPTIONS] = ND_TARGET_MAC;
	ip[ND_OPTIONS + 1] = 1;
	memcpy(ip + ND_OPTIONS + 2, mac, 6);
	nd_checksum(ip);
}

/* The MAC that the request gives as its sender's, or else the one it came from. */
static const uint8_t *nd_asker(const uint8_t *request, const uint8_t *ip)
{
	const uint8_t *end = ip + ND_ICMP + ether_be16(ip + 4);

	for (const uint8_t *o = ip + ND_OPTIONS; o < end; o += 8 * (size_t)o[1]) {
		if (o[0] == ND_SOURCE_MAC)
			return o + 2;
	}
	return request + 6;
}

size_t nd_reply(const uint8_t *request, uint8_t *reply, const uint8_t mac[6])
{
	static const uint8_t unspecified[16];
	size_t at = ETHER_LEN + ether_tags(request);
	const uint8_t *ask = request + at;
	uint8_t asker[6], src[16], target[16], *ip = reply + at;

	memcpy(asker, nd_asker(request, ask), 6);
	memcpy(src, ask + ND_SRC, 16);
	memcpy(target, ask + ND_TARGET, 16);
	if (!memcmp(src, unspecified, 16) || !memcmp(src, target, 16) || !ether_is_station(asker))
		return 0;
	memmove(reply, request, at);
	memcpy(reply, asker, 6);
	memcpy(reply + 6, mac, 6);
	memcpy(ip + ND_SRC, target, 16);
	memcpy(ip + ND_DST, src, 16);
	nd_advertise(ip, ND_SOLICITED | ND_OVERRIDE, target, mac);
	return at + ND_END;
}

size_t nd_announce(uint8_t *frame, struct addr a, const uint8_t mac[6], const uint16_t *vlans,
		   unsigned int nr_vlans)
{
	static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	size_t at = ether_put(frame, all_nodes_mac, mac, vlans, nr_vlans, ETHER_IPV6);
	uint8_t *ip = frame + at, target[16];

	nd_put64(target, a.hi);
	nd_put64(target + 8, a.lo);
	memcpy(ip + ND_SRC, target, 16);
	memcpy(ip + ND_DST, all_nodes, 16);
	nd_advertise(ip, ND_OVERRIDE, target, mac);
	return at + ND_END;
}
