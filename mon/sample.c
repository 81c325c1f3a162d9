// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/sample.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "mon/sample_part.h"
#include "mon/trace.h"

uint64_t sample_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int sampler_open(struct sampler *s, struct err *err)
{
	memset(s, 0, sizeof(*s));
	return rtnl_open(&s->rtnl, err);
}

void sampler_close(struct sampler *s)
{
	rtnl_close(&s->rtnl);
	file_buf_free(&s->buf);
	proc_wide_free(&s->rt_cache);
}

void sampler_reset(struct sampler *s)
{
	s->entries_max[0] = s->entries_max[1] = s->dst_entries_max = s->dst6_entries_max = 0;
	s->has_echos = false;
}

#define SAMPLE_NR(a) (sizeof(a) / sizeof(*(a)))

/* NDTA_STATS lacks these three, the file has them. */
static int sample_neigh_file(struct sampler *s, const char *path, struct sample_neigh *n,
			     struct err *err)
{
	static const char *const names[] = {"unresolved_discards", "rcv_probes_mcast",
					    "rcv_probes_ucast"};
	uint64_t v[3];
	int ret = file_read(&s->buf, path, err);

	if (!ret)
		ret = proc_lnstat_sum(s->buf.text, s->buf.len, names, 3, v, err);
	if (ret < 0)
		return ret;
	n->unresolved_discards = v[0];
	n->rcv_probes_mcast = v[1];
	n->rcv_probes_ucast = v[2];
	return 0;
}

static int sample_neigh(struct sampler *s, struct sample *out, struct err *err)
{
	static const int families[] = {AF_INET, AF_INET6};

	for (unsigned i = 0; i < 2; i++) {
		struct sample_neigh *n = &out->neigh[i];
		int ret = rtnl_neightbl(&s->rtnl, families[i], &n->tbl, err);

		if (ret)
			return ret;
		if (n->tbl.entries > s->entries_max[i])
			s->entries_max[i] = n->tbl.entries;
		n->entries_max = s->entries_max[i];
	}
	return 0;
}

/* Only the first network namespace has these files. */
static int sample_neigh_files(struct sampler *s, struct sample *out, struct err *err)
{
	int ret = sample_neigh_file(s, "/proc/net/stat/arp_cache", &out->neigh[0], err);

	return ret ? ret : sample_neigh_file(s, "/proc/net/stat/ndisc_cache", &out->neigh[1], err);
}

static int sample_dst(struct sampler *s, struct sample_dst *d, struct err *err)
{
	static const char *const counters[] = {"in_slow_tot", "out_slow_tot",	"in_no_route",
					       "in_brd",      "in_martian_dst", "in_martian_src"};
	static const char *const gauges[] = {"entries"};
	int ret = file_read(&s->buf, "/proc/net/stat/rt_cache", err);

	if (!ret)
		ret = proc_lnstat_sum(s->buf.text, s->buf.len, gauges, 1, &d->entries, err);
	if (ret >= 0)
		ret = proc_wide_lnstat(&s->rt_cache, s->buf.text, s->buf.len, counters,
				       SAMPLE_NR(counters), err);
	if (ret < 0)
		return ret;
	d->in_slow = s->rt_cache.total[0];
	d->out_slow = s->rt_cache.total[1];
	d->in_no_route = s->rt_cache.total[2];
	d->in_brd = s->rt_cache.total[3];
	d->in_martian_dst = s->rt_cache.total[4];
	d->in_martian_src = s->rt_cache.total[5];
	if (d->entries > s->dst_entries_max)
		s->dst_entries_max = d->entries;
	d->entries_max = s->dst_entries_max;
	return 0;
}

static int sample_cpu(struct sampler *s, struct sample *out, struct err *err)
{
	uint64_t ticks = 0;
	int ret = file_read(&s->buf, "/proc/net/softnet_stat", err);

	if (!ret)
		ret = proc_softnet(s->buf.text, s->buf.len, &out->softnet, err);
	if (!ret)
		ret = file_read(&s->buf, "/proc/softirqs", err);
	if (!ret)
		ret = proc_softirqs(s->buf.text, s->buf.len, "TIMER", &out->timer_softirqs, err);
	if (!ret)
		ret = proc_softirqs(s->buf.text, s->buf.len, "NET_RX", &out->net_rx_softirqs, err);
	if (!ret)
		ret = file_read(&s->buf, "/proc/stat", err);
	if (!ret)
		ret = proc_stat_softirq(s->buf.text, s->buf.len, &ticks, err);
	out->softirq_ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return ret;
}

static int sample_memory(struct sampler *s, struct sample *out, struct err *err)
{
	uint64_t kb[3] = {};
	int ret = file_read(&s->buf, "/proc/meminfo", err);

	if (!ret)
		ret = proc_meminfo(s->buf.text, s->buf.len, "Slab", &kb[0], err);
	if (!ret)
		ret = proc_meminfo(s->buf.text, s->buf.len, "SUnreclaim", &kb[1], err);
	if (!ret)
		ret = proc_meminfo(s->buf.text, s->buf.len, "MemFree", &kb[2], err);
	out->slab_bytes = kb[0] * 1024;
	out->slab_unreclaimable_bytes = kb[1] * 1024;
	out->mem_free_bytes = kb[2] * 1024;
	return ret;
}

static int sample_slab(struct sampler *s, struct sample *out, struct err *err)
{
	int ret = file_read(&s->buf, "/proc/slabinfo", err);

	if (!ret)
		ret = proc_slabinfo(s->buf.text, s->buf.len, "kmalloc-512", &out->neigh_cache, err);
	return ret;
}

static int sample_ifs(struct sampler *s, struct sample *out, struct err *err)
{
	for (unsigned i = 0; i < s->nr_ifs; i++) {
		int ret = rtnl_stats(&s->rtnl, s->ifindex[i], &out->ifs[i], err);

		if (ret)
			return ret;
	}
	return sample_devs6(s, out, err);
}

static void sample_self(struct sample *out)
{
	struct rusage u;

	if (!getrusage(RUSAGE_SELF, &u))
		out->rss_max_bytes = (uint64_t)u.ru_maxrss * 1024;
}

static void sample_note(struct sample *out, unsigned part, int ret, const struct err *err)
{
	if (!ret)
		out->have |= part;
	else if (!out->missing[0])
		snprintf(out->missing, sizeof(out->missing), "%.255s", err->text);
}

int sampler_take(struct sampler *s, struct sample *out, bool full, struct err *err)
{
	struct err part;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	out->t_ns = sample_now_ns();
	sample_note(out, SAMPLE_IFS, sample_ifs(s, out, &part), &part);
	sample_note(out, SAMPLE_IP4, sample_ip(s, &out->ip, &part), &part);
	sample_note(out, SAMPLE_IP6, sample_ip6(s, out, &part), &part);
	sample_note(out, SAMPLE_NEIGH, sample_neigh(s, out, &part), &part);
	sample_note(out, SAMPLE_NEIGH_FILES, sample_neigh_files(s, out, &part), &part);
	sample_note(out, SAMPLE_DST, sample_dst(s, &out->dst, &part), &part);
	sample_note(out, SAMPLE_CPU, sample_cpu(s, out, &part), &part);
	sample_note(out, SAMPLE_MEMORY, sample_memory(s, out, &part), &part);
	if (full)
		sample_note(out, SAMPLE_SLAB, sample_slab(s, out, &part), &part);
	if (s->trace && s->trace->armed) {
		ret = trace_read(s->trace, err);
		out->has_drops = !ret;
	}
	sample_answered(s, out);
	sample_self(out);
	out->cost_ns = sample_now_ns() - out->t_ns;
	return ret;
}
