// SPDX-License-Identifier: GPL-2.0-or-later
/* decode() of every shape of probe, with and without tags, and of neighbour solicitations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/decode.h"

#define FRAME_MAX 9100u

enum { ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58 };

static const struct probe sent = {
	.stream = 3, .shard = 4, .seq = 0x123456789abc, .due_ns = 0xfedcba9876543210};
static const uint8_t src6[16] = {0x20, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};
static const uint8_t dst6[16] = {0x20, 1,    0,	   2,	 0,    0,    0,	   2,
				 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};

/* --- frames, written as the standards word them ------------------------------------------------
 */

static uint8_t frame[FRAME_MAX];

struct shape {
	unsigned int protocol, v6, tags, more; /* more: bytes of payload after the probe */
	unsigned int options; /* bytes of TCP options, or of IPv6 extension headers */
};

static void put16(uint8_t *at, unsigned int v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static uint32_t sum16(uint32_t sum, const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i & 1 ? at[i] : (uint32_t)at[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* Where the checksum of layer 4 is in its header. */
static unsigned int csum_at(unsigned int protocol)
{
	return protocol == UDP ? 6 : protocol == TCP ? 16 : 2;
}

static void fill_csum(const struct shape *s, uint8_t *ip, uint8_t *l4, size_t len)
{
	uint32_t sum = 0;

	put16(l4 + csum_at(s->protocol), 0);
	if (s->protocol != ICMP)
		sum = sum16((uint32_t)len + s->protocol, ip + (s->v6 ? 8 : 12), s->v6 ? 32 : 8);
	put16(l4 + csum_at(s->protocol), ~sum16(sum, l4, len) & 0xffff);
}

static size_t put_ethernet(const struct shape *s)
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0, 1, 2, 0xd5, 1, 2, 3, 4};
	size_t at = 12;

	memset(frame, 0, sizeof(frame));
	memcpy(frame, macs, 12);
	for (unsigned int i = 0; i < s->tags; i++, at += 4) {
		put16(frame + at, i + 1 < s->tags ? 0x88a8 : 0x8100);
		put16(frame + at + 2, 0xe000 + 100 * (i + 1)); /* priority 7 */
	}
	put16(frame + at, s->v6 ? 0x86dd : 0x0800);
	return at + 2;
}

/* Returns where layer 4 begins; @len: its length. */
static uint8_t *put_ip(const struct shape *s, uint8_t *ip, size_t len)
{
	if (s->v6) {
		unsigned int extra = s->protocol == TCP ? 0 : s->options;

		ip[0] = 0x60;
		put16(ip + 4, (unsigned int)len + extra);
		ip[6] = (uint8_t)(extra ? 0 : s->protocol);
		ip[7] = 2;
		memcpy(ip + 8, src6, 16);
		memcpy(ip + 24, dst6, 16);
		for (unsigned int i = 0; i < extra; i += 8) {
			ip[40 + i] = (uint8_t)(i + 8 < extra ? 60 : s->protocol);
			ip[42 + i] = 1; /* padding */
			ip[43 + i] = 4;
		}
		return ip + 40 + extra;
	}
	ip[0] = 0x45;
	put16(ip + 2, 20 + (unsigned int)len);
	ip[8] = 2;
	ip[9] = (uint8_t)s->protocol;
	memcpy(ip + 12, (uint8_t[]){198, 18, 0, 2, 198, 19, 12, 34}, 8);
	put16(ip + 10, ~sum16(0, ip, 20) & 0xffff);
	return ip + 20;
}

/* Returns the length of the frame; *@l4_at: where layer 4 begins. */
static size_t make(const struct shape *s, size_t *l4_at)
{
	size_t l3 = put_ethernet(s), header = s->protocol == TCP ? 20 + s->options : 8;
	size_t len = header + PROBE_LEN + s->more;
	uint8_t *l4 = put_ip(s, frame + l3, len);

	if (s->protocol == UDP)
		put16(l4 + 4, (unsigned int)len);
	else if (s->protocol == TCP)
		l4[12] = (uint8_t)(header / 4 << 4), l4[13] = 2;
	else
		l4[0] = s->v6 ? 128 : 8;
	probe_encode(l4 + header, &sent);
	for (unsigned int i = 0; i < s->more; i++)
		l4[header + PROBE_LEN + i] = (uint8_t)(i * 7 + 1);
	fill_csum(s, frame + l3, l4, len);
	*l4_at = (size_t)(l4 - frame);
	return *l4_at + len;
}

/* From a buffer of just that size, so that tools see a byte too many; @d is dirty before. */
static enum decode_kind kind_of(size_t len, size_t wire_len, struct decoded *d)
{
	uint8_t *exact = malloc(len ? len : 1);

	assert_non_null(exact);
	memcpy(exact, frame, len);
	memset(d, 0xee, sizeof(*d));
	decode_part(exact, len, wire_len, d);
	free(exact);
	return d->kind;
}

static void check_is_sent(const struct shape *s, const struct decoded *d)
{
	assert_int_equal(d->kind, DECODE_PROBE);
	assert_int_equal(d->family_is_v6, s->v6);
	assert_int_equal(d->nr_vlans, s->tags);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(d->vlans[i], i < s->tags ? 100 * (i + 1) : 0);
	assert_int_equal(d->src.hi, s->v6 ? 0x2001000200000001 : 0);
	assert_int_equal(d->src.lo, s->v6 ? 2 : 0xc6120002);
	assert_int_equal(d->dst.hi, s->v6 ? 0x2001000200000002 : 0);
	assert_int_equal(d->dst.lo, s->v6 ? 0x1122334455667788 : 0xc6130c22);
	assert_int_equal(d->ttl, 2);
	assert_int_equal(d->probe.stream, sent.stream);
	assert_int_equal(d->probe.shard, sent.shard);
	assert_int_equal(d->probe.seq, sent.seq);
	assert_int_equal(d->probe.due_ns, sent.due_ns);
}

static const struct shape kinds[] = {{UDP, 0, 0, 0, 0}, {TCP, 0, 0, 0, 0}, {ICMP, 0, 0, 0, 0},
				     {UDP, 1, 0, 0, 0}, {TCP, 1, 0, 0, 0}, {ICMP6, 1, 0, 0, 0}};

#define each_kind(s)                            \
	for (unsigned int k_ = 0; k_ < 6; k_++) \
		for (struct shape s = kinds[k_]; s.tags < 3; s.tags++)

/* --- probes ----------------------------------------------------------------------------------- */

static void every_shape(void **state)
{
	static const unsigned int more[] = {0, 1, 2, 3, 5, 8, 1400, 8900};
	struct decoded d;
	size_t len, l4;

	(void)state;
	each_kind(s)
	{
		for (unsigned int m = 0; m < 8; m++) {
			s.more = more[m];
			for (s.options = 0; s.options <= 24; s.options += 8) {
				len = make(&s, &l4);
				kind_of(len, len, &d);
				check_is_sent(&s, &d);
				kind_of(len + 9, len + 9, &d); /* padding */
				check_is_sent(&s, &d);
			}
		}
	}
}

/* A frame that is cut short on the wire is no probe; one of which a capture kept only the first
 * part is one, as long as the probe is in that. */
static void cut_short(void **state)
{
	struct decoded d;
	size_t len, l4, probe_end;

	(void)state;
	each_kind(s)
	{
		s.more = 40;
		len = make(&s, &l4);
		probe_end = len - s.more;
		for (size_t cut = 0; cut < len; cut++) {
			assert_int_equal(kind_of(cut, cut, &d), DECODE_OTHER);
			if (kind_of(cut, len, &d) != DECODE_OTHER && cut < probe_end)
				assert_int_equal(d.kind, DECODE_ICMP); /* the probe is not seen */
			if (cut >= probe_end)
				check_is_sent(&s, &d);
		}
	}
}

/* No flipped bit from the IP header on gives a probe that was never sent. */
static void each_bit_is_checked(void **state)
{
	size_t len, l4;
	struct decoded d;

	(void)state;
	each_kind(s)
	{
		s.more = 3;
		len = make(&s, &l4);
		for (size_t bit = (14 + 4 * s.tags) * 8; bit < len * 8; bit++) {
			size_t at = bit / 8 - (14 + 4 * s.tags);

			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			kind_of(len, len, &d);
			/* IPv6 has no checksum of its own for these. */
			if (s.v6 && (at < 4 || at == 7))
				assert_true(at > 0 || d.kind != DECODE_PROBE || bit % 8 < 4);
			else
				assert_int_not_equal(d.kind, DECODE_PROBE);
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		frame[len - 1] ^= 1; /* of the payload: the checksum alone tells */
		assert_int_equal(kind_of(len, len, &d), DECODE_BAD_CSUM);
	}
}

/* Only UDP over IPv4 may go without. */
static void no_checksum(void **state)
{
	struct decoded d;
	size_t len, l4;

	(void)state;
	each_kind(s)
	{
		len = make(&s, &l4);
		put16(frame + l4 + csum_at(s.protocol), 0);
		assert_int_equal(kind_of(len, len, &d),
				 s.protocol == UDP && !s.v6 ? DECODE_PROBE : DECODE_BAD_CSUM);
	}
}

/* What has no magic is other people's: its checksum may be left to their NIC. */
static void other_datagrams(void **state)
{
	struct decoded d;
	size_t len, l4;

	(void)state;
	each_kind(s)
	{
		len = make(&s, &l4);
		frame[len - PROBE_LEN] ^= 1;
		kind_of(len, len, &d);
		assert_int_equal(d.kind, s.protocol == ICMP || s.protocol == ICMP6 ? DECODE_BAD_CSUM
										   : DECODE_OTHER);
	}
}

static void too_many_tags(void **state)
{
	struct shape s = {UDP, 0, 3, 0, 0};
	struct decoded d;
	size_t len, l4;

	(void)state;
	len = make(&s, &l4);
	assert_int_equal(kind_of(len, len, &d), DECODE_OTHER);
	s.tags = 2;
	len = make(&s, &l4);
	put16(frame + 12, 0x9100); /* not one of ours */
	assert_int_equal(kind_of(len, len, &d), DECODE_OTHER);
}

static void ipv6_fragments_are_other(void **state)
{
	struct shape s = {UDP, 1, 0, 0, 8};
	struct decoded d;
	size_t len, l4;

	(void)state;
	len = make(&s, &l4);
	assert_int_equal(kind_of(len, len, &d), DECODE_PROBE);
	frame[20] = 44;
	assert_int_equal(kind_of(len, len, &d), DECODE_OTHER);
	frame[20] = 43; /* routing */
	assert_int_equal(kind_of(len, len, &d), DECODE_OTHER);
	frame[20] = 0;
	frame[55] = 200; /* options past the end */
	assert_int_equal(kind_of(len, len, &d), DECODE_OTHER);
}

/* --- neighbour solicitations ------------------------------------------------------------------ */

/* Who has dst6? Asked at its solicited-node address by src6, or by nobody. @options behind. */
static size_t make_solicit(const uint8_t *src, const uint8_t *options, unsigned int nr)
{
	const struct shape s = {ICMP6, 1, 1, 0, 0};
	uint8_t *ip = frame + put_ethernet(&s), *nd = put_ip(&s, ip, 24 + nr);

	ip[7] = 255;
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, (uint8_t[16]){0xff, 2, [11] = 1, 0xff, 0x66, 0x77, 0x88}, 16);
	nd[0] = 135;
	memcpy(nd + 8, dst6, 16);
	memcpy(nd + 24, options, nr);
	fill_csum(&s, ip, nd, 24 + nr);
	return (size_t)(nd - frame) + 24 + nr;
}

/* The frame with its checksum made right again. */
static enum decode_kind mended(size_t len, struct decoded *d)
{
	const struct shape s = {ICMP6, 1, 1, 0, 0};

	fill_csum(&s, frame + 18, frame + 58, len - 58);
	return kind_of(len, len, d);
}

static void solicitations(void **state)
{
	static const uint8_t mac[16] = {1, 1, 2, 0, 0, 0, 0, 9, 14, 1, 1, 2, 3, 4, 5, 6};
	static const uint8_t nobody[16];
	struct decoded d;
	size_t len;

	(void)state;
	for (unsigned int nr = 0; nr <= 16; nr += 8) {
		len = make_solicit(src6, mac, nr);
		assert_int_equal(kind_of(len, len, &d), DECODE_ND_SOLICIT);
		assert_int_equal(d.src.lo, 2);
		assert_int_equal(d.dst.hi, 0x2001000200000002);
		assert_int_equal(d.dst.lo, 0x1122334455667788);
		assert_int_equal(d.vlans[0], 100);
		assert_int_equal(kind_of(len - 1, len - 1, &d), DECODE_OTHER);
		/* Not whole: who would answer it? */
		assert_int_equal(kind_of(len - 1, len, &d), DECODE_ICMP);
		frame[len - 1] ^= 1;
		assert_int_equal(kind_of(len, len, &d), DECODE_BAD_CSUM);
	}
	/* Detection of duplicates is a request: who answers decides. */
	len = make_solicit(nobody, mac + 8, 8);
	assert_int_equal(kind_of(len, len, &d), DECODE_ND_SOLICIT);
	assert_int_equal(d.src.hi | d.src.lo, 0);
	len = make_solicit(nobody, mac, 8); /* but must not give a MAC, */
	assert_int_equal(kind_of(len, len, &d), DECODE_ICMP);
	len = make_solicit(nobody, mac, 0); /* nor go elsewhere */
	frame[18 + 24 + 11] = 0;
	assert_int_equal(mended(len, &d), DECODE_ICMP);
}

/* RFC 4861 7.1.1, one thing wrong at a time. */
static void broken_solicitations(void **state)
{
	static const struct {
		unsigned int at, value;
	} wrong[] = {
		{18 + 7, 254}, /* hop limit: it came over a router */
		{59, 1}, /* code */
		{58, 136}, /* an advertisement */
		{66, 0xff}, /* target is a group */
		{83, 0}, /* option of length 0 */
		{83, 2}, /* ... past the end */
		{84, 3}, /* MAC of a group */
	};
	static const uint8_t mac[8] = {1, 1, 2, 0, 0, 0, 0, 9};
	struct decoded d;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		len = make_solicit(src6, mac, 8);
		frame[wrong[i].at] = (uint8_t)wrong[i].value;
		assert_int_equal(mended(len, &d), DECODE_ICMP);
	}
	len = make_solicit(src6, mac, 8);
	memset(frame + 66, 0, 16); /* target unspecified */
	assert_int_equal(mended(len, &d), DECODE_ICMP);
	len = make_solicit(src6, mac, 0);
	put16(frame + 18 + 4, 20); /* shorter than one is */
	assert_int_equal(mended(len - 4, &d), DECODE_ICMP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(each_bit_is_checked),
		cmocka_unit_test(no_checksum),
		cmocka_unit_test(other_datagrams),
		cmocka_unit_test(too_many_tags),
		cmocka_unit_test(ipv6_fragments_are_other),
		cmocka_unit_test(solicitations),
		cmocka_unit_test(broken_solicitations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
