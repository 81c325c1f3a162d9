// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks a capture of the generator's packets, and shares no code with it: this file knows the
 * frame only from the RFCs and the description of the probe.
 *
 *	gen-frames FILE SHARD RATE TTL
 *
 * Every frame: 60 bytes, IPv4 without options, lengths right, header checksum right by full
 * recomputation, TTL, UDP without checksum, magic, shard; numbers 0, 1, 2, ... in order; due time =
 * floor(number * 10^9 / RATE) = timestamp. RATE 0: times are not looked at. Prints the destinations,
 * one a line. Exit 1 with a line on stderr at the first frame that is wrong.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 60 };

static uint64_t big(const uint8_t *at, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *at++;
	return v;
}

static int checksum_right(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)big(ip + i, 2);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* NULL if all is right. */
static const char *wrong(const uint8_t *f, uint64_t nr, uint64_t shard, uint64_t rate, uint64_t ttl,
			 uint64_t stamp)
{
	const uint8_t *ip = f + 14, *udp = f + 34, *probe = f + 42;

	if (f[0] & 1 || f[6] & 1 || big(f + 12, 2) != 0x0800)
		return "Ethernet header";
	if (ip[0] != 0x45 || big(ip + 2, 2) != FRAME - 14 || ip[9] != 17)
		return "IPv4 header";
	if (ip[8] != ttl)
		return "TTL";
	if (!checksum_right(ip))
		return "IPv4 checksum";
	if (big(udp + 4, 2) != FRAME - 34 || big(udp + 6, 2))
		return "UDP length or checksum";
	if (big(probe, 2) != 0xd57a || probe[2] || probe[3] != shard)
		return "magic, stream or shard";
	if (big(probe + 4, 6) != nr)
		return "sequence number";
	if (rate && big(probe + 10, 8) != (uint64_t)((unsigned __int128)nr * 1000000000u / rate))
		return "due time";
	if (rate && stamp != big(probe + 10, 8))
		return "timestamp";
	return NULL;
}

int main(int argc, char **argv)
{
	uint8_t header[24], record[16], frame[FRAME];
	uint32_t word[4];
	FILE *file = argc == 5 ? fopen(argv[1], "rb") : NULL;
	uint64_t nr = 0;

	if (!file || fread(header, 1, 24, file) != 24)
		return fprintf(stderr, "usage: gen-frames FILE SHARD RATE TTL\n"), 2;
	memcpy(word, header, 4);
	if (word[0] != 0xa1b23c4d)
		return fprintf(stderr, "no capture with nanoseconds\n"), 1;
	for (; fread(record, 1, 16, file) == 16; nr++) {
		const char *what;

		memcpy(word, record, 16);
		if (word[2] != FRAME || word[3] != FRAME || fread(frame, 1, FRAME, file) != FRAME)
			return fprintf(stderr, "frame %" PRIu64 ": length\n", nr), 1;
		what = wrong(frame, nr, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
			     strtoull(argv[4], NULL, 10), word[0] * UINT64_C(1000000000) + word[1]);
		if (what)
			return fprintf(stderr, "frame %" PRIu64 ": %s\n", nr, what), 1;
		printf("%u.%u.%u.%u\n", frame[30], frame[31], frame[32], frame[33]);
	}
	fclose(file);
	return 0;
}
