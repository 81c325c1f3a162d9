// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/decode.h"
#include "lib/rng.h"

#define FRAME_MAX 256u

struct frame {
	uint8_t at[FRAME_MAX];
	size_t len;
};

static const struct probe sent = { .stream = 3, .shard = 4, .seq = 0x123456789abc,
				   .due_ns = 0xfedcba9876543210 };

static void put16(uint8_t *at, unsigned int v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v & 0xffff);
}

/* The checksum as RFC 791 words it: 16 bits at a time, carries folded as they come. */
static void fill_csum(uint8_t *ip)
{
	uint32_t sum = 0;

	put16(ip + 10, 0);
	for (unsigned int i = 0; i < (ip[0] & 15u) * 4; i += 2) {
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	put16(ip + 10, ~sum & 0xffff);
}

/* Ethernet and IPv4 with @options bytes of options and @payload bytes of @proto behind. */
static uint8_t *make_ipv4(struct frame *f, unsigned int options, unsigned int proto,
			  unsigned int payload)
{
	static const uint8_t eth[14] = { 2, 0, 0, 0, 0, 1, 2, 0xd5, 1, 2, 3, 4, 0x08, 0x00 };
	unsigned int header = 20 + options;
	uint8_t *ip = f->at + 14;

	memset(f, 0, sizeof(*f));
	memcpy(f->at, eth, sizeof(eth));
	ip[0] = (uint8_t)(0x40 | header / 4);
	put16(ip + 2, header + payload);
	put16(ip + 6, 0x4000); /* don't fragment */
	ip[8] = 2;
	ip[9] = (uint8_t)proto;
	put32(ip + 12, 0xc6120002);
	put32(ip + 16, 0xc6130c22);
	memset(ip + 20, 1, options); /* no operation */
	fill_csum(ip);
	f->len = 14 + header + payload;
	return ip + header;
}

/* @more: bytes of UDP payload after the probe. */
static uint8_t *make_probe(struct frame *f, unsigned int options, unsigned int more)
{
	uint8_t *udp = make_ipv4(f, options, 17, 8 + PROBE_LEN + more);

	put16(udp, 9);
	put16(udp + 2, 9);
	put16(udp + 4, 8 + PROBE_LEN + more);
	probe_encode(udp + 8, &sent);
	return udp;
}

static void make_arp(struct frame *f)
{
	static const uint8_t arp[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9, 0x08, 0x06,
		0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 9, 198, 19, 0, 1,
		0, 0, 0, 0, 0, 0, 198, 19, 12, 34,
	};

	memset(f, 0, sizeof(*f));
	memcpy(f->at, arp, sizeof(arp));
	f->len = sizeof(arp);
}

/* From a buffer of just that size, so that tools see a byte too many; @d is dirty before. */
static enum decode_kind kind_of(const struct frame *f, size_t len, struct decoded *d)
{
	uint8_t *exact = malloc(len ? len : 1);

	assert_non_null(exact);
	memcpy(exact, f->at, len);
	memset(d, 0xee, sizeof(*d));
	decode(exact, len, d);
	free(exact);
	return d->kind;
}

static void check_kind(const struct frame *f, enum decode_kind want)
{
	struct decoded d;

	assert_int_equal(kind_of(f, f->len, &d), want);
}

static void check_is_sent(const struct decoded *d)
{
	assert_int_equal(d->kind, DECODE_PROBE);
	assert_int_equal(d->src.lo, 0xc6120002);
	assert_int_equal(d->dst.lo, 0xc6130c22);
	assert_int_equal(d->ttl, 2);
	assert_int_equal(d->probe.stream, sent.stream);
	assert_int_equal(d->probe.shard, sent.shard);
	assert_int_equal(d->probe.seq, sent.seq);
	assert_int_equal(d->probe.due_ns, sent.due_ns);
}

static void probes_of_any_shape(void **state)
{
	struct decoded d;
	struct frame f;

	(void)state;
	for (unsigned int options = 0; options <= 40; options += 4)
		for (unsigned int more = 0; more < 100; more += 33)
			for (unsigned int padding = 0; padding < 50; padding += 7) {
				make_probe(&f, options, more);
				f.len += padding;
				kind_of(&f, f.len, &d);
				check_is_sent(&d);
			}
}

/* A frame of 60 bytes without FCS holds the whole probe; one byte less holds none. */
static void the_least_frame_is_enough(void **state)
{
	struct decoded d;
	struct frame f;

	(void)state;
	make_probe(&f, 0, 0);
	assert_int_equal(f.len, 60);
	kind_of(&f, 60, &d);
	check_is_sent(&d);
}

static void every_truncation_is_other(void **state)
{
	struct decoded d;
	struct frame f;

	(void)state;
	for (unsigned int options = 0; options <= 40; options += 4) {
		make_probe(&f, options, 0);
		for (size_t len = 0; len < f.len; len++)
			assert_int_equal(kind_of(&f, len, &d), DECODE_OTHER);
	}
	make_arp(&f);
	for (size_t len = 0; len < f.len; len++)
		assert_int_equal(kind_of(&f, len, &d), DECODE_OTHER);
	make_ipv4(&f, 0, 1, 8);
	for (size_t len = 0; len < f.len; len++)
		assert_int_equal(kind_of(&f, len, &d), DECODE_OTHER);
}

/* A single flipped bit never cancels out in a one's complement sum. */
static void each_bit_of_the_header_is_checked(void **state)
{
	struct decoded d;
	struct frame f;

	(void)state;
	for (unsigned int options = 0; options <= 40; options += 20)
		for (unsigned int bit = 8; bit < (20 + options) * 8; bit++) {
			make_probe(&f, options, 0);
			f.at[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(kind_of(&f, f.len, &d), DECODE_BAD_CSUM);
		}
}

/* Random headers, many with words of all ones (the other zero), against the textbook sum. */
static void checksums_agree_with_the_textbook(void **state)
{
	struct decoded d;
	struct frame f;
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (unsigned int k = 0; k < 20000; k++) {
		unsigned int options = (unsigned int)rng_below(&r, 11) * 4;
		uint8_t *ip = f.at + 14;

		make_probe(&f, options, 0);
		put32(ip + 12, (uint32_t)rng_next(&r) | (rng_below(&r, 4) ? 0 : 0xffff0000));
		put32(ip + 16, (uint32_t)rng_next(&r));
		put16(ip + 4, (unsigned int)rng_next(&r) & 0xffff);
		for (unsigned int i = 0; i < options; i++)
			ip[20 + i] = rng_below(&r, 3) ? (uint8_t)rng_next(&r) : 0xff;
		fill_csum(ip);
		assert_int_equal(kind_of(&f, f.len, &d), DECODE_PROBE);
		ip[10] = (uint8_t)(ip[10] + 1 + rng_below(&r, 254));
		assert_int_equal(kind_of(&f, f.len, &d), DECODE_BAD_CSUM);
		assert_int_equal(d.dst.lo >> 24, ip[16]);
	}
}

static void fragments_are_other(void **state)
{
	static const unsigned int words[] = { 0x2000, 0x0001, 0x1fff, 0x2001, 0x6000, 0x4001 };
	struct frame f;

	(void)state;
	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
		make_probe(&f, 0, 0);
		put16(f.at + 14 + 6, words[k]);
		fill_csum(f.at + 14);
		check_kind(&f, DECODE_OTHER);
	}
	make_probe(&f, 0, 0);
	put16(f.at + 14 + 6, 0); /* may be fragmented, was not */
	fill_csum(f.at + 14);
	check_kind(&f, DECODE_PROBE);
}

static void lengths_that_lie(void **state)
{
	struct frame f;
	uint8_t *ip = f.at + 14, *udp;

	(void)state;
	for (unsigned int total = 0; total < 100; total++) {
		make_probe(&f, 0, 0);
		put16(ip + 2, total);
		fill_csum(ip);
		check_kind(&f, total == 46 ? DECODE_PROBE : DECODE_OTHER);
	}
	for (unsigned int len = 0; len < 100; len++) {
		udp = make_probe(&f, 0, 4);
		put16(udp + 4, len);
		check_kind(&f, len >= 26 && len <= 30 ? DECODE_PROBE : DECODE_OTHER);
	}
	for (unsigned int words = 0; words < 16; words++) { /* header length */
		make_probe(&f, 0, 0);
		ip[0] = (uint8_t)(0x40 | words);
		if (words >= 5 && 14 + words * 4 <= f.len)
			continue; /* another header: its checksum decides */
		check_kind(&f, DECODE_OTHER);
	}
}

static void what_is_not_ours_is_other(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned int version = 0; version < 16; version++) {
		make_probe(&f, 0, 0);
		f.at[14] = (uint8_t)(version << 4 | 5);
		fill_csum(f.at + 14);
		check_kind(&f, version == 4 ? DECODE_PROBE : DECODE_OTHER);
	}
	for (unsigned int proto = 0; proto < 256; proto++) {
		make_probe(&f, 0, 0);
		f.at[14 + 9] = (uint8_t)proto;
		fill_csum(f.at + 14);
		check_kind(&f, proto == 17  ? DECODE_PROBE
			       : proto == 1 ? DECODE_BAD_CSUM
					    : DECODE_OTHER);
	}
	make_probe(&f, 0, 0)[8] ^= 1; /* the magic */
	check_kind(&f, DECODE_OTHER);
}

/* Old tags, IPv6, LLC: the type before the bytes that would be a probe. */
static void other_ethernet_types(void **state)
{
	static const unsigned int types[] = { 0x9100, 0x86dd, 0x88cc, 0x002e, 0x0000 };
	struct frame f;

	(void)state;
	for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++) {
		make_probe(&f, 0, 0);
		put16(f.at + 12, types[k]);
		check_kind(&f, DECODE_OTHER);
		make_probe(&f, 0, 0);
		memmove(f.at + 16, f.at + 12, f.len - 12); /* a tag pushes the rest back */
		put16(f.at + 12, types[k]);
		put16(f.at + 14, 7);
		f.len += 4;
		check_kind(&f, DECODE_OTHER);
	}
}

static void icmp(void **state)
{
	struct decoded d;
	struct frame f;
	uint8_t *icmp = make_ipv4(&f, 8, 1, 8);

	(void)state;
	icmp[0] = 3;
	icmp[1] = 1;
	put16(icmp + 2, 0xfcfe);
	assert_int_equal(kind_of(&f, f.len, &d), DECODE_ICMP);
	assert_int_equal(d.icmp_type, 3);
	assert_int_equal(d.icmp_code, 1);
	assert_int_equal(d.src.lo, 0xc6120002);
	assert_int_equal(d.dst.lo, 0xc6130c22);
	make_ipv4(&f, 0, 1, 7); /* shorter than any ICMP header */
	check_kind(&f, DECODE_OTHER);
}

static void arp_requests(void **state)
{
	struct decoded d;
	struct frame f;

	(void)state;
	make_arp(&f);
	for (size_t len = f.len; len < 70; len++) {
		assert_int_equal(kind_of(&f, len, &d), DECODE_ARP_REQUEST);
		assert_int_equal(d.src.lo, 0xc6130001);
		assert_int_equal(d.dst.lo, 0xc6130c22);
	}
	for (unsigned int bit = 14 * 8; bit < 22 * 8; bit++) { /* spaces, lengths, operation */
		make_arp(&f);
		f.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check_kind(&f, DECODE_OTHER);
	}
	make_arp(&f);
	f.at[22] |= 1; /* an asker that is a group */
	check_kind(&f, DECODE_OTHER);
	make_arp(&f);
	memset(f.at + 22, 0, 6);
	check_kind(&f, DECODE_OTHER);
	make_arp(&f);
	memset(f.at + 28, 0, 4); /* address detection is a request: who answers decides */
	check_kind(&f, DECODE_ARP_REQUEST);
}

/* Nothing of a frame that was decoded before shines through. */
static void nothing_is_left_over(void **state)
{
	struct decoded d;
	struct frame f = { .len = 0 };

	(void)state;
	kind_of(&f, 0, &d);
	assert_int_equal(d.src.lo | d.dst.lo | d.src.hi | d.dst.hi | d.ttl | d.icmp_type | d.icmp_code, 0);
	assert_int_equal(d.probe.seq | d.probe.due_ns | d.probe.stream | d.probe.shard, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_of_any_shape),
		cmocka_unit_test(the_least_frame_is_enough),
		cmocka_unit_test(every_truncation_is_other),
		cmocka_unit_test(each_bit_of_the_header_is_checked),
		cmocka_unit_test(checksums_agree_with_the_textbook),
		cmocka_unit_test(fragments_are_other),
		cmocka_unit_test(lengths_that_lie),
		cmocka_unit_test(what_is_not_ours_is_other),
		cmocka_unit_test(other_ethernet_types),
		cmocka_unit_test(icmp),
		cmocka_unit_test(arp_requests),
		cmocka_unit_test(nothing_is_left_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
