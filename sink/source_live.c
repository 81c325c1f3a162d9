// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source_live.h"

#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_packet.h>

#include "lib/err.h"
#include "lib/netif.h"
#include "sink/sink.h"

#define LIVE_SNAPLEN	 65535 /* everything: checksums are over the whole frame */
#define LIVE_BATCH	 512 /* frames taken under one lock, at most */
#define LIVE_RETIRE_MS	 1 /* a block of the ring that is not full is handed over after that */
#define LIVE_WAIT_MS	 100 /* between looks at the clock and the counters */
#define LIVE_COUNT_NS	 UINT64_C(100000000)
#define LIVE_DRAIN_NS	 UINT64_C(2000000000) /* for what is in the ring at the end */
#define LIVE_BURST	 64u /* answers sent at once, at most */
#define LIVE_CLOCK_TRIES 4

struct source_live {
	pcap_t *pcap;
	const char *name;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	struct sink *sink;
	pthread_mutex_t *lock;
	uint64_t shift_ns; /* from the kernel's clock to ours, modulo 2^64 */
	uint64_t start_ns; /* what came before is not ours */
	/* Counts since the interface was opened, and what they were at the start. */
	uint64_t kernel_pkts; /* that the kernel knows of: seen, dropped, or still in the ring */
	uint64_t seen_pkts, dropped_pkts;
	uint64_t dropped_base, interface_base;
	uint32_t last_recv, last_drop; /* pcap's own, which wrap */
	uint64_t next_count_ns;
	atomic_int failed; /* negative errno; then the sentence is in err */
	struct err err;
};

/* --- clock and counters ----------------------------------------------------------------------- */

static uint64_t live_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t live_clock_shift(void)
{
	uint64_t least = UINT64_MAX, shift = 0, before, real, after;

	for (int i = 0; i < LIVE_CLOCK_TRIES; i++) {
		before = sink_now_ns();
		real = live_realtime_ns();
		after = sink_now_ns();
		if (after - before >= least)
			continue;
		least = after - before;
		shift = before + least / 2 - real;
	}
	return shift;
}

/* What the kernel counted since the last time, added up in 64 bits. */
static void live_count(struct source_live *l)
{
	struct pcap_stat stat;

	if (pcap_stats(l->pcap, &stat))
		return; /* the interface is gone: the last counts stand */
	l->kernel_pkts += (uint32_t)(stat.ps_recv - l->last_recv);
	l->dropped_pkts += (uint32_t)(stat.ps_drop - l->last_drop);
	l->last_recv = stat.ps_recv;
	l->last_drop = stat.ps_drop;
}

/* The same, for all to see. Under the lock. */
static void live_tell(struct source_live *l)
{
	uint64_t dropped = netif_dropped(l->name);

	live_count(l);
	l->sink->drops.capture_dropped_pkts = l->dropped_pkts - l->dropped_base;
	if (dropped >= l->interface_base) /* else it is gone, and the last count stands */
		l->sink->drops.interface_dropped_pkts = dropped - l->interface_base;
	l->next_count_ns = sink_now_ns() + LIVE_COUNT_NS;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* With nanoseconds asked for, tv_usec holds nanoseconds. */
static void live_frame(u_char *arg, const struct pcap_pkthdr *header, const u_char *frame)
{
	struct source_live *l = (struct source_live *)(void *)arg;
	uint64_t now_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec +
			  l->shift_ns;

	l->seen_pkts++;
	if (now_ns >= l->start_ns)
		account_part(&l->sink->account, frame, header->caplen, header->len, now_ns);
}

/* One batch. Returns the frames, or -1 once the interface fails. */
static int live_receive(struct source_live *l)
{
	int n, lost = 0;

	l->shift_ns = live_clock_shift();
	pthread_mutex_lock(l->lock);
	n = pcap_dispatch(l->pcap, LIVE_BATCH, live_frame, (u_char *)l);
	account_flush(&l->sink->account);
	if (n < 0 || sink_now_ns() >= l->next_count_ns) {
		live_tell(l);
		lost = netif_alive(l->name, &l->err);
	}
	pthread_mutex_unlock(l->lock);
	if (n < 0 && !lost)
		lost = err_set(&l->err, -EIO, "cannot receive on %s: %s", l->name,
			       pcap_geterr(l->pcap));
	if (lost)
		atomic_store(&l->failed, lost);
	return lost ? -1 : n;
}

/* Send what is due; what the interface has no room for waits. Returns when the next is due. */
static uint64_t live_answer(struct source_live *l)
{
	struct account *a = &l->sink->account;
	uint64_t now_ns = sink_now_ns(), next_ns;
	struct answer answer;
	unsigned int n = 0;

	pthread_mutex_lock(l->lock);
	for (; n < LIVE_BURST && !account_take(a, now_ns, &answer); n++) {
		if (pcap_inject(l->pcap, answer.frame, answer.len) < 0) {
			account_unsent(a, &answer);
			break;
		}
		account_sent(a, &answer);
	}
	next_ns = account_next_ns(a);
	pthread_mutex_unlock(l->lock);
	/* Refused: tried again after the next wait, not at once. */
	return n < LIVE_BURST && next_ns <= now_ns ? UINT64_MAX : next_ns;
}

static void live_wait(struct source_live *l, uint64_t next_ns)
{
	struct pollfd fd = {.fd = pcap_get_selectable_fd(l->pcap), .events = POLLIN};
	uint64_t now_ns = sink_now_ns(), ns = (uint64_t)LIVE_WAIT_MS * 1000000;

	if (next_ns < now_ns + ns)
		ns = next_ns > now_ns ? next_ns - now_ns : 0;
	ppoll(&fd, 1, &(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/*
 * Until the ring is empty: until all that the kernel counted is seen or dropped. The block that is
 * being filled is handed over after LIVE_RETIRE_MS; a flood that does not end must not keep us.
 */
static void live_drain(struct source_live *l)
{
	const uint64_t until_ns = sink_now_ns() + LIVE_DRAIN_NS;
	uint64_t waiting = 1;

	while (waiting && sink_now_ns() < until_ns && live_receive(l) >= 0) {
		live_answer(l);
		pthread_mutex_lock(l->lock);
		live_tell(l);
		waiting = l->kernel_pkts - l->seen_pkts - l->dropped_pkts;
		pthread_mutex_unlock(l->lock);
		if (waiting)
			live_wait(l, sink_now_ns() + 1000000);
	}
}

static void *live_thread(void *arg)
{
	struct source_live *l = arg;
	uint64_t next_ns;
	int n;

	while (!atomic_load_explicit(&l->stop, memory_order_relaxed)) {
		n = live_receive(l);
		if (n < 0) {
			kill(getpid(), SIGTERM);
			return NULL;
		}
		next_ns = live_answer(l);
		if (n < LIVE_BATCH)
			live_wait(l, next_ns);
	}
	live_drain(l);
	return NULL;
}

int source_live_start(struct source_live *l, struct sink *sink, pthread_mutex_t *lock,
		      struct err *err)
{
	int ret;

	if (sink->account.responds && netif_has_default_route(l->name))
		return err_set(err, -EPERM,
			       "%s carries a default route: the sink answers for addresses that "
			       "are not its own only where nobody else is; take another "
			       "interface, or --passive",
			       l->name);
	l->sink = sink;
	l->lock = lock;
	l->start_ns = sink_now_ns();
	l->interface_base = netif_dropped(l->name);
	live_count(l);
	l->dropped_base = l->dropped_pkts;
	l->next_count_ns = 0;
	atomic_store(&l->stop, false);
	ret = pthread_create(&l->thread, NULL, live_thread, l);
	if (ret)
		return err_set(err, -ret, "cannot start the receiving thread: %s", strerror(ret));
	l->running = true;
	return 0;
}

void source_live_stop(struct source_live *l)
{
	if (!l || !l->running)
		return;
	atomic_store(&l->stop, true);
	pthread_join(l->thread, NULL);
	l->running = false;
}

int source_live_failure(const struct source_live *l, struct err *err)
{
	int failed = atomic_load(&l->failed);

	return failed ? err_set(err, failed, "%s", l->err.text) : 0;
}

/* --- life ------------------------------------------------------------------------------------ */

/* @status: of pcap_activate(), negative. */
static int live_refused(struct source_live *l, int status, struct err *err)
{
	const char *name = l->name;

	switch (status) {
	case PCAP_ERROR_NO_SUCH_DEVICE:
		return err_set(err, -ENODEV, "there is no interface %.64s: see ip link", name);
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		return err_set(err, -EPERM,
			       "no permission to receive on %.64s: the sink needs CAP_NET_RAW "
			       "(setcap cap_net_raw=ep on the program, or root)",
			       name);
	case PCAP_ERROR_IFACE_NOT_UP:
		return err_set(err, -ENETDOWN, "%.64s is down: ip link set %.64s up", name, name);
	}
	return err_set(err, -EIO, "cannot receive on %.64s: %s", name, pcap_geterr(l->pcap));
}

static int live_activate(struct source_live *l, unsigned int buffer_mb, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	int status, link;

	l->pcap = pcap_create(l->name, text);
	if (!l->pcap)
		return err_set(err, -ENOMEM, "cannot receive on %.64s: %s", l->name, text);
	pcap_set_snaplen(l->pcap, LIVE_SNAPLEN);
	pcap_set_promisc(l->pcap, 1);
	pcap_set_timeout(l->pcap, LIVE_RETIRE_MS);
	pcap_set_buffer_size(l->pcap, (int)(buffer_mb << 20));
	pcap_set_tstamp_precision(l->pcap, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(l->pcap);
	if (status < 0)
		return live_refused(l, status, err);
	link = pcap_datalink(l->pcap);
	if (link != DLT_EN10MB)
		return err_set(err, -EINVAL,
			       "%.64s is no Ethernet interface (its link type is %d): take one",
			       l->name, link);
	return 0;
}

/* What we send ourselves is not what arrived. The kernel can keep it from the ring (since 4.20);
 * libpcap only skips it there. */
static int live_only_in(struct source_live *l, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE];
	const int on = 1;

	(void)setsockopt(pcap_fileno(l->pcap), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	if (pcap_setdirection(l->pcap, PCAP_D_IN) || pcap_setnonblock(l->pcap, 1, text))
		return err_set(err, -EIO, "cannot receive on %.64s: %s", l->name,
			       pcap_geterr(l->pcap));
	return 0;
}

int source_live_open(struct source_live **out, const char *name, unsigned int buffer_mb,
		     struct err *err)
{
	struct source_live *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return err_set(err, -ENOMEM, "no memory");
	l->name = name;
	ret = live_activate(l, buffer_mb, err);
	if (!ret)
		ret = live_only_in(l, err);
	if (ret)
		source_live_close(l);
	else
		*out = l;
	return ret;
}

void source_live_close(struct source_live *l)
{
	if (!l)
		return;
	source_live_stop(l);
	if (l->pcap)
		pcap_close(l->pcap);
	free(l);
}

bool source_live_ready(const struct source_live *l)
{
	return netif_is_up(l->name);
}

void source_live_waits_for(const struct source_live *l, char *buf, size_t size)
{
	snprintf(buf, size, "a carrier on %.64s", l->name);
}
