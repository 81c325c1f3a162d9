// SPDX-License-Identifier: GPL-2.0-or-later
/* Lanes from start to end. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_mbuf_dyn.h>

#include "gen/lane_parts.h"
#include "gen/plan.h"
#include "gen/ports.h"
#include "gen/tag.h"
#include "gen/trace.h"
#include "lib/err.h"
#include "lib/nap.h"

/* After the last packet's due time a lane goes on for this long, to catch up: a hiccup of the
 * machine near the end must not look like a generator that is too slow. */
#define LANES_GRACE_NS UINT64_C(1000000000)

static void stream_init(struct lane_stream *s, const struct lanes *ls, const struct plan_stream *p,
			uint32_t nr)
{
	uint64_t t0_ns = ls->t0_ns + p->start_ns;

	s->templates = &p->templates;
	s->cycle_at = nr % p->templates.nr_cycle;
	s->cycle_step = ls->nr % p->templates.nr_cycle;
	pace_init(&s->pace, t0_ns, &p->sched.rate, p->sched.total, ls->plan->scenario.burst, nr, ls->nr);
	s->total = s->pace.total;
	walk_init(&s->walk, &p->sched, p->stream, template_takes_ports(p->templates.list), t0_ns, nr,
		  ls->nr);
}

static int lane_init(struct lanes *ls, uint32_t nr, int tag_offset, struct err *err)
{
	struct port *port = &ls->ports->port[ports_of_lane(ls->ports, nr)];
	const struct plan *p = ls->plan;
	struct lane *l = &ls->lane[nr];
	uint64_t pps = 0;

	l->lanes = ls;
	l->port = port->id;
	l->queue = ports_queue(ls->ports, nr);
	l->pool = port->tx_pools[l->queue];
	l->replies = l->queue ? NULL : ls->ports->replies[ports_of_lane(ls->ports, nr)];
	l->trace = ls->trace ? &ls->trace->rings[nr] : NULL;
	l->tag_offset = tag_offset;
	l->burst = p->scenario.burst;
	l->nap_ns = nap_active_ns(sysconf(_SC_NPROCESSORS_ONLN));
	l->streams = aligned_alloc(64, p->nr_streams * sizeof(*l->streams));
	if (!l->streams)
		return err_set(err, -ENOMEM, "no memory for lane %" PRIu32, nr);
	memset(l->streams, 0, p->nr_streams * sizeof(*l->streams));
	l->nr_streams = p->nr_streams;
	for (uint32_t i = 0; i < p->nr_streams; i++) {
		stream_init(&l->streams[i], ls, &p->streams[i], nr);
		pps += rate_max_pps(&p->streams[i].sched.rate) / ls->nr;
	}
	l->naps = lane_may_nap(pps, l->nap_ns);
	return 0;
}

/* When a lane gives up: the last packet's due time and some grace, or the end of the duration. */
static uint64_t deadline(const struct plan *p, uint64_t t0_ns)
{
	uint64_t last = 0;

	if (!plan_has_rate(p))
		return t0_ns + p->duration_ns;
	for (uint32_t i = 0; i < p->nr_streams; i++) {
		const struct plan_stream *s = &p->streams[i];
		uint64_t due = s->sched.total ? sched_due_ns(&s->sched, s->sched.total - 1) : 0;

		last = s->start_ns + due > last ? s->start_ns + due : last;
	}
	return t0_ns + last + LANES_GRACE_NS;
}

static int prepare(struct lanes *l, struct err *err)
{
	int tag_offset = tag_register(err), ret = 0;

	if (tag_offset < 0)
		return tag_offset;
	l->lane = aligned_alloc(64, l->nr * sizeof(*l->lane));
	if (!l->lane)
		return err_set(err, -ENOMEM, "no memory for %" PRIu32 " lanes", l->nr);
	memset(l->lane, 0, l->nr * sizeof(*l->lane));
	l->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->done_fd < 0)
		return err_set(err, -errno, "no descriptor for the end of the lanes: %s: raise "
			       "ulimit -n", strerror(errno));
	for (uint32_t i = 0; i < l->nr && !ret; i++)
		ret = lane_init(l, i, tag_offset, err);
	return ret;
}

int lanes_start(struct lanes *l, const struct plan *plan, struct ports *ports, struct trace *trace,
		uint64_t t0_ns, struct err *err)
{
	int ret;

	*l = (struct lanes){ .plan = plan, .ports = ports, .trace = trace, .done_fd = -1,
			     .nr = plan->scenario.lanes, .t0_ns = t0_ns,
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
	for (uint32_t i = 0; l->lane && i < l->nr; i++)
		free(l->lane[i].streams);
	free(l->lane);
	l->lane = NULL;
	l->nr = 0;
}

const struct lane_counters *lanes_counters(const struct lanes *l, uint32_t stream, uint32_t lane)
{
	return &l->lane[lane].streams[stream].counters;
}

uint64_t lanes_sent(const struct lanes *l, uint32_t lane, uint64_t *refused)
{
	uint64_t sent = 0;

	*refused = 0;
	for (uint32_t i = 0; i < l->lane[lane].nr_streams; i++) {
		sent += lanes_get(&lanes_counters(l, i, lane)->sent_pkts);
		*refused += lanes_get(&lanes_counters(l, i, lane)->refused_pkts);
	}
	return sent;
}
