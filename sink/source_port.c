// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source_port.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "dpdk/eal.h"
#include "dpdk/port.h"
#include "dpdk/telemetry.h"
#include "lib/err.h"
#include "lib/nap.h"
#include "lib/netif.h"
#include "sink/account.h"
#include "sink/sink.h"
#include "sink/source.h"
#include "sink/stats.h"

#define SOURCE_BURST	  64u
#define SOURCE_TELL_NS	  UINT64_C(1000000000)
#define SOURCE_ANSWER_MAX 128u
#define SOURCE_DRAIN_NS	  UINT64_C(2000000000) /* for what waits in the queues at the end */
#define SOURCE_FRAME_MAX  1960u /* what is longer is accounted by its beginning */

/*
 * Between polls: nap_active_ns() while packets come, which is how exact delays are, and up to
 * NAP_IDLE_MAX after a silence, which is far from filling the guest's ring. Only a full burst is
 * followed by another poll at once.
 */
#define NAP_IDLE_MAX_NS UINT64_C(500000)
#define NAP_SLACK_NS	1000ul /* the kernel's 50 us of timer slack would double the naps */

struct source_port {
	struct port port;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	struct sink *sink;
	struct account *account; /* the sink's */
	pthread_mutex_t *lock;
	bool telemetry;
	uint64_t next_tell_ns;
	const char *interface; /* of the kernel's, that it may lose; or NULL */
	atomic_int failed;     /* negative errno; then the sentence is in err */
	struct err err;
	uint64_t missed_before; /* of the port, when it started to receive */
};

/* --- the thread ------------------------------------------------------------------------------- */

/* Returns how many came from queue @q. */
static unsigned int source_receive(struct source_port *s, uint16_t q)
{
	struct rte_mbuf *m[SOURCE_BURST];
	unsigned int n = rte_eth_rx_burst(s->port.id, q, m, SOURCE_BURST);
	uint64_t now_ns;

	if (!n)
		return 0;
	now_ns = sink_now_ns();
	pthread_mutex_lock(s->lock);
	for (unsigned int i = 0; i < n; i++)
		account_frame(s->account, rte_pktmbuf_mtod(m[i], const uint8_t *),
			      rte_pktmbuf_data_len(m[i]), now_ns);
	account_flush(s->account);
	pthread_mutex_unlock(s->lock);
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

static struct rte_mbuf *source_mbuf(struct source_port *s, const struct answer *answer)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->port.tx_pools[0]);

	if (m)
		memcpy(rte_pktmbuf_append(m, answer->len), answer->frame, answer->len);
	return m;
}

/* Hand what is due to the port, as much as it takes. Returns 1 if it did not take all, or else 0. */
static int source_send(struct source_port *s, uint64_t now_ns)
{
	struct answer answer[SOURCE_BURST];
	struct rte_mbuf *m[SOURCE_BURST];
	unsigned int n = 0, made = 0, sent = 0;

	while (n < SOURCE_BURST && !account_take(s->account, now_ns, &answer[n]))
		n++;
	while (made < n && (m[made] = source_mbuf(s, &answer[made])))
		made++;
	if (made)
		sent = rte_eth_tx_burst(s->port.id, 0, m, (uint16_t)made);
	for (unsigned int i = 0; i < sent; i++)
		account_sent(s->account, &answer[i]);
	for (unsigned int i = sent; i < n; i++)
		account_unsent(s->account, &answer[i]);
	if (sent < made)
		rte_pktmbuf_free_bulk(m + sent, made - sent);
	return sent < n;
}

/* Send what is due; what the guest refuses waits. Returns when the next is due. */
static uint64_t source_answer(struct source_port *s, uint64_t now_ns)
{
	uint64_t next_ns;
	int refused;

	pthread_mutex_lock(s->lock);
	refused = source_send(s, now_ns);
	next_ns = account_next_ns(s->account);
	pthread_mutex_unlock(s->lock);
	/* A guest that takes nothing is tried again with the next poll, not at once. */
	return refused ? UINT64_MAX : next_ns;
}

/* Returns how many came, and whether there may be more. */
static unsigned int source_receive_all(struct source_port *s, bool *full)
{
	unsigned int n, sum = 0;

	*full = false;
	for (uint16_t q = 0; q < s->port.nr_rx; q++) {
		n = source_receive(s, q);
		*full |= n == SOURCE_BURST;
		sum += n;
	}
	return sum;
}

/* What came before the end is taken in still; a flood that does not end must not keep us. */
static void source_drain(struct source_port *s)
{
	const uint64_t until_ns = sink_now_ns() + SOURCE_DRAIN_NS;
	bool full;

	do
		source_receive_all(s, &full);
	while (full && sink_now_ns() < until_ns);
}

/* What the port missed, and for telemetry the statistics of now. */
static void source_tell(struct source_port *s, uint64_t now_ns)
{
	uint64_t missed = port_missed(&s->port);

	pthread_mutex_lock(s->lock);
	s->sink->drops.capture_dropped_pkts = missed - s->missed_before;
	if (s->telemetry)
		telemetry_tell(stats_json(s->sink, "running", now_ns));
	pthread_mutex_unlock(s->lock);
	s->next_tell_ns = now_ns + SOURCE_TELL_NS;
}

static bool source_lost(struct source_port *s)
{
	int ret = s->interface ? netif_alive(s->interface, &s->err) : 0;

	if (!ret)
		return false;
	atomic_store(&s->failed, ret);
	kill(getpid(), SIGTERM);
	return true;
}

static void source_nap(uint64_t nap_ns, uint64_t now_ns, uint64_t next_ns)
{
	if (next_ns <= now_ns)
		return;
	if (next_ns - now_ns < nap_ns)
		nap_ns = next_ns - now_ns;
	nanosleep(&(struct timespec){.tv_nsec = (long)nap_ns}, NULL);
}

static void *source_thread(void *arg)
{
	const uint64_t active_ns = nap_active_ns(sysconf(_SC_NPROCESSORS_ONLN));
	uint64_t nap_ns = active_ns, now_ns, next_ns;
	struct source_port *s = arg;
	unsigned int n;
	bool full, lost = false;

	prctl(PR_SET_TIMERSLACK, NAP_SLACK_NS);
	rte_thread_register(); /* without it the pool works too, only slower */
	while (!lost && !atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		n = source_receive_all(s, &full);
		now_ns = sink_now_ns();
		next_ns = source_answer(s, now_ns);
		if (now_ns >= s->next_tell_ns) {
			source_tell(s, now_ns);
			lost = source_lost(s);
		}
		if (full)
			continue;
		nap_ns = n ? active_ns : 2 * nap_ns;
		if (nap_ns > NAP_IDLE_MAX_NS)
			nap_ns = NAP_IDLE_MAX_NS;
		source_nap(nap_ns, now_ns, next_ns);
	}
	source_drain(s);
	source_tell(s, sink_now_ns());
	rte_thread_unregister();
	return NULL;
}

int source_port_start(struct source_port *s, struct sink *sink, pthread_mutex_t *lock,
		      struct err *err)
{
	int ret;

	s->sink = sink;
	s->account = &sink->account;
	s->missed_before = port_missed(&s->port);
	s->lock = lock;
	atomic_store(&s->stop, false);
	ret = pthread_create(&s->thread, NULL, source_thread, s);
	if (ret)
		return err_set(err, -ret, "cannot start the receiving thread: %s", strerror(ret));
	s->running = true;
	return 0;
}

void source_port_stop(struct source_port *s)
{
	if (!s || !s->running)
		return;
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	s->running = false;
}

int source_port_failure(const struct source_port *s, struct err *err)
{
	int failed = atomic_load(&s->failed);

	return failed ? err_set(err, failed, "%s", s->err.text) : 0;
}

/* --- the port --------------------------------------------------------------------------------- */

static int source_open_all(struct source_port *s, const struct source_conf *conf, struct err *err)
{
	const struct port_conf port = {.nr_queues = port_rx_queues(conf->port),
				       .rx = true,
				       .tx = true,
				       .frame_max = SOURCE_ANSWER_MAX,
				       .rx_frame_max = SOURCE_FRAME_MAX};
	struct eal_options eal = {.name = "dststorm-sink",
				  .telemetry = conf->telemetry,
				  .huge = conf->huge,
				  .memory_mb = conf->memory_mb};
	int ret;

	if (!port_can_receive(conf->port))
		return err_set(err, -EINVAL, "nothing can be received from %s", conf->port->text);
	if (!eal.memory_mb)
		eal.memory_mb = PORT_MEMORY_BASE_MB + port_memory_mb(conf->port, &port);
	ret = port_prepare(conf->port, &eal, err);
	if (!ret)
		ret = eal_start(&eal, err);
	if (!ret && conf->telemetry)
		ret = telemetry_open("/dststorm/sink/stats", "What the sink counts", err);
	s->telemetry = conf->telemetry;
	if (port_is(conf->port, "af_packet:") || port_is(conf->port, "af_xdp:"))
		s->interface = conf->port->arg;
	return ret ? ret : port_open(&s->port, conf->port, &port, err);
}

int source_port_open(struct source_port **out, const struct source_conf *conf, struct err *err)
{
	struct source_port *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, -ENOMEM, "no memory");
	ret = source_open_all(s, conf, err);
	if (ret)
		source_port_close(s);
	else
		*out = s;
	return ret;
}

void source_port_close(struct source_port *s)
{
	if (!s)
		return;
	source_port_stop(s);
	port_close(&s->port);
	telemetry_tell(NULL);
	eal_stop();
	free(s);
}

bool source_port_ready(struct source_port *s)
{
	return port_ready(&s->port);
}

void source_port_waits_for(struct source_port *s, char *buf, size_t size)
{
	port_waits_for(&s->port, buf, size);
}
