/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe: 18 bytes of UDP payload, which is what a 64-byte Ethernet frame leaves after
 * Ethernet (14), IPv4 (20), UDP (8) and FCS (4). All fields big-endian on the wire.
 *
 *	0	magic		2	PROBE_MAGIC
 *	2	stream		1	number of the stream in the scenario
 *	3	shard		1	shard of the generator
 *	4	seq		6	packet number in (stream, shard), from 0
 *	10	due_ns		8	intended send time, CLOCK_MONOTONIC of the generator's host
 */
#ifndef LIB_PROBE_H
#define LIB_PROBE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PROBE_MAGIC   0xd57au
#define PROBE_LEN     18u
#define PROBE_SEQ_MAX ((UINT64_C(1) << 48) - 1)

struct probe {
	uint8_t stream, shard;
	uint64_t seq;
	uint64_t due_ns;
};

static inline void probe_encode(uint8_t *at, const struct probe *p)
{
	uint64_t w = htobe64((uint64_t)PROBE_MAGIC << 48 | (uint64_t)p->stream << 40 |
			     (uint64_t)p->shard << 32 | p->seq >> 16);
	uint16_t low = htobe16((uint16_t)p->seq);
	uint64_t due = htobe64(p->due_ns);

	memcpy(at, &w, 8);
	memcpy(at + 8, &low, 2);
	memcpy(at + 10, &due, 8);
}

/* @at: PROBE_LEN bytes. Returns 0, or -1 if the magic is another. */
static inline int probe_decode(const uint8_t *at, struct probe *p)
{
	uint64_t w, due;
	uint16_t low;

	memcpy(&w, at, 8);
	memcpy(&low, at + 8, 2);
	memcpy(&due, at + 10, 8);
	w = be64toh(w);
	if (w >> 48 != PROBE_MAGIC)
		return -1;
	p->stream = (uint8_t)(w >> 40);
	p->shard = (uint8_t)(w >> 32);
	p->seq = (w & 0xffffffffu) << 16 | be16toh(low);
	p->due_ns = be64toh(due);
	return 0;
}

#endif
