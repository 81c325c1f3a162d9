// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames through decode, account and track, under a small schedule of any order or none. The first bytes choose
 * the world; then come records: a raw frame, or a probe of the schedule (whatever its number) with
 * some bytes overwritten. Every frame must be in one counter, every lost packet at one destination.
 */
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "lib/decode.h"
/* The fuzzers are built from lib/ and themselves. */
#include "sink/account.c"
#include "sink/answers.c"
#include "sink/respond.c"
#include "sink/storm.c"
#include "sink/tally.c"
#include "sink/track.c"
#include "sink/track_draw.c"
#include "sink/track_finish.c"
#include "sink/track_init.c"
#include "sink/track_loss.c"
#include "tests/unit/sched_make.h"

#define FRAME_MAX 255u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	const uint8_t *at, *end;
	struct addrset set;
	struct sched scheds[2];
	uint32_t nr_shards;
	struct account a;
	uint64_t frames;
};

static uint8_t byte(struct world *w)
{
	return w->at < w->end ? *w->at++ : 0;
}

static void world_account(struct world *w, bool scheduled, unsigned int window_bits)
{
	const struct addrset *sets[] = {&w->set};
	const struct respond_host dut = {AF_INET, {.lo = 0xc6130001u}};
	struct respond_rule rule = {.answer_ratio = 0.7};
	uint8_t choice;

	if (!scheduled) {
		assert(!track_init_free(&w->a.track, window_bits, NULL));
		return;
	}
	assert(!track_init(&w->a.track,
			   &(struct track_stream_conf){&w->set, w->scheds, w->nr_shards, 0}, 1,
			   window_bits, NULL));
	choice = byte(w);
	rule.answer_probe = 1u + choice % 3;
	rule.copies = 1u + choice / 3 % 2;
	rule.mac_changes = rule.copies > 1;
	assert(!respond_init(&w->a.respond,
			     &(struct respond_conf){.sets = sets,
						    .nr_sets = 1,
						    .dut = &dut,
						    .nr_dut = 1,
						    .rules = &rule,
						    .nr_rules = 1},
			     NULL));
	w->a.responds = true;
}

static void world_init(struct world *w)
{
	uint8_t choice = byte(w);
	uint64_t total = (uint64_t)byte(w) << byte(w) % 20;
	uint8_t visits = byte(w);
	struct sched_conf conf = {.order = (enum sched_order)(visits / 4 % (SCHED_HOT + 1)),
				  .seed = choice,
				  .nr_shards = 1 + (choice >> 1 & 1),
				  .total = total,
				  .rate = *rate_constant(choice & 16 ? 1000 : 0),
				  .stride = 5,
				  .window = 1,
				  .new_pps = choice & 16 ? 7 : 0,
				  .zipf_s = 1.1,
				  .hot_packets = 0.9,
				  .hot_destinations = 0.1};

	w->nr_shards = conf.nr_shards;
	conf.repeat = sched_is_cyclic(conf.order) ? 1 + visits % 4 : 1;
	addrset_init(&w->set);
	assert(!addrset_add(&w->set, choice & 4 ? "198.19.0.0/27" : "198.19.0.0-198.19.0.2", NULL));
	if (choice & 8)
		assert(!addrset_exclude(&w->set, "198.19.0.1", NULL));
	assert(!addrset_seal(&w->set, NULL));
	conf.n = addrset_count(&w->set);
	for (uint32_t i = 0; i < w->nr_shards; i++) {
		conf.shard = i;
		assert(!sched_init(&w->scheds[i], &conf, NULL));
	}
	world_account(w, choice & 32, 7 + choice / 128);
}

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* Right in every byte, for a number of the schedule or beyond it. */
static void probe_frame(struct world *w, uint8_t *f, size_t *len)
{
	struct probe p = {.shard = byte(w) & 1, .seq = (uint64_t)byte(w) << byte(w) % 40};
	const struct sched *sched;
	uint32_t sum = 0, dst;

	p.seq += byte(w);
	p.due_ns = p.seq * 1000000 + (uint64_t)byte(w);
	sched = &w->scheds[p.shard % w->nr_shards];
	dst = (uint32_t)addrset_at(&w->set, sched_index(sched, p.seq)).lo;
	memset(f, 0, 60);
	memcpy(f + 12, (uint8_t[]){8, 0, 0x45, 0, 0, 46}, 6);
	memcpy(f + 22, (uint8_t[]){2, 17}, 2);
	put16(f + 30, dst >> 16);
	put16(f + 32, dst & 0xffff);
	for (unsigned int i = 14; i < 34; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(f + 24, ~(sum + (sum >> 16)) & 0xffff);
	put16(f + 38, 26);
	probe_encode(f + 42, &p);
	*len = 60;
}

static void one_frame(struct world *w)
{
	uint8_t buf[FRAME_MAX], kind = byte(w), *exact;
	size_t len;

	if (kind & 1) {
		probe_frame(w, buf, &len);
		for (unsigned int i = 0; i < (kind >> 1 & 3u); i++)
			buf[byte(w) % len] = byte(w);
	} else {
		len = byte(w);
		if (len > (size_t)(w->end - w->at))
			len = (size_t)(w->end - w->at);
		memcpy(buf, w->at, len);
		w->at += len;
	}
	/* Of its exact size, so that ASan sees a read past the end. */
	exact = malloc(len ? len : 1);
	memcpy(exact, buf, len);
	account_frame(&w->a, exact, len, (uint64_t)kind << 20 | byte(w));
	free(exact);
	w->frames++;
}

struct sums {
	uint64_t received, gaps, seen;
};

static int sum_up(void *arg, const struct track_destination *d)
{
	struct sums *sums = arg;

	sums->received += d->received;
	sums->seen += d->seen;
	sums->gaps++;
	assert(d->seen == (d->received > 0));
	return 0;
}

/* Send all that waits; each request is then in one counter. */
static void check_requests(struct world *w)
{
	const struct account_counts *c = &w->a.counts;
	struct answer answer;

	while (!account_take(&w->a, UINT64_MAX, &answer))
		account_sent(&w->a, &answer);
	assert(c->arp.replies + c->arp.silent + c->arp.refused + c->arp.dropped ==
	       c->arp.requests);
	assert(c->nd.replies + c->nd.silent + c->nd.refused + c->nd.dropped == c->nd.requests);
	assert(c->copies_pkts <= c->arp.replies + c->nd.replies);
}

static void world_check(struct world *w)
{
	const struct account_counts *c = &w->a.counts;
	struct track *track = &w->a.track;
	struct track_counts t;
	struct sums sums = {0};

	account_flush(&w->a);
	t = track_counts(track);
	assert(c->frames_pkts == w->frames);
	assert(t.rx_pkts + t.dup_pkts + t.late_pkts + t.foreign_pkts + c->bad_csum_pkts +
		       c->other_pkts + c->arp.requests + c->nd.requests ==
	       w->frames);
	if (w->a.responds)
		check_requests(w);
	assert(t.reordered_pkts <= t.rx_pkts && t.early_pkts <= t.rx_pkts);
	if (byte(w) & 1)
		track_sent_all(track);
	track_finish(track);
	t = track_counts(track);
	assert(!track_each(track, sum_up, &sums));
	assert(sums.received == t.rx_pkts && sums.seen == t.destinations_seen);
	assert(sums.gaps == t.destinations_expected);
	assert(track_hist(track, TRACK_DELAY)->total == t.rx_pkts);
	if (!track->scheduled)
		return;
	assert(t.destinations_seen + t.destinations_unseen == t.destinations_expected);
	assert(track_hist(track, TRACK_GAP)->total == t.destinations_expected);
	assert(track_hist(track, TRACK_FIRST_DELIVERY)->total == t.destinations_seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.at = data;
	w.end = data + size;
	world_init(&w);
	while (w.at < w.end && w.frames < 500)
		one_frame(&w);
	world_check(&w);
	account_free(&w.a);
	addrset_free(&w.set);
	return 0;
}
