// SPDX-License-Identifier: GPL-2.0-or-later
/* Any frame, and the same with its IPv4 header checksum mended, which a mutation rarely is. */
#include <stdlib.h>
#include <string.h>

#include "lib/arp.h"
#include "lib/decode.h"

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

/* The sum that a right header has is 0xffff. */
static uint32_t header_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += be16_at(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void check_ipv4(const uint8_t *frame, size_t size, const struct decoded *d)
{
	const uint8_t *ip = frame + 14;

	check(size >= 34 && be16_at(frame + 12) == 0x0800 && ip[0] >> 4 == 4);
	check(14 + (ip[0] & 15u) * 4 <= size);
	check(d->src.lo == be32_at(ip + 12) && d->dst.lo == be32_at(ip + 16) && d->ttl == ip[8]);
	check((header_sum(ip) == 0xffff) == (d->kind != DECODE_BAD_CSUM));
	if (d->kind != DECODE_BAD_CSUM)
		check(be16_at(ip + 2) <= size - 14 && !(be16_at(ip + 6) & 0x3fff));
}

/* What was read, written again, is what was there. */
static void check_probe(const uint8_t *frame, size_t size, const struct decoded *d)
{
	size_t at = 14 + (frame[14] & 15u) * 4 + 8;
	uint8_t again[PROBE_LEN];

	check(frame[23] == 17 && at + PROBE_LEN <= size);
	check(d->probe.seq <= PROBE_SEQ_MAX);
	probe_encode(again, &d->probe);
	check(!memcmp(again, frame + at, PROBE_LEN));
}

/* The answer goes to the asker, is itself no request, and as a request would ask for the asker. */
static void check_arp(const uint8_t *frame, const struct decoded *d)
{
	uint8_t mac[6], reply[ARP_FRAME_LEN], place[ARP_FRAME_LEN];
	struct decoded back;
	size_t len;

	arp_mac_of((uint32_t)d->dst.lo, mac);
	len = arp_reply(frame, reply, mac);
	check(len == (!d->src.lo || d->src.lo == d->dst.lo ? 0 : ARP_FRAME_LEN));
	memcpy(place, frame, 42);
	check(arp_reply(place, place, mac) == len);
	if (!len)
		return;
	check(!memcmp(place, reply, len));
	check(!memcmp(reply, frame + 22, 6) && !memcmp(reply + 6, mac, 6));
	decode(reply, len, &back);
	check(back.kind == DECODE_OTHER);
	reply[21] = 1;
	decode(reply, len, &back);
	check(back.kind == DECODE_ARP_REQUEST && back.src.lo == d->dst.lo && back.dst.lo == d->src.lo);
}

static void one(const uint8_t *frame, size_t size)
{
	struct decoded d;

	memset(&d, 0xee, sizeof(d));
	decode(frame, size, &d);
	switch (d.kind) {
	case DECODE_OTHER:
		break;
	case DECODE_PROBE:
		check_probe(frame, size, &d);
		check_ipv4(frame, size, &d);
		break;
	case DECODE_ICMP:
	case DECODE_BAD_CSUM:
		check_ipv4(frame, size, &d);
		break;
	case DECODE_ARP_REQUEST:
		check(size >= 42 && be16_at(frame + 12) == 0x0806);
		check_arp(frame, &d);
		break;
	default:
		abort();
	}
}

/* A copy of just that size, so that reading past it is seen. NULL if there is no whole header. */
static uint8_t *mend(const uint8_t *data, size_t size)
{
	uint8_t *frame;
	uint32_t csum;

	if (size < 34 || (data[14] & 15) < 5 || 14 + (data[14] & 15u) * 4 > size)
		return NULL;
	frame = malloc(size);
	if (!frame)
		return NULL;
	memcpy(frame, data, size);
	memset(frame + 24, 0, 2);
	csum = ~header_sum(frame + 14);
	frame[24] = (uint8_t)(csum >> 8);
	frame[25] = (uint8_t)csum;
	return frame;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended;

	if (size > FRAME_MAX)
		return 0;
	one(data, size);
	mended = mend(data, size);
	if (mended)
		one(mended, size);
	free(mended);
	return 0;
}
