// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source_vhost.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "lib/err.h"
#include "sink/account.h"
#include "sink/eal.h"
#include "lib/nap.h"
#include "sink/sink.h"
#include "sink/unix_path.h"

#define VHOST_NAME  "net_vhost0"
#define VHOST_BURST 64u
#define VHOST_MBUFS 4095u /* two bursts and the caches would do; a jump of answers needs more */
#define VHOST_CACHE 256u
#define VHOST_DESC  256u

/*
 * Between polls: nap_active_ns() while packets come, which is how exact delays are, and up to
 * NAP_IDLE_MAX after a silence, which is far from filling the guest's ring. Only a full burst is
 * followed by another poll at once.
 */
#define NAP_IDLE_MAX_NS UINT64_C(500000)
#define NAP_SLACK_NS	1000ul /* the kernel's 50 us of timer slack would double the naps */

struct source_vhost {
	uint16_t port;
	bool port_up;
	char *socket;
	struct rte_mempool *pool;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	struct account *account;
	pthread_mutex_t *lock;
};

/* --- the thread ------------------------------------------------------------------------------- */

static unsigned int vhost_receive(struct source_vhost *v)
{
	struct rte_mbuf *m[VHOST_BURST];
	unsigned int n = rte_eth_rx_burst(v->port, 0, m, VHOST_BURST);
	uint64_t now_ns;

	if (!n)
		return 0;
	now_ns = sink_now_ns();
	pthread_mutex_lock(v->lock);
	for (unsigned int i = 0; i < n; i++)
		account_frame(v->account, rte_pktmbuf_mtod(m[i], const uint8_t *),
			      rte_pktmbuf_data_len(m[i]), now_ns);
	account_flush(v->account);
	pthread_mutex_unlock(v->lock);
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

static struct rte_mbuf *vhost_mbuf(struct source_vhost *v, const struct answer *answer)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(v->pool);

	if (m)
		memcpy(rte_pktmbuf_append(m, ARP_FRAME_LEN), answer->frame, ARP_FRAME_LEN);
	return m;
}

/* Send what is due, as much as the guest takes; what it refuses waits. Returns when the next is. */
static uint64_t vhost_answer(struct source_vhost *v, uint64_t now_ns)
{
	struct answers *a = &v->account->answers;
	struct rte_mbuf *m[VHOST_BURST];
	const struct answer *answer;
	unsigned int n = 0, sent = 0;
	uint64_t next_ns;

	pthread_mutex_lock(v->lock);
	while (n < VHOST_BURST && (answer = answers_due(a, n, now_ns))) {
		m[n] = vhost_mbuf(v, answer);
		if (!m[n])
			break;
		n++;
	}
	if (n)
		sent = rte_eth_tx_burst(v->port, 0, m, (uint16_t)n);
	answers_pop(a, sent);
	v->account->counts.arp_replies += sent;
	next_ns = answers_next_ns(a);
	pthread_mutex_unlock(v->lock);
	if (sent < n)
		rte_pktmbuf_free_bulk(m + sent, n - sent);
	/* A guest that takes nothing is tried again with the next poll, not at once. */
	return sent < n ? UINT64_MAX : next_ns;
}

static void vhost_nap(uint64_t nap_ns, uint64_t now_ns, uint64_t next_ns)
{
	if (next_ns <= now_ns)
		return;
	if (next_ns - now_ns < nap_ns)
		nap_ns = next_ns - now_ns;
	nanosleep(&(struct timespec){.tv_nsec = (long)nap_ns}, NULL);
}

static void *vhost_thread(void *arg)
{
	const uint64_t active_ns = nap_active_ns(sysconf(_SC_NPROCESSORS_ONLN));
	uint64_t nap_ns = active_ns, now_ns, next_ns;
	struct source_vhost *v = arg;
	unsigned int n;

	prctl(PR_SET_TIMERSLACK, NAP_SLACK_NS);
	rte_thread_register(); /* without it the pool works too, only slower */
	while (!atomic_load_explicit(&v->stop, memory_order_relaxed)) {
		n = vhost_receive(v);
		now_ns = sink_now_ns();
		next_ns = vhost_answer(v, now_ns);
		if (n == VHOST_BURST)
			continue;
		nap_ns = n ? active_ns : 2 * nap_ns;
		if (nap_ns > NAP_IDLE_MAX_NS)
			nap_ns = NAP_IDLE_MAX_NS;
		vhost_nap(nap_ns, now_ns, next_ns);
	}
	rte_thread_unregister();
	return NULL;
}

int source_vhost_start(struct source_vhost *v, struct account *a, pthread_mutex_t *lock,
		       struct err *err)
{
	int ret;

	v->account = a;
	v->lock = lock;
	atomic_store(&v->stop, false);
	ret = pthread_create(&v->thread, NULL, vhost_thread, v);
	if (ret)
		return err_set(err, -ret, "cannot start the receiving thread: %s", strerror(ret));
	v->running = true;
	return 0;
}

void source_vhost_stop(struct source_vhost *v)
{
	if (!v || !v->running)
		return;
	atomic_store(&v->stop, true);
	pthread_join(v->thread, NULL);
	v->running = false;
}

/* --- the port --------------------------------------------------------------------------------- */

static int vhost_queues(struct source_vhost *v)
{
	int ret = rte_eth_dev_configure(v->port, 1, 1, &(struct rte_eth_conf){0});

	if (!ret)
		ret = rte_eth_rx_queue_setup(v->port, 0, VHOST_DESC, 0, NULL, v->pool);
	if (!ret)
		ret = rte_eth_tx_queue_setup(v->port, 0, VHOST_DESC, 0, NULL);
	return ret ? ret : rte_eth_dev_start(v->port);
}

static int vhost_port(struct source_vhost *v, struct err *err)
{
	char args[256];
	mode_t mask;
	int ret;

	v->pool = rte_pktmbuf_pool_create("sink", VHOST_MBUFS, VHOST_CACHE, 0,
					  RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!v->pool)
		return err_set(err, -ENOMEM, "no memory for %u packet buffers: give more --memory",
			       VHOST_MBUFS);
	snprintf(args, sizeof(args), "iface=%s,queues=1", v->socket);
	mask = umask(0177);
	ret = rte_eal_hotplug_add("vdev", VHOST_NAME, args);
	if (!ret)
		ret = rte_eth_dev_get_port_by_name(VHOST_NAME, &v->port);
	v->port_up = !ret;
	if (!ret)
		ret = vhost_queues(v);
	umask(mask);
	if (ret)
		return err_set(err, ret, "cannot listen at %s: %s", v->socket, eal_complaint());
	if (access(v->socket, F_OK))
		return err_set(err, -EIO, "cannot listen at %s: %s", v->socket, eal_complaint());
	return 0;
}

int source_vhost_open(struct source_vhost **out, const char *socket, bool huge,
		      unsigned int memory_mb, struct err *err)
{
	struct source_vhost *v;
	int ret;

	/* What DPDK splits its arguments at cannot be in one. */
	if (!*socket || strpbrk(socket, ",=[]"))
		return err_set(err, -EINVAL,
			       "the vhost socket \"%s\" must have a path without , = "
			       "[ and ]",
			       socket);
	ret = unix_path_claim(socket, err);
	if (ret)
		return ret;
	v = calloc(1, sizeof(*v));
	if (v)
		v->socket = strdup(socket);
	if (!v || !v->socket) {
		free(v);
		return err_set(err, -ENOMEM, "no memory");
	}
	ret = eal_start(huge, memory_mb, err);
	if (!ret)
		ret = vhost_port(v, err);
	if (ret)
		source_vhost_close(v);
	else
		*out = v;
	return ret;
}

void source_vhost_close(struct source_vhost *v)
{
	if (!v)
		return;
	source_vhost_stop(v);
	if (v->port_up) {
		rte_eth_dev_stop(v->port);
		rte_eth_dev_close(v->port);
	}
	rte_mempool_free(v->pool);
	eal_stop();
	unlink(v->socket);
	free(v->socket);
	free(v);
}

bool source_vhost_link(const struct source_vhost *v)
{
	struct rte_eth_link link = {0};

	return !rte_eth_link_get_nowait(v->port, &link) && link.link_status == RTE_ETH_LINK_UP;
}
