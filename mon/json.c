// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/json.h"

#include "mon/sample.h"
#include "mon/trace.h"

#define JSON_DROPS_MAX 250 /* rows in a message, which has a limit; the sums are of all rows */

/* Adding to NULL fails and frees the value, so errors carry through to the end. */
static void json_put(json_t *obj, const char *key, uint64_t value)
{
	json_object_set_new(obj, key, json_integer((json_int_t)value));
}

static json_t *json_ifs(const struct sampler *s, const struct sample *in)
{
	json_t *ifs = json_object();

	for (unsigned i = 0; i < s->nr_ifs; i++) {
		const struct rtnl_stats *r = &in->ifs[i];
		json_t *one = json_object();

		json_put(one, "rx_pkts", r->rx_pkts);
		json_put(one, "rx_dropped", r->rx_dropped);
		json_put(one, "rx_errors", r->rx_errors);
		json_put(one, "rx_missed", r->rx_missed);
		json_put(one, "tx_pkts", r->tx_pkts);
		json_put(one, "tx_dropped", r->tx_dropped);
		json_put(one, "tx_errors", r->tx_errors);
		json_object_set_new(ifs, s->if_label[i], one);
	}
	return ifs;
}

// clang-format off
#define JSON_IP(member) { #member, offsetof(struct sample_ip, member) }
// clang-format on

static json_t *json_ip(const struct sample_ip *ip)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		JSON_IP(in_pkts),
		JSON_IP(in_hdr_errors),
		JSON_IP(in_addr_errors),
		JSON_IP(forwarded_pkts),
		JSON_IP(in_unknown_protos),
		JSON_IP(in_discards),
		JSON_IP(in_delivers),
		JSON_IP(out_requests),
		JSON_IP(out_discards),
		JSON_IP(out_no_routes),
		JSON_IP(in_no_routes),
		JSON_IP(in_bcast_pkts),
		JSON_IP(in_csum_errors),
		JSON_IP(rp_filter_pkts),
		JSON_IP(icmp_in_msgs),
		JSON_IP(icmp_out_msgs),
		JSON_IP(icmp_out_errors),
		JSON_IP(icmp_out_dest_unreachs),
		JSON_IP(icmp_out_time_excds),
		JSON_IP(icmp_out_rate_limit_global),
		JSON_IP(icmp_out_rate_limit_host),
		JSON_IP(udp_no_ports),
		JSON_IP(udp_in_errors),
		JSON_IP(udp_ignored_multi),
	};
	json_t *obj = json_object();

	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		json_put(obj, fields[i].name,
			 *(const uint64_t *)(const void *)((const char *)ip + fields[i].offset));
	return obj;
}

static json_t *json_neigh(const struct sample_neigh *n)
{
	const struct neightbl *t = &n->tbl;
	json_t *obj = json_object();

	json_put(obj, "entries", t->entries);
	json_put(obj, "entries_max", n->entries_max);
	json_put(obj, "allocs", t->allocs);
	json_put(obj, "destroys", t->destroys);
	json_put(obj, "hash_grows", t->hash_grows);
	json_put(obj, "lookups", t->lookups);
	json_put(obj, "hits", t->hits);
	json_put(obj, "res_failed", t->res_failed);
	json_put(obj, "rcv_probes_mcast", n->rcv_probes_mcast);
	json_put(obj, "rcv_probes_ucast", n->rcv_probes_ucast);
	json_put(obj, "forced_gc_runs", t->forced_gc_runs);
	json_put(obj, "periodic_gc_runs", t->periodic_gc_runs);
	json_put(obj, "unresolved_discards", n->unresolved_discards);
	json_put(obj, "table_fulls", t->table_fulls);
	json_put(obj, "gc_thresh1", t->gc_thresh1);
	json_put(obj, "gc_thresh2", t->gc_thresh2);
	json_put(obj, "gc_thresh3", t->gc_thresh3);
	json_put(obj, "entry_size_bytes", t->entry_size);
	json_put(obj, "reachable_time_ms", t->reachable_time_ms);
	json_put(obj, "base_reachable_time_ms", t->base_reachable_time_ms);
	json_put(obj, "retrans_time_ms", t->retrans_time_ms);
	json_put(obj, "mcast_probes", t->mcast_probes);
	return obj;
}

static json_t *json_dst(const struct sample_dst *d)
{
	json_t *obj = json_object();

	json_put(obj, "entries", d->entries);
	json_put(obj, "entries_max", d->entries_max);
	json_put(obj, "in_slow", d->in_slow);
	json_put(obj, "out_slow", d->out_slow);
	json_put(obj, "in_no_route", d->in_no_route);
	json_put(obj, "in_brd", d->in_brd);
	json_put(obj, "in_martian_dst", d->in_martian_dst);
	json_put(obj, "in_martian_src", d->in_martian_src);
	return obj;
}

static json_t *json_softnet(const struct proc_softnet *n)
{
	json_t *obj = json_object();

	json_put(obj, "processed_pkts", n->processed_pkts);
	json_put(obj, "dropped_pkts", n->dropped_pkts);
	json_put(obj, "time_squeeze", n->time_squeeze);
	return obj;
}

static json_t *json_cpu(const struct sample *in)
{
	json_t *obj = json_object();

	json_put(obj, "softirq_ns", in->softirq_ns);
	json_put(obj, "timer_softirqs", in->timer_softirqs);
	json_put(obj, "net_rx_softirqs", in->net_rx_softirqs);
	return obj;
}

static json_t *json_slab(const struct sample *in)
{
	json_t *obj = json_object();

	json_put(obj, "total_bytes", in->slab_bytes);
	json_put(obj, "unreclaimable_bytes", in->slab_unreclaimable_bytes);
	json_put(obj, "mem_free_bytes", in->mem_free_bytes);
	if (in->has_neigh_cache) {
		json_put(obj, "kmalloc_512_objs", in->neigh_cache.active_objs);
		json_put(obj, "kmalloc_512_bytes",
			 in->neigh_cache.objs * in->neigh_cache.obj_bytes);
	}
	return obj;
}

json_t *json_sample(const struct sampler *s, const struct sample *in)
{
	json_t *obj = json_object(), *neigh = json_object();

	json_object_set_new(neigh, "ipv4", json_neigh(&in->neigh[0]));
	json_object_set_new(neigh, "ipv6", json_neigh(&in->neigh[1]));
	json_put(obj, "t_ns", in->t_ns);
	json_put(obj, "cost_ns", in->cost_ns);
	json_object_set_new(obj, "ifs", json_ifs(s, in));
	json_object_set_new(obj, "ip", json_ip(&in->ip));
	json_object_set_new(obj, "neigh", neigh);
	json_object_set_new(obj, "dst", json_dst(&in->dst));
	json_object_set_new(obj, "softnet", json_softnet(&in->softnet));
	json_object_set_new(obj, "cpu", json_cpu(in));
	json_object_set_new(obj, "slab", json_slab(in));
	if (in->missing[0])
		json_object_set_new(obj, "missing", json_string(in->missing));
	return obj;
}

static json_t *json_drop(const struct trace_drop *d)
{
	json_t *obj = json_object();

	json_object_set_new(obj, "protocol", json_integer(d->protocol));
	json_object_set_new(obj, "iif", json_integer(d->iif));
	json_object_set_new(obj, "reason", json_string(d->reason));
	json_object_set_new(obj, "location", json_string(d->location));
	json_put(obj, "pkts", d->pkts);
	json_object_set_new(obj, "cause",
			    d->counted ? json_string(cause_name(d->cause)) : json_null());
	return obj;
}

int json_add_drops(json_t *sample, const struct trace *t, enum cause hide)
{
	json_t *rows = json_array(), *sums = json_object(), *own_sums = json_object();
	uint64_t pkts[NR_CAUSES] = {}, own[NR_CAUSES] = {};

	for (unsigned i = 0; i < t->hist.nr; i++) {
		struct trace_drop d;

		trace_drop(t, i, &d);
		if (d.counted)
			pkts[d.cause] += d.pkts;
		else if (!d.iif)
			own[d.cause] += d.pkts;
		if (json_array_size(rows) < JSON_DROPS_MAX)
			json_array_append_new(rows, json_drop(&d));
	}
	for (unsigned c = 0; c < NR_CAUSES; c++) {
		json_put(sums, cause_name(c), c == hide ? 0 : pkts[c]);
		json_put(own_sums, cause_name(c), own[c]);
	}
	json_object_set_new(sample, "own_drops_pkts", own_sums);
	json_put(sample, "drop_rows", t->hist.nr);
	json_put(sample, "hist_overflow", t->hist.overflow);
	if (json_object_set_new(sample, "drops", rows))
		return -1;
	return json_object_set_new(sample, "drops_pkts", sums);
}

json_t *json_difference(const json_t *a, const json_t *b)
{
	json_t *out = json_object(), *old, *now;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)b, key, now)
	{
		old = json_object_get(a, key);
		if (json_is_integer(now) && json_is_integer(old))
			json_object_set_new(
				out, key,
				json_integer(json_integer_value(now) - json_integer_value(old)));
		else if (json_is_object(now) && json_is_object(old))
			json_object_set_new(out, key, json_difference(old, now));
	}
	return out;
}
