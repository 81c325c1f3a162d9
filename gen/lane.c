// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/lane.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "gen/plan.h"
#include "dpdk/port.h"
#include "gen/trace.h"
#include "gen/walk.h"
#include "lib/err.h"
#include "lib/nap.h"
#include "lib/pace.h"

/* How a lane shares the machine with the guest that it floods. */
enum {
	/*
	 * When packets are due more often than naps may be (lib/nap.h), a lane naps and sends what
	 * has come due together, as long as that is at most so many; at higher rates it polls.
	 */
	LANE_NAP_PKTS = 16,
	/* Never longer than this: to see lanes_stop(), and replies waiting in lanes.replies. */
	LANE_SLEEP_MAX_NS = 1000 * 1000,
	/* After the last packet's due time a lane goes on for this long, to catch up: a hiccup of the
	 * machine near the end must not look like a generator that is too slow. */
	LANE_GRACE_NS = 1000 * 1000 * 1000,
	/* Without a rate: bursts from one look at the clock to the next. */
	LANE_CLOCK_BURSTS = 256,
	LANE_REPLIES = 16,
};

struct lane {
	struct lane_counters counters;

	/* Constant while it runs. */
	struct lanes *lanes;
	struct rte_mempool *pool;
	struct rte_ring *replies; /* NULL: not this lane's business, or none */
	struct trace_ring *trace; /* NULL: none */
	const struct template *template;
	uint16_t port, queue;
	int tag_offset;
	uint32_t burst;
	uint64_t nap_ns;
	bool naps; /* few packets come due meanwhile */
	uint64_t total;
	pthread_t thread;

	/* The packets from head on, pending of them, are made and not sent. */
	unsigned int head, pending;
	struct rte_mbuf *pkts[BATCH_MAX];
	struct pace pace;
	struct walk walk;
	struct batch batch;
};

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
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* One writer: no need for an atomic addition. */
static inline void set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
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

/* A buffer that this lane has not used yet, or that something else was put into. */
static __rte_noinline void lane_adopt(const struct lane *l, struct rte_mbuf *m)
{
	rte_pktmbuf_reset(m);
	m->data_len = TEMPLATE_LEN;
	m->pkt_len = TEMPLATE_LEN;
	memcpy(lane_frame(m), l->template->frame, sizeof(l->template->frame));
	*RTE_MBUF_DYNFIELD(m, l->tag_offset, uint32_t *) = l->template->tag;
}

/*
 * The next @n packets, into pkts. A buffer comes back from the port as it went out: the driver's
 * free restores what it touched of the mbuf, and nobody writes to the frame. So a buffer that has
 * the template's tag needs its two stores and nothing else.
 */
static inline bool lane_make(struct lane *l, unsigned int n)
{
	const uint32_t tag = l->template->tag;
	const int tag_offset = l->tag_offset;

	if (unlikely(rte_mempool_get_bulk(l->pool, (void **)l->pkts, n)))
		return false;
	walk_next(&l->walk, &l->batch, n);
	template_fill(l->template, &l->batch, n);
	for (unsigned int k = 0; k < n; k++) {
		struct rte_mbuf *m = l->pkts[k];

		if (unlikely(*RTE_MBUF_DYNFIELD(m, tag_offset, uint32_t *) != tag))
			lane_adopt(l, m);
		template_stamp(lane_frame(m), &l->batch, k);
	}
	l->head = 0;
	l->pending = n;
	return true;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Offer the first @n of the pending packets. Returns how many the port took. */
static inline unsigned int lane_offer(struct lane *l, unsigned int n)
{
	unsigned int sent = rte_eth_tx_burst(l->port, l->queue, l->pkts + l->head, (uint16_t)n);

	l->head += sent;
	l->pending -= sent;
	set(&l->counters.sent_pkts, get(&l->counters.sent_pkts) + sent);
	if (unlikely(sent < n))
		set(&l->counters.refused_pkts, get(&l->counters.refused_pkts) + n - sent);
	return sent;
}

static inline void lane_sent_at(struct lane *l, uint64_t now)
{
	if (unlikely(!get(&l->counters.first_tx_ns)))
		set(&l->counters.first_tx_ns, now);
	set(&l->counters.last_tx_ns, now);
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
	uint64_t next = pace_next_ns(&l->pace);

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
static bool lane_send_paced(struct lane *l, uint64_t now, unsigned int n)
{
	unsigned int sent;

	if (!l->pending && !lane_make(l, n)) {
		pace_give_back(&l->pace, n);
		set(&l->counters.refused_pkts, get(&l->counters.refused_pkts) + n);
		return false;
	}
	sent = lane_offer(l, n);
	if (sent) {
		lane_sent_at(l, now);
		if (l->trace)
			trace_burst(l->trace, now, sent);
	}
	if (likely(sent == n))
		return true;
	pace_give_back(&l->pace, n - sent);
	return false;
}

static void lane_run_paced(struct lane *l)
{
	while (!stopped(l)) {
		uint64_t now = clock_ns();
		unsigned int n;

		if (now >= l->lanes->deadline_ns || l->pace.taken == l->pace.total)
			break;
		lane_send_replies(l);
		n = pace_take(&l->pace, now, l->pending ? l->pending : l->burst);
		if (!n)
			lane_wait(l, now);
		else if (!lane_send_paced(l, now, n))
			lane_back_off(l);
	}
}

/* Up to LANE_CLOCK_BURSTS full bursts. False once nothing is left to send. */
static bool lane_send_bursts(struct lane *l)
{
	for (unsigned int i = 0; i < LANE_CLOCK_BURSTS; i++) {
		uint64_t left = l->total - get(&l->counters.sent_pkts);
		unsigned int n = left < l->burst ? (unsigned int)left : l->burst;

		if (!n)
			return false;
		if (unlikely(l->pending))
			n = l->pending;
		else if (unlikely(!lane_make(l, n))) {
			lane_back_off(l);
			return true;
		}
		if (unlikely(lane_offer(l, n) < n)) {
			lane_back_off(l);
			return true;
		}
	}
	return true;
}

static void lane_run_max(struct lane *l)
{
	uint64_t now = clock_ns();
	bool more = true;

	while (more && now < l->lanes->deadline_ns && !stopped(l)) {
		uint64_t before = get(&l->counters.sent_pkts);

		/* There is no schedule: a packet is meant to go when it goes. */
		walk_set_due(&l->walk, now);
		more = lane_send_bursts(l);
		if (get(&l->counters.sent_pkts) != before) {
			if (!get(&l->counters.first_tx_ns))
				set(&l->counters.first_tx_ns, now);
			now = clock_ns();
			set(&l->counters.last_tx_ns, now);
		} else {
			now = clock_ns();
		}
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

static void lane_wait_for_start(struct lane *l)
{
	uint64_t now, t0 = l->lanes->t0_ns;

	while (!stopped(l) && (now = clock_ns()) < t0) {
		lane_send_replies(l);
		sleep_until(t0 - now < LANE_SLEEP_MAX_NS ? t0 : now + LANE_SLEEP_MAX_NS);
	}
}

static void lane_end(struct lane *l)
{
	uint64_t one = 1;

	if (l->pending)
		rte_pktmbuf_free_bulk(l->pkts + l->head, l->pending);
	set(&l->counters.waiting_pkts, l->pending);
	if (atomic_fetch_sub(&l->lanes->running, 1) == 1)
		(void)!write(l->lanes->done_fd, &one, sizeof(one));
}

static void *lane_main(void *arg)
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
	lane_wait_for_start(l);
	if (l->lanes->plan->sched.rate.pps)
		lane_run_paced(l);
	else
		lane_run_max(l);
	lane_end(l);
	rte_thread_unregister();
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static int tag_register(struct err *err)
{
	static const struct rte_mbuf_dynfield field = { .name = "dststorm_template",
							.size = sizeof(uint32_t),
							.align = __alignof__(uint32_t) };
	int offset = rte_mbuf_dynfield_register(&field);

	if (offset < 0)
		return err_set(err, -rte_errno, "no room for a mark in DPDK's buffers: %s",
			       rte_strerror(rte_errno));
	return offset;
}

static void lane_init(struct lanes *ls, uint32_t nr, int tag_offset)
{
	const struct sched *s = &ls->plan->sched;
	struct lane *l = &ls->lane[nr];

	memset(l, 0, sizeof(*l));
	l->lanes = ls;
	l->pool = ls->port->tx_pools[nr];
	l->replies = nr ? NULL : ls->replies;
	l->trace = ls->trace ? &ls->trace->rings[nr] : NULL;
	l->template = &ls->plan->template;
	l->port = ls->port->id;
	l->queue = (uint16_t)nr;
	l->tag_offset = tag_offset;
	l->burst = ls->plan->scenario.burst;
	l->nap_ns = nap_active_ns(sysconf(_SC_NPROCESSORS_ONLN));
	l->naps = s->rate.pps / ls->nr <= LANE_NAP_PKTS * UINT64_C(1000000000) / l->nap_ns;
	pace_init(&l->pace, ls->t0_ns, &s->rate, s->total, l->burst, nr, ls->nr);
	l->total = l->pace.total;
	walk_init(&l->walk, s, &ls->plan->stream->destinations, &ls->plan->stream->sources,
		  ls->t0_ns, nr, ls->nr);
}

/* When a lane gives up: the last packet's due time and some grace, or the end of the duration. */
static uint64_t deadline(const struct plan *p, uint64_t t0_ns)
{
	if (!p->sched.rate.pps)
		return t0_ns + p->duration_ns;
	return t0_ns + sched_due_ns(&p->sched, p->sched.total - 1) + LANE_GRACE_NS;
}

static int prepare(struct lanes *l, struct err *err)
{
	int tag_offset = tag_register(err);

	if (tag_offset < 0)
		return tag_offset;
	l->lane = aligned_alloc(64, l->nr * sizeof(*l->lane));
	l->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!l->lane || l->done_fd < 0)
		return err_set(err, -ENOMEM, "no memory for %" PRIu32 " lanes", l->nr);
	for (uint32_t i = 0; i < l->nr; i++)
		lane_init(l, i, tag_offset);
	return 0;
}

int lanes_start(struct lanes *l, const struct plan *plan, struct port *port,
		struct rte_ring *replies, struct trace *trace, uint64_t t0_ns, struct err *err)
{
	int ret;

	*l = (struct lanes){ .plan = plan, .port = port, .replies = replies,
			     .trace = trace, .done_fd = -1, .nr = plan->scenario.lanes, .t0_ns = t0_ns,
			     .deadline_ns = deadline(plan, t0_ns) };
	ret = prepare(l, err);
	atomic_store(&l->running, l->nr);
	for (uint32_t i = 0; i < l->nr && !ret; i++) {
		ret = pthread_create(&l->lane[i].thread, NULL, lane_main, &l->lane[i]);
		if (ret)
			ret = err_set(err, -ret, "lane %" PRIu32 " does not start: %s: lower --lanes",
				      i, strerror(ret));
		else
			l->nr_started++;
	}
	if (!ret)
		return 0;
	lanes_stop(l);
	lanes_join(l, NULL);
	lanes_free(l);
	return ret;
}

void lanes_stop(struct lanes *l)
{
	atomic_store(&l->stop, true);
}

int lanes_join(struct lanes *l, struct err *err)
{
	int error;

	while (l->nr_started)
		pthread_join(l->lane[--l->nr_started].thread, NULL);
	error = atomic_load(&l->error);
	if (!error)
		return 0;
	return err_set(err, -error, "DPDK has no room for %" PRIu32 " lanes: lower --lanes", l->nr);
}

void lanes_free(struct lanes *l)
{
	if (l->lane && l->done_fd >= 0)
		close(l->done_fd);
	free(l->lane);
	l->lane = NULL;
	l->nr = 0;
}

const struct lane_counters *lanes_counters(const struct lanes *l, uint32_t lane)
{
	return &l->lane[lane].counters;
}
