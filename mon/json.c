// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/json.h"

#include <net/ethernet.h>

#include "mon/sample.h"
#include "mon/trace.h"

#define JSON_DROPS_MAX 250 /* rows in a message, which has a limit; the sums are of all rows */

/* Adding to NULL fails and frees the value, so errors carry through to the end. */
static void json_put(json_t *obj, const char *key, uint64_t value)
{
	json_object_set_new(obj, key, json_integer((json_int_t)value));
}

struct json_field {
	const char *name;
	size_t offset; /* of a uint64_t */
};

#define JSON_NR(a) (sizeof(a) / sizeof(*(a)))

static void json_fields(json_t *obj, const void *from, const struct json_field *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		json_put(obj, fields[i].name,
			 *(const uint64_t *)(const void *)((const char *)from + fields[i].offset));
}

// clang-format off
#define JSON_IF(member)	 { #member, offsetof(struct rtnl_stats, member) }
#define JSON_IP(member)	 { #member, offsetof(struct sample_ip, member) }
#define JSON_IP6(member) { #member, offsetof(struct sample_ip6, member) }
// clang-format on

static const struct json_field json_ip6_fields[] = {
	JSON_IP6(in_pkts),
	JSON_IP6(in_hdr_errors),
	JSON_IP6(in_too_big_errors),
	JSON_IP6(in_no_routes),
	JSON_IP6(in_addr_errors),
	JSON_IP6(in_unknown_protos),
	JSON_IP6(in_truncated_pkts),
	JSON_IP6(in_discards),
	JSON_IP6(in_delivers),
	JSON_IP6(forwarded_pkts),
	JSON_IP6(out_requests),
	JSON_IP6(out_discards),
	JSON_IP6(out_no_routes),
	JSON_IP6(in_mcast_pkts),
	JSON_IP6(out_mcast_pkts),
	JSON_IP6(icmp_in_msgs), /* from here on not for each interface */
	JSON_IP6(icmp_in_errors),
	JSON_IP6(icmp_in_echos),
	JSON_IP6(icmp_in_neighbor_solicits),
	JSON_IP6(icmp_in_neighbor_adverts),
	JSON_IP6(icmp_out_msgs),
	JSON_IP6(icmp_out_dest_unreachs),
	JSON_IP6(icmp_out_pkt_too_bigs),
	JSON_IP6(icmp_out_time_excds),
	JSON_IP6(icmp_out_neighbor_solicits),
	JSON_IP6(icmp_out_neighbor_adverts),
	JSON_IP6(icmp_out_mldv2_reports),
	JSON_IP6(udp_no_ports),
	JSON_IP6(udp_in_errors),
};
#define JSON_IP6_OF_IF 15

static json_t *json_ip6(const struct sample_ip6 *ip6, size_t nr)
{
	json_t *obj = json_object();

	json_fields(obj, ip6, json_ip6_fields, nr);
	return obj;
}

static json_t *json_ifs(const struct sampler *s, const struct sample *in)
{
	static const struct json_field fields[] = {
		JSON_IF(rx_pkts), JSON_IF(rx_dropped), JSON_IF(rx_errors), JSON_IF(rx_missed),
		JSON_IF(tx_pkts), JSON_IF(tx_dropped), JSON_IF(tx_errors),
	};
	json_t *ifs = json_object();

	for (unsigned i = 0; i < s->nr_ifs; i++) {
		json_t *one = json_object();

		json_fields(one, &in->ifs[i], fields, JSON_NR(fields));
		json_object_set_new(one, "ip6", json_ip6(&in->ifs6[i], JSON_IP6_OF_IF));
		json_object_set_new(ifs, s->if_label[i], one);
	}
	return ifs;
}

static json_t *json_ip(const struct sample_ip *ip)
{
	static const struct json_field fields[] = {
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
		JSON_IP(icmp_in_echos),
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

	json_fields(obj, ip, fields, JSON_NR(fields));
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

static json_t *json_dst6(const struct sample_dst6 *d)
{
	json_t *obj = json_object();

	json_put(obj, "entries", d->entries);
	json_put(obj, "entries_max", d->entries_max);
	json_put(obj, "fib_entries", d->fib_entries);
	json_put(obj, "exceptions", d->exceptions);
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
	if (in->have & SAMPLE_SLAB) {
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
	json_object_set_new(obj, "ip6", json_ip6(&in->ip6, JSON_NR(json_ip6_fields)));
	json_object_set_new(obj, "neigh", neigh);
	json_object_set_new(obj, "dst", json_dst(&in->dst));
	json_object_set_new(obj, "dst6", json_dst6(&in->dst6));
	json_object_set_new(obj, "softnet", json_softnet(&in->softnet));
	json_object_set_new(obj, "cpu", json_cpu(in));
	json_object_set_new(obj, "slab", json_slab(in));
	json_object_set_new(obj, "self",
			    json_pack("{s:I}", "rss_max_bytes", (json_int_t)in->rss_max_bytes));
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

/* All causes, though most be 0. */
static json_t *json_causes(const uint64_t pkts[NR_CAUSES], enum cause hide)
{
	json_t *obj = json_object();

	for (unsigned c = 0; c < NR_CAUSES; c++)
		json_put(obj, cause_name(c), c == hide ? 0 : pkts[c]);
	return obj;
}

struct json_sums {
	uint64_t both[NR_CAUSES], v6[NR_CAUSES];
};

static void json_sum(struct json_sums *s, const struct trace_drop *d)
{
	s->both[d->cause] += d->pkts;
	if (d->protocol == ETHERTYPE_IPV6)
		s->v6[d->cause] += d->pkts;
}

static void json_row(json_t *rows, const struct trace_drop *d)
{
	if (json_array_size(rows) < JSON_DROPS_MAX)
		json_array_append_new(rows, json_drop(d));
}

/* Echo requests that the host answered itself: they came to their end without being dropped. */
static void json_answered(json_t *rows, struct json_sums *sums, const uint64_t answered_pkts[2])
{
	struct trace_drop d = {
		.iif = -1, .reason = "ANSWERED", .cause = CAUSE_LOCAL, .counted = true};

	for (unsigned i = 0; i < 2; i++) {
		d.protocol = i ? ETHERTYPE_IPV6 : ETHERTYPE_IP;
		d.location = i ? "icmpv6_echo_reply" : "icmp_echo";
		d.pkts = answered_pkts[i];
		if (!d.pkts)
			continue;
		json_sum(sums, &d);
		json_row(rows, &d);
	}
}

int json_add_drops(json_t *sample, const struct trace *t, const uint64_t answered_pkts[2],
		   enum cause hide)
{
	struct json_sums probes = {}, own = {};
	json_t *rows = json_array();

	for (unsigned i = 0; i < t->hist.nr; i++) {
		struct trace_drop d;

		trace_drop(t, i, &d);
		if (d.counted)
			json_sum(&probes, &d);
		else if (d.own)
			json_sum(&own, &d);
		json_row(rows, &d);
	}
	json_answered(rows, &probes, answered_pkts);
	json_object_set_new(sample, "own_drops_pkts", json_causes(own.both, NR_CAUSES));
	json_object_set_new(sample, "own_drops6_pkts", json_causes(own.v6, NR_CAUSES));
	json_object_set_new(sample, "drops6_pkts", json_causes(probes.v6, hide));
	json_put(sample, "drop_rows", t->hist.nr);
	json_put(sample, "hist_overflow", t->hist.overflow);
	if (json_object_set_new(sample, "drops", rows))
		return -1;
	return json_object_set_new(sample, "drops_pkts", json_causes(probes.both, hide));
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
