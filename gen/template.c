// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/template.h"

#include <arpa/inet.h>

#include "lib/probe.h"
#include "lib/simd.h"

enum {
	AT_ETH_TYPE = 12,
	AT_IP = 14,
	AT_UDP = 34,
	AT_PROBE_PAYLOAD = 42,
	IP_LEN = 46,  /* header 20, UDP 8, probe 18 */
	UDP_LEN = 26,
};

_Static_assert(AT_PROBE_PAYLOAD + PROBE_LEN == TEMPLATE_LEN, "the probe ends the frame");

static void put16(uint8_t *at, uint16_t v)
{
	v = htons(v);
	memcpy(at, &v, 2);
}

static uint32_t sum_words(const uint8_t *at, unsigned int bytes)
{
	uint32_t sum = 0;
	uint16_t word;

	for (unsigned int i = 0; i < bytes; i += 2) {
		memcpy(&word, at + i, 2);
		sum += word;
	}
	return sum;
}

void template_init(struct template *t, const struct template_fields *f, uint32_t tag)
{
	struct probe probe = { .stream = f->stream, .shard = f->shard };
	uint8_t *at = t->frame;

	memset(t, 0, sizeof(*t));
	t->tag = tag;
	memcpy(at, f->dst_mac, 6);
	memcpy(at + 6, f->src_mac, 6);
	put16(at + AT_ETH_TYPE, 0x0800);
	at[AT_IP] = 0x45;
	put16(at + AT_IP + 2, IP_LEN);
	put16(at + AT_IP + 6, 0x4000); /* don't fragment: id 0 is then valid (RFC 6864) */
	at[AT_IP + 8] = f->ttl;
	at[AT_IP + 9] = IPPROTO_UDP;
	put16(at + AT_UDP, f->src_port);
	put16(at + AT_UDP + 2, f->dst_port);
	put16(at + AT_UDP + 4, UDP_LEN);
	probe_encode(at + AT_PROBE_PAYLOAD, &probe);

	/* Ones' complement sums do not depend on byte order (RFC 1071), so words stay as they lie. */
	t->partial = sum_words(at + AT_IP, 20);
	memcpy(&t->ip_head, at + TEMPLATE_AT_IP, 8);
	t->probe_head = (uint64_t)f->stream << 56 | (uint64_t)f->shard << 48;
}

static inline __attribute__((always_inline)) uint32_t checksum(uint32_t partial, uint32_t src,
							       uint32_t dst)
{
	uint32_t sum = partial + (src & 0xffff) + (src >> 16) + (dst & 0xffff) + (dst >> 16);

	/* At most 14 words: one fold leaves at most 0x1000d, the next nothing to carry. */
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

SIMD_CLONES
void template_fill(const struct template *t, struct batch *b, unsigned int n)
{
	uint64_t ip_head = t->ip_head, seq = t->probe_head + b->seq, step = b->seq_step;
	uint32_t partial = t->partial;

	for (unsigned int k = 0; k < n; k++) {
		uint32_t src = __builtin_bswap32(b->src[k]), dst = __builtin_bswap32(b->dst[k]);

		b->ip[k].lo = ip_head | (uint64_t)checksum(partial, src, dst) << 48;
		b->ip[k].hi = src | (uint64_t)dst << 32;
	}
	for (unsigned int k = 0; k < n; k++) {
		b->probe[k].lo = __builtin_bswap64(seq + k * step);
		b->probe[k].hi = __builtin_bswap64(b->due_ns[k]);
	}
}
