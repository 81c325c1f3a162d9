// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/template.c gen/template_any.c
/* Packets of every shape against the RFCs: every checksum summed up anew, every field read back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "gen/template.h"
#include "lib/probe.h"
#include "lib/rng.h"

#define N 64u

static struct batch batch;
static uint8_t frame[FRAME_LEN_MAX];

static uint64_t big(const uint8_t *at, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *at++;
	return v;
}

static uint32_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)sum;
}

static uint64_t sum(const uint8_t *at, uint32_t len)
{
	uint64_t s = 0;

	for (uint32_t i = 0; i + 1 < len; i += 2)
		s += big(at + i, 2);
	return len % 2 ? s + ((uint64_t)at[len - 1] << 8) : s;
}

static void fill_batch(struct rng *r)
{
	batch.seq = rng_below(r, PROBE_SEQ_MAX - BATCH_MAX * 8);
	batch.seq_step = 1 + rng_below(r, 8);
	for (unsigned int k = 0; k < N; k++) {
		/* Sums with and without a carry of the carry. */
		batch.dst[k] = rng_below(r, 2) ? (uint32_t)rng_next(r) : UINT32_MAX - k;
		batch.src[k] = (uint32_t)rng_next(r);
		batch.dst_hi[k] = rng_below(r, 4) ? rng_next(r) : UINT64_MAX;
		batch.dst_lo[k] = rng_below(r, 4) ? rng_next(r) : UINT64_MAX;
		batch.src_hi[k] = rng_next(r);
		batch.src_lo[k] = rng_below(r, 4) ? rng_next(r) : 0;
		batch.due_ns[k] = rng_below(r, 4) ? rng_next(r) : UINT64_MAX;
		batch.ports[k] = (uint32_t)rng_next(r);
	}
}

/* Returns the protocol; *l4, *end: where its header is, and the end of the IP packet. */
static uint32_t check_ip(const uint8_t *l3, bool v6, uint8_t ttl, unsigned int k, const uint8_t **l4,
			 const uint8_t **end)
{
	if (v6) {
		assert_int_equal(l3[0] >> 4, 6);
		assert_int_equal(l3[7], ttl);
		assert_true(big(l3 + 8, 8) == batch.src_hi[k] && big(l3 + 16, 8) == batch.src_lo[k]);
		assert_true(big(l3 + 24, 8) == batch.dst_hi[k] && big(l3 + 32, 8) == batch.dst_lo[k]);
		*l4 = l3 + 40;
		*end = *l4 + big(l3 + 4, 2);
		return l3[6];
	}
	*l4 = l3 + (l3[0] & 15) * 4;
	*end = l3 + big(l3 + 2, 2);
	assert_int_equal(l3[0] >> 4, 4);
	assert_int_equal(l3[8], ttl);
	assert_int_equal(fold(sum(l3, (uint32_t)(*l4 - l3))), 0xffff);
	assert_int_equal(big(l3 + 12, 4), batch.src[k]);
	assert_int_equal(big(l3 + 16, 4), batch.dst[k]);
	return l3[9];
}

/* The L4 checksum, by the book; @none: UDP may do without. Returns where the payload begins. */
static const uint8_t *check_l4(const uint8_t *l3, bool v6, uint32_t protocol, const uint8_t *l4,
			       const uint8_t *end, bool none)
{
	uint32_t len = (uint32_t)(end - l4);
	uint64_t s = sum(l4, len);

	if (protocol != 1)
		s += protocol + len + (v6 ? sum(l3 + 8, 32) : sum(l3 + 12, 8));
	if (protocol == 17) {
		assert_int_equal(big(l4 + 4, 2), len);
		assert_true(none == !big(l4 + 6, 2)); /* 0 is never written for a sum (RFC 768) */
	}
	if (!none)
		assert_int_equal(fold(s), 0xffff);
	return l4 + (protocol == 6 ? (l4[12] >> 4) * 4 : 8);
}

static void check_probe(const uint8_t *at, unsigned int k)
{
	struct probe p;

	assert_int_equal(probe_decode(at, &p), 0);
	assert_int_equal(p.stream, 0xa5);
	assert_int_equal(p.shard, 0xfe);
	assert_int_equal(p.seq, batch.seq + k * batch.seq_step);
	assert_int_equal(p.due_ns, batch.due_ns[k]);
}

static void stamp(const struct template *t, unsigned int k)
{
	if (t->resized)
		template_resize(t, frame + t->at_l3);
	template_stamp(t->kind, t, frame + t->at_l3, &batch, k);
}

/* --- of our own making ------------------------------------------------------------------------ */

static void check_ports(const struct template_fields *f, const uint8_t *l4, unsigned int k)
{
	uint32_t ports = template_takes_ports(&(struct template){ .kind = TEMPLATE_V4_L4 }) ?
				 batch.ports[k] : 0;
	bool own = f->shape.protocol == FRAME_UDP && f->shape.family == AF_INET && !f->udp_checksum &&
		   !f->ports_vary && !f->resized;

	if (own)
		ports = (uint32_t)f->src_port << 16 | f->dst_port;
	if (f->shape.protocol == FRAME_ICMP_ECHO) {
		assert_int_equal(l4[0], f->shape.family == AF_INET6 ? 128 : 8);
		assert_int_equal(l4[1], 0);
		assert_int_equal(big(l4 + 4, 4), ports);
		return;
	}
	assert_int_equal(big(l4, 4), ports);
	if (f->shape.protocol == FRAME_TCP_SYN) {
		assert_int_equal(big(l4 + 4, 8), 0);
		assert_int_equal(big(l4 + 12, 2), 0x5002);
		assert_int_equal(big(l4 + 18, 2), 0);
	}
}

static void check_packet(const struct template_fields *f, const struct template *t, unsigned int k)
{
	static const uint32_t protocols[2][3] = { { 17, 6, 1 }, { 17, 6, 58 } };
	bool v6 = f->shape.family == AF_INET6, udp = f->shape.protocol == FRAME_UDP;
	const uint8_t *l3 = frame + 14 + 4 * f->shape.nr_vlans, *l4, *end, *payload;
	uint32_t protocol = check_ip(l3, v6, f->ttl, k, &l4, &end);

	assert_int_equal(protocol, protocols[v6][f->shape.protocol]);
	assert_int_equal(t->len, f->len - 4);
	assert_ptr_equal(end, frame + t->len);
	assert_int_equal(v6 ? big(l3, 2) >> 4 & 0xff : l3[1], f->tos);
	payload = check_l4(l3, v6, protocol, l4, end, udp && !v6 && !f->udp_checksum);
	check_ports(f, l4, k);
	check_probe(payload, k);
	for (payload += PROBE_LEN; payload < end; payload++)
		assert_int_equal(*payload, 0);
}

static void check_ethernet(const struct template_fields *f)
{
	const uint8_t *at = frame + 12;

	assert_memory_equal(frame, f->dst_mac, 6);
	assert_memory_equal(frame + 6, f->src_mac, 6);
	if (f->shape.nr_vlans == 2) {
		assert_int_equal(big(at, 4), 0x88a80000u + f->vlans[0]);
		at += 4;
	}
	if (f->shape.nr_vlans) {
		assert_int_equal(big(at, 4), 0x81000000u + f->vlans[f->shape.nr_vlans - 1]);
		at += 4;
	}
	assert_int_equal(big(at, 2), f->shape.family == AF_INET6 ? 0x86dd : 0x0800);
}

/* All packets of a batch, filled at once or one by one. */
static void check_template(const struct template_fields *f, struct rng *r)
{
	struct template t;

	assert_int_equal(template_init(&t, f, 1), 0);
	memcpy(frame, t.frame, t.len);
	check_ethernet(f);
	for (int i = 0; i < 4; i++) {
		fill_batch(r);
		if (i % 2)
			template_fill(&t, &batch, 0, N);
		for (unsigned int k = 0; k < N; k++) {
			if (!(i % 2))
				template_fill(&t, &batch, k, 1);
			stamp(&t, k);
			check_packet(f, &t, k);
		}
	}
	template_free(&t);
}

static void test_every_shape(void **state)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct rng r;

	(void)state;
	rng_seed(&r, 13);
	for (int i = 0; i < 2 * 3 * 3 * 6 * 4; i++) {
		struct template_fields f = { .src_mac = { 2, 1, 2, 3, 4, 5 },
					     .dst_mac = { 2, 9, 8, 7, 6, 5 }, .vlans = { 100, 4094 },
					     .src_port = 1234, .dst_port = 4321, .ttl = 7,
					     .tos = (uint8_t)(rng_below(&r, 64) << 2), .stream = 0xa5,
					     .shard = 0xfe };
		uint32_t sizes[6];

		f.shape = (struct frame_shape){ families[i % 2], (enum frame_protocol)(i / 2 % 3),
						(uint32_t)(i / 6 % 3) };
		memcpy(sizes, (uint32_t[]){ frame_len_min(&f.shape), frame_len_min(&f.shape) + 1, 128,
					    594, 1518, frame_len_max(&f.shape) }, sizeof(sizes));
		f.len = (uint16_t)sizes[i / 18 % 6];
		f.ports_vary = i / 108 & 1;
		f.udp_checksum = f.shape.family == AF_INET6 || i / 216 & 1;
		check_template(&f, &r);
	}
}

/* Frames of one tag in one buffer, in turn. */
static void test_sizes(void **state)
{
	struct template_fields f = { .src_mac = { 2 }, .dst_mac = { 2 }, .resized = true, .ttl = 3,
				     .stream = 0xa5, .shard = 0xfe };
	struct rng r;

	(void)state;
	rng_seed(&r, 14);
	for (int i = 0; i < 6; i++) {
		struct template t[2];

		f.shape = (struct frame_shape){ i % 2 ? AF_INET : AF_INET6, (enum frame_protocol)(i / 2), 1 };
		f.udp_checksum = i % 2 == 0;
		f.vlans[0] = 5;
		f.len = (uint16_t)frame_len_min(&f.shape);
		assert_int_equal(template_init(&t[0], &f, 1), 0);
		f.len = 1518;
		assert_int_equal(template_init(&t[1], &f, 1), 0);
		memcpy(frame, t[1].frame, t[1].len);
		fill_batch(&r);
		for (unsigned int k = 0; k < N; k++) {
			f.len = (uint16_t)(t[k % 2].len + 4);
			template_fill(&t[k % 2], &batch, k, 1);
			stamp(&t[k % 2], k);
			check_packet(&f, &t[k % 2], k);
		}
		template_free(&t[0]);
		template_free(&t[1]);
	}
}

/* --- captured --------------------------------------------------------------------------------- */

static uint8_t packet[2048];

static void put(uint32_t at, uint64_t v, int bytes)
{
	while (bytes--) {
		packet[at + (uint32_t)bytes] = (uint8_t)v;
		v >>= 8;
	}
}

/* A packet as others send them: options, a payload that means something, checksums that do not. */
static uint32_t make_packet(struct rng *r, bool v6, uint32_t vlans, uint32_t protocol,
			    uint32_t options, uint32_t payload)
{
	uint32_t at = 12 + 4 * vlans, l3 = at + 2, l4 = l3 + (v6 ? 40 : 20 + options);
	uint32_t header = protocol == 6 ? 20 + options : 8, end = l4 + header + payload;

	for (uint32_t i = 0; i < sizeof(packet); i++)
		packet[i] = (uint8_t)rng_next(r);
	for (uint32_t i = 0; i < vlans; i++)
		put(12 + 4 * i, i + 1 < vlans ? 0x88a8 : 0x8100, 2);
	put(at, v6 ? 0x86dd : 0x0800, 2);
	packet[l3] = (uint8_t)(v6 ? 0x60 : 0x40 | (20 + options) / 4);
	put(l3 + (v6 ? 4 : 2), end - (v6 ? l4 : l3), 2);
	packet[l3 + (v6 ? 6 : 9)] = (uint8_t)protocol;
	if (!v6)
		put(l3 + 6, 0x4000, 2);
	if (protocol == 6)
		packet[l4 + 12] = (uint8_t)(header / 4 << 4);
	else if (protocol == 17)
		put(l4 + 4, header + payload, 2);
	else
		put(l4, protocol == 58 ? 128 << 8 : 8 << 8, 2);
	return end;
}

static void check_captured(struct rng *r, bool v6, uint32_t vlans, uint32_t protocol,
			   uint32_t options, uint32_t payload, bool no_checksum)
{
	struct template_fields f = { .src_mac = { 2, 1 }, .dst_mac = { 2, 3 }, .ttl = 5, .stream = 0xa5,
				     .shard = 0xfe, .shape.family = v6 ? AF_INET6 : AF_INET };
	uint32_t len = make_packet(r, v6, vlans, protocol, options, payload), l3 = 14 + 4 * vlans;
	uint32_t l4 = l3 + (v6 ? 40 : 20 + options);
	struct template t;

	if (protocol == 17)
		put(l4 + 6, no_checksum ? 0 : 0x1234, 2);
	assert_int_equal(template_init_captured(&t, &f, packet, len < 60 ? 60 : len, 1), 0);
	assert_int_equal(t.kind, TEMPLATE_ANY);
	memcpy(frame, t.frame, t.len);
	assert_memory_equal(frame, f.dst_mac, 6);
	fill_batch(r);
	template_fill(&t, &batch, 0, N);
	for (unsigned int k = 0; k < N; k++) {
		const uint8_t *at4, *end, *at;

		stamp(&t, k);
		assert_int_equal(check_ip(frame + l3, v6, f.ttl, k, &at4, &end), protocol);
		assert_ptr_equal(at4, frame + l4);
		assert_true(end <= frame + t.len);
		at = check_l4(frame + l3, v6, protocol, at4, end, no_checksum && !v6 && protocol == 17);
		assert_true(at + PROBE_LEN <= end);
		check_probe(at, k);
		if (protocol != 1 && protocol != 58)
			assert_memory_equal(at4, packet + l4, 4); /* ports stay */
		if (payload > PROBE_LEN)
			assert_memory_equal(at + PROBE_LEN, packet + (at - frame) + PROBE_LEN,
					    payload - PROBE_LEN);
	}
	template_free(&t);
}

static void test_captured(void **state)
{
	static const uint32_t payloads[] = { 0, 1, 17, 18, 19, 100, 1001 };
	struct rng r;

	(void)state;
	rng_seed(&r, 15);
	for (int i = 0; i < 2 * 3 * 3 * 7 * 2; i++) {
		bool v6 = i % 2;
		uint32_t protocol = (uint32_t[]){ 17, 6, v6 ? 58 : 1 }[i / 2 % 3];
		uint32_t options = v6 && protocol != 6 ? 0 : (uint32_t)rng_below(&r, 11) * 4;

		check_captured(&r, v6, (uint32_t)(i / 6 % 3), protocol, options, payloads[i / 18 % 7],
			       i / 126 && !v6);
	}
}

static int try_packet(int family, uint32_t len)
{
	struct template_fields f = { .shape.family = family };
	struct template t = { 0 };
	int ret = template_init_captured(&t, &f, packet, len, 1);

	template_free(&t);
	return ret;
}

static void test_captured_refused(void **state)
{
	struct rng r;
	uint32_t len;

	(void)state;
	rng_seed(&r, 16);
	len = make_packet(&r, false, 0, 17, 0, 30);
	assert_int_equal(try_packet(AF_INET, len), 0);
	assert_int_equal(try_packet(AF_INET6, len), -EPROTO);
	for (uint32_t n = 0; n < len; n++)
		assert_int_equal(try_packet(AF_INET, n), -EPROTO);
	put(14 + 6, 0x2000, 2); /* more fragments */
	assert_int_equal(try_packet(AF_INET, len), -EPROTO);
	make_packet(&r, false, 0, 47, 0, 30);
	assert_int_equal(try_packet(AF_INET, len), -EPROTO);
	make_packet(&r, false, 0, 1, 0, 30);
	packet[34] = 0; /* an echo reply */
	assert_int_equal(try_packet(AF_INET, len), -EPROTO);
	make_packet(&r, false, 0, 6, 0, 30);
	packet[34 + 12] = 0x40; /* a header of 16 bytes */
	assert_int_equal(try_packet(AF_INET, len), -EPROTO);
	packet[34 + 12] = 0xf0; /* one that is longer than the packet */
	assert_int_equal(try_packet(AF_INET, len), -EPROTO);
	make_packet(&r, true, 2, 44, 0, 30);
	assert_int_equal(try_packet(AF_INET6, len + 28), -EPROTO);
	/* Whatever bytes: an answer, and nothing read or written outside. */
	for (int i = 0; i < 20000; i++) {
		len = make_packet(&r, i % 2, (uint32_t)(i / 2 % 3), i % 5 ? 17 : 6, 0, 40);
		for (int k = 0; k < 3; k++)
			packet[12 + rng_below(&r, 50)] = (uint8_t)rng_next(&r);
		try_packet(i % 2 ? AF_INET6 : AF_INET, (uint32_t)rng_below(&r, len + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shape),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_captured),
		cmocka_unit_test(test_captured_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
