// SPDX-License-Identifier: GPL-2.0-or-later
/* Templates of captured frames: any tags, options and payload, stored into field by field. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gen/template_parts.h"
#include "lib/probe.h"

enum { ANY_MTU = 9000 };

/* Where the layers of a captured frame are. */
struct layers {
	uint32_t l3, l4, end; /* end: of what IP says is its packet */
	uint32_t payload;     /* behind the L4 header */
	uint8_t protocol;
};

static bool find_l3(const uint8_t *p, uint32_t len, struct layers *y, uint16_t *type)
{
	uint32_t at = 12;

	for (uint32_t tags = 0; at + 4 <= len; tags++, at += 4) {
		*type = template_get16(p + at);
		y->l3 = at + 2;
		if (*type != 0x8100 && *type != 0x88a8)
			return true;
		if (tags == FRAME_VLANS_MAX)
			return false;
	}
	return false;
}

static bool find_l4_of_4(const uint8_t *ip, uint32_t left, struct layers *y)
{
	uint32_t header = (ip[0] & 15u) * 4;

	if (left < 20 || ip[0] >> 4 != 4 || header < 20 || left < header)
		return false;
	y->l4 = y->l3 + header;
	y->end = y->l3 + template_get16(ip + 2);
	y->protocol = ip[9];
	return !(template_get16(ip + 6) & 0x3fff) && y->end >= y->l4;
}

/* Extension headers are nothing that a probe can be behind. */
static bool find_l4_of_6(const uint8_t *ip, uint32_t left, struct layers *y)
{
	if (left < 40 || ip[0] >> 4 != 6)
		return false;
	y->l4 = y->l3 + 40;
	y->end = y->l4 + template_get16(ip + 4);
	y->protocol = ip[6];
	return true;
}

static bool find_payload(const uint8_t *l4, uint32_t left, bool v6, struct layers *y)
{
	uint32_t header = 8;

	if (left < 8)
		return false;
	if (y->protocol == IPPROTO_TCP)
		header = left < 20 ? 0 : (l4[12] >> 4) * 4u;
	else if (y->protocol == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP))
		header = l4[0] == (v6 ? 128 : 8) && !l4[1] ? 8 : 0;
	else if (y->protocol != IPPROTO_UDP)
		return false;
	y->payload = y->l4 + header;
	return header >= (y->protocol == IPPROTO_TCP ? 20 : 8) && left >= header &&
	       y->end >= y->payload;
}

static bool find_layers(const uint8_t *p, uint32_t len, int family, struct layers *y)
{
	bool v6 = family == AF_INET6;
	uint16_t type;

	if (!find_l3(p, len, y, &type) || type != (v6 ? 0x86dd : 0x0800) || len < y->l3 + 20)
		return false;
	if (!(v6 ? find_l4_of_6 : find_l4_of_4)(p + y->l3, len - y->l3, y) || len < y->l4)
		return false;
	return find_payload(p + y->l4, len - y->l4, v6, y);
}

static void set_lengths(uint8_t *frame, const struct layers *y, bool v6)
{
	template_put16(frame + y->l3 + (v6 ? 4 : 2), (uint16_t)(y->end - (v6 ? y->l4 : y->l3)));
	if (y->protocol == IPPROTO_UDP)
		template_put16(frame + y->l4 + 4, (uint16_t)(y->end - y->l4));
}

/* Zero what each packet stores, and sum up the rest. */
static void take_sums(struct template *t, const struct template_fields *f, const struct layers *y)
{
	static const struct probe probe;
	uint8_t *l3 = t->frame + y->l3, *l4 = t->frame + y->l4;
	bool udp = y->protocol == IPPROTO_UDP;
	uint32_t at = y->protocol == IPPROTO_TCP ? 16 : udp ? 6 : 2;

	t->csum_mask = udp && !t->is_v6 && !template_get16(l4 + at) ? 0 : 0xffff;
	t->csum_zero = udp ? 0xffff : 0;
	t->csum_shift = y->protocol == IPPROTO_ICMP ? 32 : 0;
	template_put16(l4 + at, 0);
	probe_encode(t->frame + y->payload, &probe);
	if (t->is_v6) {
		l3[7] = f->ttl;
		memset(l3 + 8, 0, 32);
	} else {
		l3[8] = f->ttl;
		memset(l3 + 10, 0, 10);
		t->partial = template_sum(l3, y->l4 - y->l3);
	}
	t->l4_partial = template_l4_partial(l4, t->frame + y->end, y->protocol);
	t->probe_head = (uint64_t)f->stream << 56 | (uint64_t)f->shard << 48;
	t->at_csum = (uint16_t)(y->l4 - y->l3 + at);
	t->at_probe = (uint16_t)(y->payload - y->l3);
}

int template_init_captured(struct template *t, const struct template_fields *f, const uint8_t *bytes,
			   uint32_t len, uint32_t tag)
{
	bool v6 = f->shape.family == AF_INET6;
	struct layers y;

	if (!find_layers(bytes, len, f->shape.family, &y) || y.end > len)
		return -EPROTO;
	if (y.end < y.payload + PROBE_LEN)
		y.end = y.payload + PROBE_LEN;
	if (y.end - y.l3 > ANY_MTU)
		return -EPROTO;
	*t = (struct template){ .kind = TEMPLATE_ANY, .tag = tag, .at_l3 = (uint16_t)y.l3, .is_v6 = v6,
				.len = (uint16_t)(y.end < 60 ? 60 : y.end) };
	t->frame = calloc(1, t->len);
	if (!t->frame)
		return -ENOMEM;
	memcpy(t->frame, bytes, len < y.end ? len : y.end);
	memcpy(t->frame, f->dst_mac, 6);
	memcpy(t->frame + 6, f->src_mac, 6);
	set_lengths(t->frame, &y, v6);
	take_sums(t, f, &y);
	return 0;
}

/* --- one packet ------------------------------------------------------------------------------- */

static void put64(uint8_t *at, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(at, &v, 8);
}

static uint64_t halves(uint64_t v)
{
	return (v >> 32) + (v & UINT32_MAX);
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static uint64_t stamp_4(const struct template *t, uint8_t *l3, const struct batch *b, unsigned int k)
{
	uint32_t src = htonl(b->src[k]), dst = htonl(b->dst[k]);
	uint16_t csum = fold((uint64_t)t->partial + src + dst);

	memcpy(l3 + 10, &csum, 2); /* the sum of words as they lie in memory lies as they do */
	memcpy(l3 + 12, &src, 4);
	memcpy(l3 + 16, &dst, 4);
	return t->csum_shift ? 0 : (uint64_t)b->src[k] + b->dst[k];
}

static uint64_t stamp_6(uint8_t *l3, const struct batch *b, unsigned int k)
{
	put64(l3 + 8, b->src_hi[k]);
	put64(l3 + 16, b->src_lo[k]);
	put64(l3 + 24, b->dst_hi[k]);
	put64(l3 + 32, b->dst_lo[k]);
	return halves(b->src_hi[k]) + halves(b->src_lo[k]) + halves(b->dst_hi[k]) +
	       halves(b->dst_lo[k]);
}

void template_stamp_any(const struct template *t, uint8_t *l3, const struct batch *b, unsigned int k)
{
	uint64_t seq = t->probe_head + b->seq + k * b->seq_step;
	uint64_t sum = t->l4_partial + halves(seq) + halves(b->due_ns[k]);
	uint16_t csum;

	sum += t->is_v6 ? stamp_6(l3, b, k) : stamp_4(t, l3, b, k);
	put64(l3 + t->at_probe + 2, seq);
	put64(l3 + t->at_probe + 10, b->due_ns[k]);
	csum = fold(sum);
	template_put16(l3 + t->at_csum, (uint16_t)((csum ? csum : t->csum_zero) & t->csum_mask));
}
