// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/guest/mon-frames.h"

#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

enum { ETH = 14, IP6 = 40, AT_ICMP6 = ETH + IP6, NEXT_UDP = 17, NEXT_TCP = 6, NEXT_ICMP6 = 58 };

static void frames_put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint16_t frames_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The sum over addresses, length, next header and payload of an IPv6 packet (RFC 8200, 8.1). */
static uint16_t frames_sum6(const uint8_t *ip)
{
	unsigned len = frames_get16(ip + 4);
	uint32_t sum = len + ip[6];

	for (unsigned i = 8; i < IP6 + len; i += 2)
		sum += i + 1 < IP6 + len ? frames_get16(ip + i) : (uint32_t)ip[i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void frames_ip6(uint8_t *f, unsigned payload, uint8_t next, uint8_t hops)
{
	frames_put16(f + 12, 0x86dd);
	f[ETH] = 0x60;
	frames_put16(f + ETH + 4, payload);
	f[ETH + 6] = next;
	f[ETH + 7] = hops;
}

/* Unicast and local, a function of the address. */
static void frames_mac(const uint8_t *addr, uint8_t mac[6])
{
	uint32_t h = 0x811c9dc5u;

	for (int i = 0; i < 16; i++)
		h = (h ^ addr[i]) * 0x01000193u;
	mac[0] = 2;
	mac[1] = 0xd6;
	memcpy(mac + 2, &h, sizeof(h));
}

size_t frames_probe6(uint8_t *f, const struct frames_probe6 *p, const uint8_t dst_mac[6])
{
	static const struct {
		uint8_t next;
		unsigned len, sum_at;
	} kinds[] = {
		[FRAMES_UDP] = {NEXT_UDP, 26, 6},
		[FRAMES_ECHO] = {NEXT_ICMP6, 26, 2},
		[FRAMES_SYN] = {NEXT_TCP, 20, 16},
		[FRAMES_UNKNOWN_PROTO] = {253, 26, 6},
	};
	unsigned len = kinds[p->kind].len;
	uint8_t *l4 = f + AT_ICMP6;

	memset(f, 0, FRAMES_LEN_MAX);
	memcpy(f, dst_mac, 6);
	frames_mac(p->src.s6_addr, f + 6);
	frames_ip6(f, len, kinds[p->kind].next, p->hops);
	memcpy(f + ETH + 8, &p->src, 16);
	memcpy(f + ETH + 24, &p->dst, 16);
	l4[1] = l4[3] = 9; /* discard */
	if (p->kind == FRAMES_UDP)
		l4[5] = 26;
	if (p->kind == FRAMES_SYN)
		frames_put16(l4 + 12, 0x5002);
	if (p->kind == FRAMES_ECHO)
		frames_put16(l4, 0x8000);
	frames_put16(l4 + kinds[p->kind].sum_at, 0);
	frames_put16(l4 + kinds[p->kind].sum_at,
		     frames_sum6(f + ETH) ^ (p->bad_checksum ? 0x0101 : 0));
	return AT_ICMP6 + len;
}

bool frames_solicit(const uint8_t *f, size_t len, struct in6_addr *target)
{
	static const uint8_t unspecified[16];

	if (len < AT_ICMP6 + 24 || frames_get16(f + 12) != 0x86dd || f[ETH + 6] != NEXT_ICMP6 ||
	    f[ETH + 7] != 255 || f[AT_ICMP6] != 135 || !memcmp(f + ETH + 8, unspecified, 16))
		return false;
	memcpy(target, f + AT_ICMP6 + 8, 16);
	return true;
}

size_t frames_advert(const uint8_t *ask, uint8_t *f)
{
	uint8_t *icmp = f + AT_ICMP6;

	memset(f, 0, FRAMES_LEN_MAX);
	memcpy(f, ask + 6, 6);
	frames_mac(ask + AT_ICMP6 + 8, f + 6);
	frames_ip6(f, 32, NEXT_ICMP6, 255);
	memcpy(f + ETH + 8, ask + AT_ICMP6 + 8, 16);
	memcpy(f + ETH + 24, ask + ETH + 8, 16);
	icmp[0] = 136;
	icmp[4] = 0x60; /* solicited, override */
	memcpy(icmp + 8, ask + AT_ICMP6 + 8, 16);
	icmp[24] = 2; /* target link-layer address, 8 bytes */
	icmp[25] = 1;
	memcpy(icmp + 26, f + 6, 6);
	frames_put16(icmp + 2, frames_sum6(f + ETH));
	return AT_ICMP6 + 32;
}

struct in6_addr frames_addr6(const char *text)
{
	struct in6_addr a;

	if (inet_pton(AF_INET6, text, &a) != 1)
		abort();
	return a;
}
