// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/template.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gen/template_parts.h"
#include "lib/probe.h"
#include "lib/simd.h"

enum {
	ETH_8021Q = 0x8100,
	ETH_8021AD = 0x88a8,
	ICMP_ECHO = 8,
	ICMP6_ECHO = 128,
	TCP_WINDOW = 64240,
	TCP_SYN = 0x5002, /* a header of 20 bytes, SYN */
};

/* --- the frame -------------------------------------------------------------------------------- */

static void put_ethernet(uint8_t *at, const struct template_fields *f)
{
	uint32_t nr = f->shape.nr_vlans;

	memcpy(at, f->dst_mac, 6);
	memcpy(at + 6, f->src_mac, 6);
	at += 12;
	for (uint32_t i = 0; i < nr; i++, at += 4) {
		template_put16(at, i + 1 < nr ? ETH_8021AD : ETH_8021Q);
		template_put16(at + 2, f->vlans[i]);
	}
	template_put16(at, f->shape.family == AF_INET6 ? 0x86dd : 0x0800);
}

static void put_ip(uint8_t *ip, const struct template_fields *f, uint8_t protocol, uint16_t len)
{
	if (f->shape.family == AF_INET6) {
		template_put16(ip, (uint16_t)(0x6000 | f->tos << 4));
		template_put16(ip + 4, (uint16_t)(len - 40));
		ip[6] = protocol;
		ip[7] = f->ttl;
		return;
	}
	ip[0] = 0x45;
	ip[1] = f->tos;
	template_put16(ip + 2, len);
	template_put16(ip + 6, 0x4000); /* don't fragment: id 0 is then valid (RFC 6864) */
	ip[8] = f->ttl;
	ip[9] = protocol;
}

/* Ports are no part of it yet: l4_head and tail_head are taken from here. */
static void put_l4(uint8_t *l4, const struct template_fields *f, uint16_t len)
{
	switch (f->shape.protocol) {
	case FRAME_UDP:
		template_put16(l4 + 4, len);
		break;
	case FRAME_TCP_SYN:
		template_put16(l4 + 12, TCP_SYN);
		template_put16(l4 + 14, TCP_WINDOW);
		break;
	case FRAME_ICMP_ECHO:
		l4[0] = f->shape.family == AF_INET6 ? ICMP6_ECHO : ICMP_ECHO;
		break;
	}
}

static uint8_t protocol_of(const struct frame_shape *s)
{
	if (s->protocol == FRAME_UDP)
		return IPPROTO_UDP;
	if (s->protocol == FRAME_TCP_SYN)
		return IPPROTO_TCP;
	return s->family == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
}

static enum template_kind kind_of(const struct template_fields *f)
{
	bool v6 = f->shape.family == AF_INET6;

	if (f->shape.protocol == FRAME_TCP_SYN)
		return v6 ? TEMPLATE_V6_TCP : TEMPLATE_V4_TCP;
	if (v6)
		return TEMPLATE_V6_L4;
	return f->shape.protocol == FRAME_UDP && !f->udp_checksum && !f->ports_vary && !f->resized ?
		       TEMPLATE_V4 : TEMPLATE_V4_L4;
}

static uint64_t number(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return __builtin_bswap64(v);
}

/* What template_fill() needs of the frame at @t->frame, whose L4 is at @l4. */
static void take_heads(struct template *t, const struct template_fields *f, const uint8_t *l4)
{
	const uint8_t *l3 = t->frame + t->at_l3;
	bool udp = f->shape.protocol == FRAME_UDP, icmp = f->shape.protocol == FRAME_ICMP_ECHO;

	if (!t->is_v6) {
		t->partial = template_sum(l3, 20);
		memcpy(&t->ip_head, l3 + 4, 8);
	}
	t->l4_head = number(l4);
	if (!udp && !icmp)
		t->tail_head = number(l4 + 12);
	t->ports_shift = icmp ? 0 : 32;
	t->csum_shift = udp ? 0 : icmp ? 32 : 16;
	t->csum_mask = udp && !t->is_v6 && !f->udp_checksum ? 0 : 0xffff;
	t->csum_zero = udp ? 0xffff : 0;
	t->l4_partial = template_l4_partial(l4, t->frame + t->len, protocol_of(&f->shape));
	t->probe_head = (uint64_t)f->stream << 56 | (uint64_t)f->shard << 48;
}

int template_init(struct template *t, const struct template_fields *f, uint32_t tag)
{
	static const struct probe probe; /* what is not 0 in it is probe_head's */
	uint32_t at_l4 = frame_at_l4(&f->shape);
	uint8_t *l4;

	*t = (struct template){ .kind = kind_of(f), .tag = tag, .len = (uint16_t)(f->len - FRAME_FCS),
				.at_l3 = (uint16_t)frame_at_l3(&f->shape), .resized = f->resized,
				.is_v6 = f->shape.family == AF_INET6 };
	t->frame = calloc(1, t->len);
	if (!t->frame)
		return -ENOMEM;
	l4 = t->frame + at_l4;
	put_ethernet(t->frame, f);
	put_ip(t->frame + t->at_l3, f, protocol_of(&f->shape), (uint16_t)(t->len - t->at_l3));
	put_l4(l4, f, (uint16_t)(t->len - at_l4));
	probe_encode(t->frame + frame_at_probe(&f->shape), &probe);
	take_heads(t, f, l4);
	if (t->kind == TEMPLATE_V4) {
		template_put16(l4, f->src_port);
		template_put16(l4 + 2, f->dst_port);
	}
	return 0;
}

void template_free(struct template *t)
{
	free(t->frame);
	t->frame = NULL;
}

/* --- a burst of them -------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t checksum(uint32_t partial, uint32_t src, uint32_t dst)
{
	uint32_t sum = partial + (src & 0xffff) + (src >> 16) + (dst & 0xffff) + (dst >> 16);

	/* At most 14 words: one fold leaves at most 0x1000d, the next nothing to carry. */
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

INLINE uint64_t halves(uint64_t v)
{
	return (v >> 32) + (v & UINT32_MAX);
}

/* Of a sum of 32-bit numbers, at most 2^16 of them. */
INLINE uint64_t l4_checksum(const struct template *t, uint64_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	return (sum ? sum : t->csum_zero) & t->csum_mask;
}

INLINE void fill_ip4(const struct template *t, struct batch *b, unsigned int from, unsigned int end)
{
	uint64_t ip_head = t->ip_head;
	uint32_t partial = t->partial;

	for (unsigned int k = from; k < end; k++) {
		uint32_t src = __builtin_bswap32(b->src[k]), dst = __builtin_bswap32(b->dst[k]);

		b->ip[k].lo = ip_head | (uint64_t)checksum(partial, src, dst) << 48;
		b->ip[k].hi = src | (uint64_t)dst << 32;
	}
}

INLINE void fill_ip6(struct batch *b, unsigned int from, unsigned int end)
{
	for (unsigned int k = from; k < end; k++) {
		b->ip[k].lo = __builtin_bswap64(b->src_hi[k]);
		b->ip[k].hi = __builtin_bswap64(b->src_lo[k]);
	}
	for (unsigned int k = from; k < end; k++) {
		b->ip2[k].lo = __builtin_bswap64(b->dst_hi[k]);
		b->ip2[k].hi = __builtin_bswap64(b->dst_lo[k]);
	}
}

INLINE void fill_probe(const struct template *t, struct batch *b, unsigned int from, unsigned int end)
{
	uint64_t seq = t->probe_head + b->seq, step = b->seq_step;

	for (unsigned int k = from; k < end; k++) {
		b->probe[k].lo = __builtin_bswap64(seq + k * step);
		b->probe[k].hi = __builtin_bswap64(b->due_ns[k]);
	}
}

INLINE void fill_l4(const struct template *t, struct batch *b, unsigned int from, unsigned int end,
		    bool v6, bool tcp)
{
	const struct template c = *t; /* what is stored cannot alias it */
	uint64_t seq = c.probe_head + b->seq, step = b->seq_step;

	for (unsigned int k = from; k < end; k++) {
		uint64_t sum = c.l4_partial + halves(seq + k * step) + halves(b->due_ns[k]), csum;

		if (v6)
			sum += halves(b->src_hi[k]) + halves(b->src_lo[k]) + halves(b->dst_hi[k]) +
			       halves(b->dst_lo[k]);
		else if (c.csum_shift != 32) /* ICMP has no pseudo header */
			sum += (uint64_t)b->src[k] + b->dst[k];
		csum = l4_checksum(&c, sum + b->ports[k]);
		if (tcp) {
			b->l4[k] = __builtin_bswap64(c.l4_head | (uint64_t)b->ports[k] << 32);
			b->tail[k] = __builtin_bswap64(c.tail_head | csum << 16);
		} else {
			b->l4[k] = __builtin_bswap64(c.l4_head | csum << c.csum_shift |
						     (uint64_t)b->ports[k] << c.ports_shift);
		}
	}
}

SIMD_CLONES
void template_fill(const struct template *t, struct batch *b, unsigned int from, unsigned int n)
{
	unsigned int end = from + n;

	switch (t->kind) {
	case TEMPLATE_V4:
		fill_ip4(t, b, from, end);
		break;
	case TEMPLATE_V4_L4:
		fill_ip4(t, b, from, end);
		fill_l4(t, b, from, end, false, false);
		break;
	case TEMPLATE_V4_TCP:
		fill_ip4(t, b, from, end);
		fill_l4(t, b, from, end, false, true);
		break;
	case TEMPLATE_V6_L4:
		fill_ip6(b, from, end);
		fill_l4(t, b, from, end, true, false);
		break;
	case TEMPLATE_V6_TCP:
		fill_ip6(b, from, end);
		fill_l4(t, b, from, end, true, true);
		break;
	case TEMPLATE_ANY:
		return;
	}
	fill_probe(t, b, from, end);
}
