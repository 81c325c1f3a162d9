// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any frame, whole or as a part of a longer one, and the same with its checksums mended, which a
 * mutation rarely leaves right. What decode() says must agree with a slower reading of the bytes;
 * what can be answered is, and the answer must read as one.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arp.h"
#include "lib/decode.h"
#include "lib/nd.h"

#define FRAME_MAX 2048u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static uint32_t be16_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t be32_at(const uint8_t *at)
{
	return be16_at(at) << 16 | be16_at(at + 2);
}

static int same(struct addr a, struct addr b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

/* --- a slower reading ------------------------------------------------------------------------- */

/* Where things are in a frame; valid if family is not 0. */
struct layout {
	unsigned int family, protocol, tags;
	size_t l3, l4; /* offsets */
	size_t len; /* of layer 4, by the IP header */
	int fragment;
};

static struct layout layout_of(const uint8_t *f, size_t size)
{
	struct layout l = {.l3 = 14};

	while (l.l3 <= size &&
	       (be16_at(f + l.l3 - 2) == 0x8100 || be16_at(f + l.l3 - 2) == 0x88a8)) {
		l.l3 += 4;
		l.tags++;
	}
	if (l.tags > 2 || l.l3 > size)
		return (struct layout){0};
	if (be16_at(f + l.l3 - 2) == 0x0800 && size >= l.l3 + 20 && f[l.l3] >= 0x45 &&
	    f[l.l3] < 0x50) {
		l.l4 = l.l3 + (f[l.l3] & 15u) * 4;
		l.family = 4;
		l.protocol = f[l.l3 + 9];
		l.fragment = be16_at(f + l.l3 + 6) & 0x3fff;
		l.len = be16_at(f + l.l3 + 2) - (l.l4 - l.l3); /* may wrap */
	}
	if (be16_at(f + l.l3 - 2) == 0x86dd && size >= l.l3 + 40 && f[l.l3] >> 4 == 6) {
		l.l4 = l.l3 + 40;
		l.family = 6;
		l.protocol = f[l.l3 + 6];
		l.len = be16_at(f + l.l3 + 4);
		while ((l.protocol == 0 || l.protocol == 60) && l.l4 + 2 <= size) {
			size_t header = 8 + f[l.l4 + 1] * 8u;

			l.protocol = f[l.l4];
			l.l4 += header;
			l.len -= header;
		}
	}
	return l.l4 <= size ? l : (struct layout){0};
}

static uint32_t add_up(uint32_t sum, const uint8_t *at, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += be16_at(at + i);
	if (len & 1)
		sum += (uint32_t)at[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* 0xffff if the checksum over @len bytes of layer 4 is right. */
static uint32_t l4_sum(const uint8_t *f, const struct layout *l, size_t len)
{
	uint32_t sum = 0;

	if (l->protocol != 1)
		sum = add_up(l->protocol + (uint32_t)len, f + l->l3 + (l->family == 4 ? 12 : 8),
			     l->family == 4 ? 8 : 32);
	return add_up(sum, f + l->l4, len);
}

static uint32_t ip_sum(const uint8_t *f, const struct layout *l)
{
	return add_up(0, f + l->l3, l->l4 - l->l3);
}

static struct addr addr_at(const uint8_t *at)
{
	return (struct addr){(uint64_t)be32_at(at) << 32 | be32_at(at + 4),
			     (uint64_t)be32_at(at + 8) << 32 | be32_at(at + 12)};
}

/* --- what decode() said ----------------------------------------------------------------------- */

static void check_header(const uint8_t *f, const struct layout *l, const struct decoded *d)
{
	check(l->family != 0 && d->family_is_v6 == (l->family == 6));
	if (l->family == 4) {
		check(d->src.lo == be32_at(f + l->l3 + 12) && d->ttl == f[l->l3 + 8]);
		check(d->dst.lo == be32_at(f + l->l3 + 16) && !d->src.hi && !d->dst.hi);
		if (d->kind != DECODE_BAD_CSUM)
			check(ip_sum(f, l) == 0xffff);
		return;
	}
	check(same(d->src, addr_at(f + l->l3 + 8)) && d->ttl == f[l->l3 + 7]);
	if (d->kind != DECODE_ND_SOLICIT)
		check(same(d->dst, addr_at(f + l->l3 + 24)));
}

/* What was read, written again, is what was there; the checksum is right, if all of it is there. */
static void check_probe(const uint8_t *f, size_t size, const struct layout *l,
			const struct decoded *d)
{
	uint8_t again[PROBE_LEN];
	size_t at = l->l4 + 8, len = l->len;

	check(!l->fragment);
	if (l->protocol == 6)
		at = l->l4 + (f[l->l4 + 12] >> 4) * 4u;
	else if (l->protocol == 17)
		len = be16_at(f + l->l4 + 4);
	else
		check(f[l->l4] == (l->family == 4 ? 8 : 128));
	check(at + PROBE_LEN <= size && at + PROBE_LEN <= l->l4 + len && len <= l->len);
	check(d->probe.seq <= PROBE_SEQ_MAX);
	probe_encode(again, &d->probe);
	check(!memcmp(again, f + at, PROBE_LEN));
	if (l->l4 + len <= size &&
	    !(l->protocol == 17 && l->family == 4 && !be16_at(f + l->l4 + 6)))
		check(l4_sum(f, l, len) == 0xffff);
}

static void check_bad(const uint8_t *f, const struct layout *l)
{
	size_t len = l->len;

	if (l->family == 4 && ip_sum(f, l) != 0xffff)
		return;
	if (l->protocol == 17)
		len = be16_at(f + l->l4 + 4);
	check(l->protocol == 17 || l->protocol == 6 || l->protocol == (l->family == 4 ? 1 : 58));
	check(l4_sum(f, l, len) != 0xffff || (l->protocol == 17 && !be16_at(f + l->l4 + 6)));
}

/* The answer goes to the asker, is itself no request, and as a request would ask for the asker. */
static void check_arp(const uint8_t *f, const struct decoded *d)
{
	uint8_t mac[6], reply[ARP_FRAME_MAX], place[ARP_FRAME_MAX];
	size_t tags = d->nr_vlans * 4u, len;
	struct decoded back;

	check(be16_at(f + 12 + tags) == 0x0806);
	arp_mac_of((uint32_t)d->dst.lo, mac);
	len = arp_reply(f, reply, mac);
	check(len == (!d->src.lo || d->src.lo == d->dst.lo ? 0 : ARP_FRAME_LEN + tags));
	memcpy(place, f, 42 + tags);
	check(arp_reply(place, place, mac) == len);
	if (!len)
		return;
	check(!memcmp(place, reply, len) && !memcmp(reply + 12, f + 12, 2 + tags));
	check(!memcmp(reply, f + 22 + tags, 6) && !memcmp(reply + 6, mac, 6));
	decode(reply, len, &back);
	check(back.kind == DECODE_OTHER);
	reply[21 + tags] = 1;
	decode(reply, len, &back);
	check(back.kind == DECODE_ARP_REQUEST && back.nr_vlans == d->nr_vlans);
	check(same(back.src, d->dst) && same(back.dst, d->src));
}

/* The answer is from the target to the asker and right in its checksum. */
static void check_nd(const uint8_t *f, const struct layout *l, const struct decoded *d)
{
	uint8_t mac[6], reply[ND_FRAME_MAX];
	struct decoded back;
	size_t len, tags = l->tags * 4u;

	check(d->ttl == 255 && l->l4 == l->l3 + 40 && f[l->l4] == 135);
	check(same(d->dst, addr_at(f + l->l4 + 8)) && d->dst.hi >> 56 != 0xff);
	nd_mac_of(d->dst, mac);
	len = nd_reply(f, reply, mac);
	if (!(d->src.hi | d->src.lo) || same(d->src, d->dst))
		check(!len);
	if (!len)
		return;
	check(len == ND_FRAME_LEN + tags && !memcmp(reply + 12, f + 12, 2 + tags));
	check(!(reply[0] & 1) && !memcmp(reply + 6, mac, 6));
	decode(reply, len, &back);
	check(back.kind == DECODE_ICMP && back.icmp_type == 136 && back.ttl == 255);
	check(same(back.src, d->dst) && same(back.dst, d->src) && back.nr_vlans == d->nr_vlans);
}

/* @size bytes of a frame of @wire. */
static void one(const uint8_t *f, size_t size, size_t wire)
{
	struct layout l = layout_of(f, size);
	struct decoded d;

	memset(&d, 0xee, sizeof(d));
	decode_part(f, size, wire, &d);
	switch (d.kind) {
	case DECODE_OTHER:
		return;
	case DECODE_ARP_REQUEST:
		check_arp(f, &d);
		return;
	case DECODE_PROBE:
		check_probe(f, size, &l, &d);
		break;
	case DECODE_ND_SOLICIT:
		check_nd(f, &l, &d);
		break;
	case DECODE_BAD_CSUM:
		check_bad(f, &l);
		break;
	case DECODE_ICMP:
		check(d.icmp_type == f[l.l4] && d.icmp_code == f[l.l4 + 1] && !l.fragment);
		break;
	default:
		abort();
	}
	check(d.nr_vlans == l.tags);
	for (unsigned int i = 0; i < l.tags; i++)
		check(d.vlans[i] == (be16_at(f + 14 + 4 * i) & 0xfff));
	check_header(f, &l, &d);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void put_csum(uint8_t *at, uint32_t sum)
{
	at[0] = (uint8_t)(~sum >> 8);
	at[1] = (uint8_t)~sum;
}

/* Make right what checksums there are. Returns 0 if there is none. */
static int mend(uint8_t *f, size_t size)
{
	struct layout l = layout_of(f, size);
	size_t at = l.protocol == 6 ? 16 : l.protocol == 17 ? 6 : 2, len = l.len;

	if (!l.family)
		return 0;
	if (l.family == 4) {
		memset(f + l.l3 + 10, 0, 2);
		put_csum(f + l.l3 + 10, ip_sum(f, &l));
	}
	if (l.protocol == 17 && l.l4 + 8 <= size)
		len = be16_at(f + l.l4 + 4);
	if (len > size - l.l4 || at + 2 > len)
		return 1;
	memset(f + l.l4 + at, 0, 2);
	put_csum(f + l.l4 + at, l4_sum(f, &l, len));
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended;

	if (size > FRAME_MAX)
		return 0;
	one(data, size, size);
	one(data, size, size + 1500);
	mended = malloc(size); /* of its exact size: a read past it is seen */
	if (!mended || !size) {
		free(mended);
		return 0;
	}
	memcpy(mended, data, size);
	if (mend(mended, size)) {
		one(mended, size, size);
		one(mended, size, size + 1500);
	}
	free(mended);
	return 0;
}
