// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a capture of probes with faults at known places, and on stderr, one "field value" a line,
 * what a right sink says about it. It shares the schedule's order and the wire format of the probe
 * with the sink, and nothing of how the sink counts.
 *
 *	sink-mkpcap [KEY=VALUE]... >FILE
 *
 * packets=N first=A.B.C.D n=N (destinations, one range) permute=SEED repeat=N rate=PPS
 * lose=K (every K-th) lose_from=A lose_to=B dup=K swap=K (with the next) csum=K (a copy with a bad
 * checksum follows) foreign=K (a copy to another address follows) arp=K other=K delay=NS t0=NS
 * us=1 (microsecond file) quiet=1 (no expectation: less time and memory)
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/probe.h"
#include "lib/sched.h"
#include "tests/unit/sched_make.h"

#define FRAME_LEN 60u

struct settings {
	uint64_t packets, n, permute, repeat, rate, lose, lose_from, lose_to, dup, swap, csum,
		foreign, arp, other, delay, t0, us, quiet;
	uint32_t first;
};

static const struct {
	const char *key;
	size_t offset;
} setting_table[] = {
#define SETTING(key)                                 \
	{                                            \
#key, offsetof(struct settings, key) \
	}
	SETTING(packets), SETTING(n),	SETTING(permute), SETTING(repeat),    SETTING(rate),
	SETTING(lose),	  SETTING(dup), SETTING(swap),	  SETTING(lose_from), SETTING(lose_to),
	SETTING(csum),	  SETTING(arp), SETTING(other),	  SETTING(foreign),   SETTING(delay),
	SETTING(t0),	  SETTING(us),	SETTING(quiet),
};

static struct settings set = {.packets = 1000,
			      .n = 100,
			      .repeat = 1,
			      .rate = 1000000,
			      .first = 0xc6130002,
			      .delay = 1000,
			      .t0 = 1000000000};
static struct sched sched;

struct expectation {
	uint64_t rx_pkts, dup_pkts, reordered_pkts, foreign_pkts, bad_csum_pkts, other_pkts,
		arp_requests, frames_pkts;
	uint8_t *came;
} want;

/* --- bytes ------------------------------------------------------------------------------------ */

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v & 0xffff);
}

static uint16_t ip_csum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* A UDP frame of 60 bytes; what follows the probe is nothing. */
static void frame_probe(uint8_t *f, uint32_t dst, const struct probe *p)
{
	static const uint8_t head[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45};

	memset(f, 0, FRAME_LEN);
	memcpy(f, head, sizeof(head));
	put16(f + 16, 46);
	f[22] = 1;
	f[23] = 17;
	put32(f + 26, 0xc6120002);
	put32(f + 30, dst);
	put16(f + 24, ip_csum(f + 14));
	put16(f + 34, 9);
	put16(f + 36, 9);
	put16(f + 38, 26);
	probe_encode(f + 42, p);
}

static void frame_arp(uint8_t *f, uint32_t target)
{
	static const uint8_t head[] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 2, 8, 6,
				       0,   1,	 8,   0,   6,	4,   0, 1, 2, 0, 0, 0, 0, 2};

	memset(f, 0, FRAME_LEN);
	memcpy(f, head, sizeof(head));
	put32(f + 28, 0xc6130001);
	put32(f + 38, target);
}

static void emit(const uint8_t *f, uint64_t ns)
{
	uint32_t h[4] = {(uint32_t)(ns / 1000000000), (uint32_t)(ns % 1000000000), FRAME_LEN,
			 FRAME_LEN};

	if (set.us)
		h[1] /= 1000;
	fwrite(h, sizeof(h), 1, stdout);
	fwrite(f, FRAME_LEN, 1, stdout);
	want.frames_pkts++;
}

/* --- packets ---------------------------------------------------------------------------------- */

static uint64_t due(uint64_t seq)
{
	return set.t0 + (uint64_t)((unsigned __int128)seq * 1000000000 / set.rate);
}

static uint32_t destination(uint64_t seq)
{
	struct sched_slot slot;

	sched_slot(&sched, seq, &slot);
	return set.first + (uint32_t)slot.index;
}

static bool every(uint64_t k, uint64_t seq)
{
	return k && seq % k == k - 1;
}

static bool lost(uint64_t seq)
{
	return every(set.lose, seq) || (seq >= set.lose_from && seq < set.lose_to);
}

/* Once @seq, at the time of @when, with its faults behind it. */
static void send_one(uint64_t seq, uint64_t when)
{
	struct probe p = {.seq = seq, .due_ns = due(seq)};
	uint64_t ns = due(when) + set.delay;
	uint8_t f[FRAME_LEN];

	frame_probe(f, destination(seq), &p);
	emit(f, ns);
	if (every(set.dup, seq)) {
		emit(f, ns);
		want.dup_pkts++;
	}
	if (every(set.csum, seq)) {
		f[22] ^= 0x40;
		emit(f, ns);
		want.bad_csum_pkts++;
	}
	if (every(set.foreign, seq)) {
		frame_probe(f, destination(seq) ^ 0x800000, &p);
		emit(f, ns);
		want.foreign_pkts++;
	}
	if (every(set.arp, seq)) {
		frame_arp(f, set.first);
		emit(f, ns);
		want.arp_requests++;
	}
	if (every(set.other, seq)) {
		memset(f, 0xee, FRAME_LEN);
		emit(f, ns);
		want.other_pkts++;
	}
	want.rx_pkts++;
	if (!set.quiet)
		want.came[seq] = 1;
}

static void packets(void)
{
	uint64_t seq = 0;

	while (seq < set.packets) {
		if (every(set.swap, seq) && seq + 1 < set.packets && !lost(seq) && !lost(seq + 1)) {
			send_one(seq + 1, seq + 1);
			send_one(seq, seq + 1);
			want.reordered_pkts++;
			seq += 2;
			continue;
		}
		if (!lost(seq))
			send_one(seq, seq);
		seq++;
	}
}

/* --- the expectation -------------------------------------------------------------------------- */

/* Interval from packet number @a to @b of one destination, as the schedule spaces them. */
static void gaps(uint64_t *max, uint64_t *seen, uint64_t *first_max)
{
	uint64_t *run = calloc(set.n, sizeof(*run)), *first = calloc(set.n, sizeof(*first));
	uint8_t *in_run = calloc(set.n, 1), *got = calloc(set.n, 1), *visited = calloc(set.n, 1);
	uint64_t pass = set.n * set.repeat, next, d;

	for (uint64_t seq = 0; seq < set.packets; seq++) {
		d = destination(seq) - set.first;
		if (!visited[d])
			first[d] = seq;
		visited[d] = 1;
		if (want.came[seq]) {
			in_run[d] = 0;
			if (!got[d] && due(seq) - due(first[d]) + set.delay > *first_max)
				*first_max = due(seq) - due(first[d]) + set.delay;
			*seen += !got[d];
			got[d] = 1;
			continue;
		}
		run[d] = in_run[d] ? run[d] : seq;
		in_run[d] = 1;
		next = seq % set.repeat == set.repeat - 1 ? seq + 1 - set.repeat + pass : seq + 1;
		if (next - run[d] > *max)
			*max = next - run[d];
	}
	*max = (uint64_t)((unsigned __int128)*max * 1000000000 / set.rate);
	free(run), free(first), free(in_run), free(got), free(visited);
}

static void tell(void)
{
	uint64_t gap = 0, seen = 0, first = 0;

	gaps(&gap, &seen, &first);
#define TELL(field) fprintf(stderr, #field " %" PRIu64 "\n", want.field)
	TELL(frames_pkts);
	TELL(rx_pkts);
	TELL(dup_pkts);
	TELL(reordered_pkts);
	TELL(foreign_pkts);
	TELL(bad_csum_pkts);
	TELL(other_pkts);
	TELL(arp_requests);
	fprintf(stderr, "lost_by_schedule_pkts %" PRIu64 "\n", set.packets - want.rx_pkts);
	fprintf(stderr, "destinations_seen %" PRIu64 "\n", seen);
	fprintf(stderr, "gap_ns.max %" PRIu64 "\n", gap);
	if (!set.swap) /* a swap moves the time of arrival by one packet */
		fprintf(stderr, "first_delivery_ns.max %" PRIu64 "\n", first);
}

static int parse(const char *arg)
{
	const char *value = strchr(arg, '=');

	if (value && !strncmp(arg, "first=", 6)) {
		set.first = ntohl(inet_addr(value + 1));
		return 0;
	}
	for (size_t i = 0; value && i < sizeof(setting_table) / sizeof(setting_table[0]); i++) {
		if (strlen(setting_table[i].key) == (size_t)(value - arg) &&
		    !strncmp(arg, setting_table[i].key, (size_t)(value - arg))) {
			*(uint64_t *)(void *)((char *)&set + setting_table[i].offset) =
				strtoull(value + 1, NULL, 0);
			return 0;
		}
	}
	fprintf(stderr, "sink-mkpcap: unknown setting %s\n", arg);
	return -1;
}

int main(int argc, char **argv)
{
	static char buffer[1 << 20];

	for (int i = 1; i < argc; i++) {
		if (parse(argv[i]))
			return 2;
	}
	if (sched_make(&sched, set.permute ? SCHED_PERMUTE : SCHED_SEQUENTIAL, set.n, set.permute,
		       0, 1, (uint32_t)set.repeat, set.rate, set.packets, NULL))
		return 2;
	want.came = calloc(set.packets + 1, 1);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	fwrite((uint32_t[]){set.us ? 0xa1b2c3d4 : 0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1}, 24, 1,
	       stdout);
	packets();
	if (!set.quiet)
		tell();
	free(want.came);
	return fflush(stdout) ? 3 : 0;
}
