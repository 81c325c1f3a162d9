// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/arp.h"
#include "lib/err.h"
#include "lib/nd.h"
#include "lib/probe.h"

static void mac_of(int family, struct addr a, uint8_t mac[6])
{
	if (family == AF_INET6)
		nd_mac_of(a, mac);
	else
		arp_mac_of((uint32_t)a.lo, mac);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int plan_templates(struct plan *p, uint32_t i, const struct plan_request *r, uint32_t *tag,
			  struct err *err)
{
	struct plan_stream *s = &p->streams[i];
	const struct scenario_host *dut = &p->scenario.in[0];
	struct template_fields f = { .stream = (uint8_t)i, .shard = (uint8_t)r->shard };
	int ret;

	mac_of(s->stream->sources.family, addrset_at(&s->stream->sources, 0), f.src_mac);
	if (r->dst_mac_given)
		memcpy(f.dst_mac, r->dst_mac, 6);
	else
		mac_of(dut->family, dut->a, f.dst_mac);
	ret = templates_init(&s->templates, s->stream, &f, tag, err);
	if (!ret && templates_len_max(&s->templates) > p->len_max)
		p->len_max = templates_len_max(&s->templates);
	return ret;
}

static int plan_stream(struct plan *p, uint32_t i, const struct plan_request *r, struct err *err)
{
	struct plan_stream *s = &p->streams[i];
	int ret;

	s->stream = &p->scenario.streams[i];
	s->start_ns = (uint64_t)llround(s->stream->start_s * 1e9);
	ret = scenario_sched(&p->scenario, i, r->shard, r->nr_shards, &s->sched, err);
	if (ret)
		return ret;
	if (!s->sched.rate.pps && p->nr_streams > 1)
		return err_set(err, -EINVAL, "stream %s has the rate max, which leaves nothing to the "
			       "others: give it a number", s->stream->name);
	s->asked = sched_distinct(&s->sched);
	if (!s->asked)
		s->asked = min_u64(s->sched.n, s->sched.total);
	p->tagged &= s->stream->shape.nr_vlans && !s->stream->replay;
	p->total += s->sched.total;
	p->asked += s->asked;
	return 0;
}

static int plan_streams(struct plan *p, const struct plan_request *r, struct err *err)
{
	uint32_t tag = 1;
	int ret = 0;

	p->nr_streams = p->scenario.nr_streams;
	p->tagged = true;
	p->streams = calloc(p->nr_streams, sizeof(*p->streams));
	if (!p->streams)
		return err_set(err, -ENOMEM, "no memory for %" PRIu32 " streams", p->nr_streams);
	for (uint32_t i = 0; i < p->nr_streams && !ret; i++)
		ret = plan_stream(p, i, r, err);
	if (!ret && !p->total)
		ret = err_set(err, -EINVAL, "shard %" PRIu32 " of %" PRIu32 " has no packet to send: "
			      "raise the count or use fewer shards", r->shard, r->nr_shards);
	for (uint32_t i = 0; i < p->nr_streams && !ret; i++)
		ret = plan_templates(p, i, r, &tag, err);
	return ret;
}

int plan_make(struct plan *p, const struct plan_request *r, struct err *err)
{
	const struct scenario_source from = { .path = r->path, .text = r->text,
					      .overrides = r->overrides,
					      .nr_overrides = r->nr_overrides,
					      .allow = r->allow, .nr_allow = r->nr_allow };
	int ret;

	memset(p, 0, sizeof(*p));
	ret = scenario_load(&p->scenario, &from, err);
	if (ret)
		return ret;
	ret = plan_streams(p, r, err);
	if (ret) {
		plan_free(p);
		return ret;
	}
	p->unlimited = !plan_has_rate(p) && p->streams[0].stream->count > PROBE_SEQ_MAX;
	p->duration_ns = (uint64_t)(p->scenario.duration_s * 1e9);
	return 0;
}

void plan_free(struct plan *p)
{
	for (uint32_t i = 0; p->streams && i < p->nr_streams; i++)
		templates_free(&p->streams[i].templates);
	free(p->streams);
	p->streams = NULL;
	scenario_free(&p->scenario);
}

uint64_t plan_mean_pps(const struct plan_stream *s)
{
	const struct sched *sched = &s->sched;
	uint64_t last_ns;

	if (sched->rate.nr_steps < 2 || !sched->total)
		return sched->rate.pps;
	last_ns = sched_due_ns(sched, sched->total - 1);
	return last_ns ? (uint64_t)((double)(sched->total - 1) * 1e9 / (double)last_ns + 0.5) :
			 sched->rate.pps;
}

void plan_text(const struct plan *p, const char *port, char *buf, size_t size)
{
	uint32_t skipped = 0, replayed = 0;
	size_t len;

	if (p->unlimited)
		len = (size_t)snprintf(buf, size, "%s: as many packets as go in %.10g s -> %" PRIu64
				       " destinations via %s", p->scenario.name, p->scenario.duration_s,
				       p->asked, port);
	else
		len = (size_t)snprintf(buf, size, "%s: %" PRIu64 " packets -> %" PRIu64
				       " destinations via %s", p->scenario.name, p->total, p->asked, port);
	for (uint32_t i = 0; i < p->nr_streams; i++) {
		replayed += p->streams[i].stream->replay ? p->streams[i].templates.nr : 0;
		skipped += p->streams[i].templates.skipped_pkts;
	}
	if (skipped && len < size)
		snprintf(buf + len, size - len, " (replayed are %" PRIu32 " packets; %" PRIu32
			 " carry no probe and are left out)", replayed, skipped);
}

int plan_parse_mac(const char *text, uint8_t mac[6], struct err *err)
{
	int len = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3],
		   &mac[4], &mac[5], &len) != 6 || text[len] || len != 17)
		return err_set(err, -EINVAL, "'%.40s' is no MAC address: write 02:00:00:00:00:01",
			       text);
	if (mac[0] & 1)
		return err_set(err, -EINVAL,
			       "%s is a group address: give the MAC of the host under test", text);
	return 0;
}
