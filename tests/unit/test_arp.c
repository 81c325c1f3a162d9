// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/arp.h"
#include "lib/decode.h"

/* Who has 198.19.12.34? Tell 198.19.0.1, at 52:54:00:aa:bb:cc. */
static const uint8_t request[42] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x08, 0x06,
	0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 198,  19,	0,    1,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 198,  19,	12,   34,
};

/* 198.19.12.34 is at 02:d5:c6:13:0c:22, told to the asker. */
static const uint8_t answer[ARP_FRAME_LEN] = {
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x02, 0xd5, 0xc6, 0x13, 0x0c, 0x22, 0x08, 0x06,
	0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x02,
	0x02, 0xd5, 0xc6, 0x13, 0x0c, 0x22, 198,  19,	12,   34,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 198,  19,	0,    1,
};

static void mac_is_a_function_of_the_address(void **state)
{
	static const uint8_t want[6] = { 0x02, 0xd5, 0xc6, 0x13, 0xff, 0xfe };
	uint8_t mac[6];

	(void)state;
	arp_mac_of(0xc613fffe, mac);
	assert_memory_equal(mac, want, 6);
	for (uint32_t ip = 1; ip; ip <<= 1) {
		arp_mac_of(ip, mac);
		assert_int_equal(mac[0] & 1, 0); /* unicast */
		assert_int_equal(mac[0] & 2, 2); /* locally administered */
		assert_int_equal((uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5], ip);
	}
}

static void known_answer(void **state)
{
	uint8_t reply[ARP_FRAME_LEN + 1], mac[6];

	(void)state;
	memset(reply, 0xee, sizeof(reply));
	arp_mac_of(0xc6130c22, mac);
	assert_int_equal(arp_reply(request, reply, mac), ARP_FRAME_LEN);
	assert_memory_equal(reply, answer, ARP_FRAME_LEN);
	assert_int_equal(reply[ARP_FRAME_LEN], 0xee);
}

static void in_place(void **state)
{
	uint8_t frame[ARP_FRAME_LEN], mac[6];

	(void)state;
	memset(frame, 0xee, sizeof(frame));
	memcpy(frame, request, sizeof(request));
	arp_mac_of(0xc6130c22, mac);
	assert_int_equal(arp_reply(frame, frame, mac), ARP_FRAME_LEN);
	assert_memory_equal(frame, answer, ARP_FRAME_LEN);
}

/* The answer is no request: two responders cannot excite each other. */
static void an_answer_gets_no_answer(void **state)
{
	struct decoded d;

	(void)state;
	decode(request, sizeof(request), &d);
	assert_int_equal(d.kind, DECODE_ARP_REQUEST);
	decode(answer, sizeof(answer), &d);
	assert_int_equal(d.kind, DECODE_OTHER);
}

static void check_silence(const uint8_t *frame)
{
	static const uint8_t mac[6] = { 2 };
	uint8_t reply[ARP_FRAME_LEN], untouched[ARP_FRAME_LEN];

	memset(reply, 0xee, sizeof(reply));
	memset(untouched, 0xee, sizeof(untouched));
	assert_int_equal(arp_reply(frame, reply, mac), 0);
	assert_memory_equal(reply, untouched, sizeof(reply));
}

static void detection_and_announcement_get_no_answer(void **state)
{
	uint8_t frame[sizeof(request)];

	(void)state;
	memcpy(frame, request, sizeof(frame));
	memset(frame + 28, 0, 4);
	check_silence(frame);
	memcpy(frame + 28, frame + 38, 4);
	check_silence(frame);
}

/* The tags of the request are those of the answer, priorities included. */
static void tags_are_kept(void **state)
{
	static const uint8_t tags[8] = { 0x88, 0xa8, 0xe0, 100, 0x81, 0x00, 0x20, 10 };
	uint8_t frame[ARP_FRAME_MAX + 1], reply[ARP_FRAME_MAX + 1], mac[6];
	struct decoded d;

	(void)state;
	arp_mac_of(0xc6130c22, mac);
	for (unsigned int len = 4; len <= 8; len += 4) {
		memset(frame, 0xee, sizeof(frame));
		memset(reply, 0xee, sizeof(reply));
		memcpy(frame, request, 12);
		memcpy(frame + 12, tags + 8 - len, len);
		memcpy(frame + 12 + len, request + 12, sizeof(request) - 12);
		decode(frame, sizeof(request) + len, &d);
		assert_int_equal(d.kind, DECODE_ARP_REQUEST);
		assert_int_equal(d.nr_vlans, len / 4);
		assert_int_equal(arp_reply(frame, reply, mac), ARP_FRAME_LEN + len);
		assert_memory_equal(reply, answer, 12);
		assert_memory_equal(reply + 12, tags + 8 - len, len);
		assert_memory_equal(reply + 12 + len, answer + 12, ARP_FRAME_LEN - 12);
		assert_int_equal(reply[ARP_FRAME_LEN + len], 0xee);
		assert_int_equal(arp_reply(frame, frame, mac), ARP_FRAME_LEN + len);
		assert_memory_equal(frame, reply, ARP_FRAME_LEN + len);
	}
}

/* RFC 5227 2.3: a request to everybody, sender and target address the same, target MAC zero. */
static void announcement(void **state)
{
	static const uint8_t want[ARP_FRAME_LEN] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0xd5, 0xc6, 0x13, 0x0c, 0x22, 0x08, 0x06,
		0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01,
		0x02, 0xd5, 0xc6, 0x13, 0x0c, 0x22, 198,  19,	12,   34,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 198,  19,	12,   34,
	};
	static const uint16_t vlans[2] = { 100, 10 };
	static const uint8_t tags[8] = { 0x88, 0xa8, 0, 100, 0x81, 0x00, 0, 10 };
	uint8_t frame[ARP_FRAME_MAX + 1], mac[6];

	(void)state;
	arp_mac_of(0xc6130c22, mac);
	memset(frame, 0xee, sizeof(frame));
	assert_int_equal(arp_announce(frame, 0xc6130c22, mac, NULL, 0), ARP_FRAME_LEN);
	assert_memory_equal(frame, want, ARP_FRAME_LEN);
	assert_int_equal(frame[ARP_FRAME_LEN], 0xee);
	check_silence(frame);
	assert_int_equal(arp_announce(frame, 0xc6130c22, mac, vlans, 2), ARP_FRAME_MAX);
	assert_memory_equal(frame, want, 12);
	assert_memory_equal(frame + 12, tags, 8);
	assert_memory_equal(frame + 20, want + 12, ARP_FRAME_LEN - 12);
	assert_int_equal(frame[ARP_FRAME_MAX], 0xee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_is_a_function_of_the_address),
		cmocka_unit_test(known_answer),
		cmocka_unit_test(in_place),
		cmocka_unit_test(an_answer_gets_no_answer),
		cmocka_unit_test(detection_and_announcement_get_no_answer),
		cmocka_unit_test(tags_are_kept),
		cmocka_unit_test(announcement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
