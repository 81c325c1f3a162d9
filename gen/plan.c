// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/arp.h"
#include "lib/err.h"
#include "lib/probe.h"

static void plan_template(struct plan *p, const struct plan_request *r)
{
	struct template_fields f = { .src_port = p->stream->src_port,
				     .dst_port = p->stream->dst_port,
				     .ttl = p->stream->ttl,
				     .shard = (uint8_t)r->shard };

	arp_mac_of((uint32_t)addrset_at(&p->stream->sources, 0).lo, p->src_mac);
	if (r->dst_mac_given)
		memcpy(p->dst_mac, r->dst_mac, 6);
	else
		arp_mac_of((uint32_t)p->scenario.in[0].a.lo, p->dst_mac);
	memcpy(f.src_mac, p->src_mac, 6);
	memcpy(f.dst_mac, p->dst_mac, 6);
	template_init(&p->template, &f, 1);
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
	p->stream = &p->scenario.streams[0];
	ret = scenario_sched(&p->scenario, 0, r->shard, r->nr_shards, &p->sched, err);
	if (!ret && !p->sched.total)
		ret = err_set(err, -EINVAL, "shard %" PRIu32 " of %" PRIu32 " has no packet to send: "
			      "raise the count or use fewer shards", r->shard, r->nr_shards);
	if (ret) {
		plan_free(p);
		return ret;
	}
	p->unlimited = !p->sched.rate.pps && p->stream->count > PROBE_SEQ_MAX;
	p->duration_ns = (uint64_t)(p->scenario.duration_s * 1e9);
	plan_template(p, r);
	return 0;
}

void plan_free(struct plan *p)
{
	scenario_free(&p->scenario);
}

void plan_text(const struct plan *p, const char *port, char *buf, size_t size)
{
	if (p->unlimited)
		snprintf(buf, size, "%s: as many packets as go in %.10g s -> %" PRIu64
			 " destinations via %s", p->scenario.name, p->scenario.duration_s,
			 sched_distinct(&p->sched), port);
	else
		snprintf(buf, size, "%s: %" PRIu64 " packets -> %" PRIu64 " destinations via %s",
			 p->scenario.name, p->sched.total, sched_distinct(&p->sched), port);
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
