// SPDX-License-Identifier: GPL-2.0-or-later
/* What a lane's thread does. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "gen/lane_parts.h"
#include "gen/plan.h"
#include "gen/tag.h"
#include "gen/trace.h"

/* How a lane shares the machine with the guest that it floods. */
enum {
	/*
	 * When packets are due more often than naps may be (lib/nap.h), a lane naps and sends what
	 * has come due together, as long as that is at most so many; at higher rates it polls.
	 */
	LANE_NAP_PKTS = 16,
	/* Never longer than this: to see lanes_stop(), and replies that wait for the queue. */
	LANE_SLEEP_MAX_NS = 1000 * 1000,
	/* Without a rate: bursts from one look at the clock to the next. */
	LANE_CLOCK_BURSTS = 256,
	LANE_REPLIES = 16,
};

bool lane_may_nap(uint64_t pps, uint64_t nap_ns)
{
	return pps <= LANE_NAP_PKTS * UINT64_C(1000000000) / nap_ns;
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static inline uint64_t get(const _Atomic uint64_t *counter)
{
	return lanes_get(counter);
}

/* One writer: no need for an atomic addition. */
static inline void set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline void add(_Atomic uint64_t *counter, uint64_t value)
{
	set(counter, get(counter) + value);
}

static inline bool stopped(const struct lane *l)
{
	return atomic_load_explicit(&l->lanes->stop, memory_order_relaxed);
}

/* --- making packets --------------------------------------------------------------------------- */

/* Where the frame of an adopted buffer is, without asking the buffer: pools have no private area. */
static inline uint8_t *lane_frame(struct rte_mbuf *m)
{
	return (uint8_t *)(m + 1) + RTE_PKTMBUF_HEADROOM;
}

static inline void lane_set_len(struct rte_mbuf *m, uint16_t len)
{
	m->data_len = len;
	m->pkt_len = len;
}

/* A buffer that this lane has not used yet, or that something else was put into. */
static __rte_noinline void lane_adopt(const struct lane *l, const struct template *t,
				      struct rte_mbuf *m)
{
	rte_pktmbuf_reset(m);
	lane_set_len(m, t->len);
	memcpy(lane_frame(m), t->frame, t->len);
	*tag_at(m, l->tag_offset) = t->tag;
}

/*
 * A buffer comes back from the port as it went out: the driver's free restores what it touched of
 * the mbuf, and nobody writes to the frame. So a buffer that has the template's tag needs its stores
 * and nothing else.
 */
static inline __attribute__((always_inline)) void lane_stamp(struct lane *l, struct lane_stream *s,
							     unsigned int n, enum template_kind kind)
{
	const struct template *t = s->templates->list;
	const uint32_t tag = t->tag, at_l3 = t->at_l3;

	for (unsigned int k = 0; k < n; k++) {
		struct rte_mbuf *m = s->pkts[k];

		if (unlikely(*tag_at(m, l->tag_offset) != tag))
			lane_adopt(l, t, m);
		template_stamp(kind, t, lane_frame(m) + at_l3, &l->batch, k);
	}
}

static inline void lane_stamp_same(struct lane *l, struct lane_stream *s, unsigned int n)
{
	template_fill(s->templates->list, &l->batch, 0, n);
	switch (s->templates->list->kind) {
	case TEMPLATE_V4:
		return lane_stamp(l, s, n, TEMPLATE_V4);
	case TEMPLATE_V4_L4:
		return lane_stamp(l, s, n, TEMPLATE_V4_L4);
	case TEMPLATE_V4_TCP:
		return lane_stamp(l, s, n, TEMPLATE_V4_TCP);
	case TEMPLATE_V6_L4:
		return lane_stamp(l, s, n, TEMPLATE_V6_L4);
	case TEMPLATE_V6_TCP:
		return lane_stamp(l, s, n, TEMPLATE_V6_TCP);
	case TEMPLATE_ANY:
		return lane_stamp(l, s, n, TEMPLATE_ANY);
	}
}

/* The next packet's template. */
static inline const struct template *lane_turn(struct lane_stream *s)
{
	const struct templates *ts = s->templates;
	const struct template *t = &ts->list[ts->cycle ? ts->cycle[s->cycle_at] : s->cycle_at];

	s->cycle_at += s->cycle_step;
	s->cycle_at -= s->cycle_at >= ts->nr_cycle ? ts->nr_cycle : 0;
	return t;
}

/* Several templates, packet by packet. Those that share a tag differ in nothing but lengths. */
static __rte_noinline void lane_stamp_mixed(struct lane *l, struct lane_stream *s, unsigned int n)
{
	const struct template *widest = &s->templates->list[s->templates->widest];

	for (unsigned int k = 0; k < n; k++) {
		const struct template *t = lane_turn(s);
		struct rte_mbuf *m = s->pkts[k];
		uint8_t *l3 = lane_frame(m) + t->at_l3;

		if (*tag_at(m, l->tag_offset) != t->tag)
			lane_adopt(l, t->resized ? widest : t, m);
		if (t->resized) {
			lane_set_len(m, t->len);
			template_resize(t, l3);
		}
		template_fill(t, &l->batch, k, 1);
		template_stamp(t->kind, t, l3, &l->batch, k);
	}
}

/* The next @n packets, into pkts. */
static inline bool lane_make(struct lane *l, struct lane_stream *s, unsigned int n)
{
	if (unlikely(rte_mempool_get_bulk(l->pool, (void **)s->pkts, n)))
		return false;
	walk_next(&s->walk, &l->batch, n);
	if (likely(s->templates->nr == 1))
		lane_stamp_same(l, s, n);
	else
		lane_stamp_mixed(l, s, n);
	s->head = 0;
	s->pending = n;
	return true;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Offer the first @n of the pending packets. Returns how many the port took. */
static inline unsigned int lane_offer(struct lane *l, struct lane_stream *s, unsigned int n)
{
	unsigned int sent = rte_eth_tx_burst(l->port, l->queue, s->pkts + s->head, (uint16_t)n);

	s->head += sent;
	s->pending -= sent;
	add(&s->counters.sent_pkts, sent);
	if (unlikely(sent < n))
		add(&s->counters.refused_pkts, n - sent);
	return sent;
}

static inline void lane_sent_at(struct lane_stream *s, uint64_t now)
{
	if (unlikely(!get(&s->counters.first_tx_ns)))
		set(&s->counters.first_tx_ns, now);
	set(&s->counters.last_tx_ns, now);
}

/* What the main thread has to send goes first: it is little, and somebody waits for it. */
static inline void lane_send_replies(struct lane *l)
{
	struct rte_mbuf *replies[LANE_REPLIES];
	unsigned int n, sent;

	if (likely(!l->replies || rte_ring_empty(l->replies)))
		return;
	n = rte_ring_dequeue_burst(l->replies, (void **)replies, LANE_REPLIES, NULL);
	sent = rte_eth_tx_burst(l->port, l->queue, replies, (uint16_t)n);
	rte_pktmbuf_free_bulk(replies + sent, n - sent); /* whoever asked will ask again */
}

/* Nothing may go out at @now. */
static void lane_wait(const struct lane *l, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < l->nr_streams; i++) {
		uint64_t at = pace_next_ns(&l->streams[i].pace);

		next = at < next ? at : next;
	}
	if (next < now + l->nap_ns) {
		if (!l->naps) {
			rte_pause();
			return;
		}
		next = now + l->nap_ns;
	}
	sleep_until(next - now < LANE_SLEEP_MAX_NS ? next : now + LANE_SLEEP_MAX_NS);
}

/* The port refused packets: whoever empties it needs the CPU to do so. */
static void lane_back_off(const struct lane *l)
{
	sleep_until(clock_ns() + l->nap_ns);
}

/* Take from the budget, and send, what may go out at @now. False if the port could not take it. */
static bool lane_send_paced(struct lane *l, struct lane_stream *s, uint64_t now, unsigned int n)
{
	unsigned int sent;

	if (!s->pending && !lane_make(l, s, n)) {
		pace_give_back(&s->pace, n);
		add(&s->counters.refused_pkts, n);
		return false;
	}
	sent = lane_offer(l, s, n);
	if (sent) {
		lane_sent_at(s, now);
		if (l->trace)
			trace_burst(l->trace, now, sent);
	}
	if (likely(sent == n))
		return true;
	pace_give_back(&s->pace, n - sent);
	return false;
}

/* One burst of each stream that is due. False once nothing is left to send. */
static inline bool lane_round(struct lane *l, uint64_t now)
{
	bool left = false, sent = false, refused = false;

	for (uint32_t i = 0; i < l->nr_streams; i++) {
		struct lane_stream *s = &l->streams[i];
		unsigned int n = pace_take(&s->pace, now, s->pending ? s->pending : l->burst);

		if (n) {
			refused |= !lane_send_paced(l, s, now, n);
			sent = true;
		}
		left |= s->pace.taken != s->pace.total;
	}
	if (refused)
		lane_back_off(l);
	else if (left && !sent)
		lane_wait(l, now);
	return left;
}

static void lane_run_paced(struct lane *l)
{
	bool left = true;

	while (left && !stopped(l)) {
		uint64_t now = clock_ns();

		if (now >= l->lanes->deadline_ns)
			break;
		lane_send_replies(l);
		left = lane_round(l, now);
	}
}

/* Up to LANE_CLOCK_BURSTS full bursts. False once nothing is left to send. */
static bool lane_send_bursts(struct lane *l, struct lane_stream *s)
{
	for (unsigned int i = 0; i < LANE_CLOCK_BURSTS; i++) {
		uint64_t left = s->total - get(&s->counters.sent_pkts);
		unsigned int n = left < l->burst ? (unsigned int)left : l->burst;

		if (!n)
			return false;
		if (unlikely(s->pending))
			n = s->pending;
		else if (unlikely(!lane_make(l, s, n))) {
			add(&s->counters.refused_pkts, n);
			lane_back_off(l);
			return true;
		}
		if (unlikely(!lane_offer(l, s, n))) {
			lane_back_off(l);
			return true;
		}
	}
	return true;
}

/* Without a rate there is one stream. */
static void lane_run_max(struct lane *l)
{
	struct lane_stream *s = l->streams;
	uint64_t now = clock_ns();
	bool more = true;

	while (more && now < l->lanes->deadline_ns && !stopped(l)) {
		uint64_t before = get(&s->counters.sent_pkts);

		lane_send_replies(l);
		/* There is no schedule: a packet is meant to go when it goes. */
		walk_set_due(&s->walk, now);
		more = lane_send_bursts(l, s);
		if (get(&s->counters.sent_pkts) != before) {
			if (!get(&s->counters.first_tx_ns))
				set(&s->counters.first_tx_ns, now);
			now = clock_ns();
			set(&s->counters.last_tx_ns, now);
		} else {
			now = clock_ns();
		}
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

static void lane_wait_for_start(struct lane *l, uint64_t t0)
{
	uint64_t now;

	while (!stopped(l) && (now = clock_ns()) < t0) {
		lane_send_replies(l);
		sleep_until(t0 - now < LANE_SLEEP_MAX_NS ? t0 : now + LANE_SLEEP_MAX_NS);
	}
}

static void lane_end(struct lane *l)
{
	uint64_t one = 1;

	for (uint32_t i = 0; i < l->nr_streams; i++) {
		struct lane_stream *s = &l->streams[i];

		if (s->pending)
			rte_pktmbuf_free_bulk(s->pkts + s->head, s->pending);
		set(&s->counters.waiting_pkts, s->pending);
	}
	if (atomic_fetch_sub(&l->lanes->running, 1) == 1)
		(void)!write(l->lanes->done_fd, &one, sizeof(one));
}

void *lane_main(void *arg)
{
	struct lane *l = arg;

	/* Else a sleep may end 50 us late, whatever it was asked for. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	/* A pool's cache belongs to an lcore: without being one every buffer goes through a ring. */
	if (rte_thread_register()) {
		atomic_store(&l->lanes->error, rte_errno ? rte_errno : EAGAIN);
		lanes_stop(l->lanes);
		lane_end(l);
		return NULL;
	}
	if (plan_has_rate(l->lanes->plan)) {
		lane_wait_for_start(l, l->lanes->t0_ns);
		lane_run_paced(l);
	} else {
		lane_wait_for_start(l, l->streams->walk.t0_ns);
		lane_run_max(l);
	}
	lane_end(l);
	rte_thread_unregister();
	return NULL;
}
