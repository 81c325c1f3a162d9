// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/decode.h"
#include "lib/nd.h"

static const uint8_t target_mac[6] = { 0x02, 0xd6, 1, 2, 3, 4 };

/* Who has 2001:2:0:2::1:22? Asked by 2001:2:0:2::1 at 52:54:00:aa:bb:cc. */
static const uint8_t request[86] = {
	0x33, 0x33, 0xff, 0x01, 0x00, 0x22, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x86, 0xdd,
	0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0x00, 0x01,
	0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, 0x01, 0x00, 0x22,
	0x87, 0x00, 0x2a, 0x83, 0x00, 0x00, 0x00, 0x00,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0x01, 0x00, 0x22,
	0x01, 0x01, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
};

/* 2001:2:0:2::1:22 is at 02:d6:01:02:03:04, told to the asker: solicited, override. */
static const uint8_t answer[ND_FRAME_LEN] = {
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x02, 0xd6, 1, 2, 3, 4, 0x86, 0xdd,
	0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0x01, 0x00, 0x22,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0x00, 0x01,
	0x88, 0x00, 0xae, 0x71, 0x60, 0x00, 0x00, 0x00,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0x01, 0x00, 0x22,
	0x02, 0x01, 0x02, 0xd6, 1, 2, 3, 4,
};

/* The same to all nodes, unasked: override only. */
static const uint8_t shout[ND_FRAME_LEN] = {
	0x33, 0x33, 0x00, 0x00, 0x00, 0x01, 0x02, 0xd6, 1, 2, 3, 4, 0x86, 0xdd,
	0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0x01, 0x00, 0x22,
	0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
	0x88, 0x00, 0x0f, 0x74, 0x20, 0x00, 0x00, 0x00,
	0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0x01, 0x00, 0x22,
	0x02, 0x01, 0x02, 0xd6, 1, 2, 3, 4,
};

/* Unicast, local, the same for ever, and hardly two alike, wherever in the address the bits are. */
static void mac_is_a_function_of_the_address(void **state)
{
	static uint8_t mac[2 * 128][6];
	struct addr a;

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		a = (struct addr){ 0x2001000200000002, i };
		if (i >= 128)
			a = (struct addr){ i < 192 ? UINT64_C(1) << (i - 128) : 0,
					   i < 192 ? 0 : UINT64_C(256) << (i - 192) % 56 };
		nd_mac_of(a, mac[i]);
		assert_memory_equal(mac[i], "\x02\xd6", 2);
		for (unsigned int k = 0; k < i && i < 248; k++)
			assert_memory_not_equal(mac[i], mac[k], 6);
	}
}

static void known_answer(void **state)
{
	uint8_t reply[ND_FRAME_MAX], place[ND_FRAME_MAX];
	struct decoded d;

	(void)state;
	decode(request, sizeof(request), &d);
	assert_int_equal(d.kind, DECODE_ND_SOLICIT);
	memset(reply, 0xee, sizeof(reply));
	assert_int_equal(nd_reply(request, reply, target_mac), ND_FRAME_LEN);
	assert_memory_equal(reply, answer, ND_FRAME_LEN);
	assert_int_equal(reply[ND_FRAME_LEN], 0xee);
	memcpy(place, request, sizeof(request));
	assert_int_equal(nd_reply(place, place, target_mac), ND_FRAME_LEN);
	assert_memory_equal(place, answer, ND_FRAME_LEN);
	/* No request itself: two responders cannot excite each other. */
	decode(answer, sizeof(answer), &d);
	assert_int_equal(d.kind, DECODE_ICMP);
	assert_int_equal(d.icmp_type, 136);
}

/* Who gives no MAC of its own is answered where it asked from. */
static void without_option(void **state)
{
	uint8_t ask[sizeof(request)], reply[ND_FRAME_MAX];

	(void)state;
	memcpy(ask, request, sizeof(ask));
	ask[19] = 24;
	memcpy(ask + 6, "\x02\0\0\0\0\x07", 6);
	assert_int_equal(nd_reply(ask, reply, target_mac), ND_FRAME_LEN);
	assert_memory_equal(reply, "\x02\0\0\0\0\x07", 6);
	assert_memory_equal(reply + 6, answer + 6, ND_FRAME_LEN - 6);
	ask[6] = 3; /* a group: nowhere */
	assert_int_equal(nd_reply(ask, reply, target_mac), 0);
}

static void tags_are_kept(void **state)
{
	static const uint8_t tags[8] = { 0x88, 0xa8, 0xe0, 100, 0x81, 0x00, 0x20, 10 };
	uint8_t frame[ND_FRAME_MAX], reply[ND_FRAME_MAX + 1];

	(void)state;
	memset(reply, 0xee, sizeof(reply));
	memcpy(frame, request, 12);
	memcpy(frame + 12, tags, 8);
	memcpy(frame + 20, request + 12, sizeof(request) - 12);
	assert_int_equal(nd_reply(frame, reply, target_mac), ND_FRAME_MAX);
	assert_memory_equal(reply, answer, 12);
	assert_memory_equal(reply + 12, tags, 8);
	assert_memory_equal(reply + 20, answer + 12, ND_FRAME_LEN - 12);
	assert_int_equal(reply[ND_FRAME_MAX], 0xee);
}

static void check_silence(const uint8_t *frame)
{
	uint8_t reply[ND_FRAME_MAX], untouched[ND_FRAME_MAX];

	memset(reply, 0xee, sizeof(reply));
	memset(untouched, 0xee, sizeof(untouched));
	assert_int_equal(nd_reply(frame, reply, target_mac), 0);
	assert_memory_equal(reply, untouched, sizeof(reply));
}

static void detection_gets_no_answer(void **state)
{
	uint8_t frame[sizeof(request)];

	(void)state;
	memcpy(frame, request, sizeof(frame));
	memset(frame + 22, 0, 16);
	check_silence(frame);
	memcpy(frame + 22, frame + 62, 16); /* nor who asks for itself */
	check_silence(frame);
}

static void announcement(void **state)
{
	static const uint16_t vlans[2] = { 100, 10 };
	static const uint8_t tags[8] = { 0x88, 0xa8, 0, 100, 0x81, 0x00, 0, 10 };
	const struct addr a = { 0x2001000200000002, 0x10022 };
	uint8_t frame[ND_FRAME_MAX + 1];

	(void)state;
	memset(frame, 0xee, sizeof(frame));
	assert_int_equal(nd_announce(frame, a, target_mac, NULL, 0), ND_FRAME_LEN);
	assert_memory_equal(frame, shout, ND_FRAME_LEN);
	assert_int_equal(frame[ND_FRAME_LEN], 0xee);
	assert_int_equal(nd_announce(frame, a, target_mac, vlans + 1, 1), ND_FRAME_LEN + 4);
	assert_memory_equal(frame + 12, tags + 4, 4);
	assert_memory_equal(frame + 16, shout + 12, ND_FRAME_LEN - 12);
	assert_int_equal(nd_announce(frame, a, target_mac, vlans, 2), ND_FRAME_MAX);
	assert_memory_equal(frame + 12, tags, 8);
	assert_memory_equal(frame + 20, shout + 12, ND_FRAME_LEN - 12);
	assert_int_equal(frame[ND_FRAME_MAX], 0xee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_is_a_function_of_the_address),
		cmocka_unit_test(known_answer),
		cmocka_unit_test(without_option),
		cmocka_unit_test(tags_are_kept),
		cmocka_unit_test(detection_gets_no_answer),
		cmocka_unit_test(announcement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
