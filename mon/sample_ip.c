// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters of IP, of both families: mon/sample.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <net/ethernet.h>
#include <net/if.h>

#include "lib/err.h"
#include "mon/sample_part.h"
#include "mon/trace.h"

#define SAMPLE_IP(group, name, member)                          \
	{                                                       \
		group, name, offsetof(struct sample_ip, member) \
	}

static const struct proc_field sample_snmp[] = {
	SAMPLE_IP("Ip", "InReceives", in_pkts),
	SAMPLE_IP("Ip", "InHdrErrors", in_hdr_errors),
	SAMPLE_IP("Ip", "InAddrErrors", in_addr_errors),
	SAMPLE_IP("Ip", "ForwDatagrams", forwarded_pkts),
	SAMPLE_IP("Ip", "InUnknownProtos", in_unknown_protos),
	SAMPLE_IP("Ip", "InDiscards", in_discards),
	SAMPLE_IP("Ip", "InDelivers", in_delivers),
	SAMPLE_IP("Ip", "OutRequests", out_requests),
	SAMPLE_IP("Ip", "OutDiscards", out_discards),
	SAMPLE_IP("Ip", "OutNoRoutes", out_no_routes),
	SAMPLE_IP("Icmp", "InMsgs", icmp_in_msgs),
	SAMPLE_IP("Icmp", "InEchos", icmp_in_echos),
	SAMPLE_IP("Icmp", "OutMsgs", icmp_out_msgs),
	SAMPLE_IP("Icmp", "OutErrors", icmp_out_errors),
	SAMPLE_IP("Icmp", "OutDestUnreachs", icmp_out_dest_unreachs),
	SAMPLE_IP("Icmp", "OutTimeExcds", icmp_out_time_excds),
	SAMPLE_IP("Icmp", "OutRateLimitGlobal", icmp_out_rate_limit_global),
	SAMPLE_IP("Icmp", "OutRateLimitHost", icmp_out_rate_limit_host),
	SAMPLE_IP("Udp", "NoPorts", udp_no_ports),
	SAMPLE_IP("Udp", "InErrors", udp_in_errors),
	SAMPLE_IP("Udp", "IgnoredMulti", udp_ignored_multi),
};

static const struct proc_field sample_netstat[] = {
	SAMPLE_IP("IpExt", "InNoRoutes", in_no_routes),
	SAMPLE_IP("IpExt", "InBcastPkts", in_bcast_pkts),
	SAMPLE_IP("IpExt", "InCsumErrors", in_csum_errors),
	SAMPLE_IP("TcpExt", "IPReversePathFilter", rp_filter_pkts),
};

#define SAMPLE_NR(a) (sizeof(a) / sizeof(*(a)))

int sample_ip(struct sampler *s, struct sample_ip *ip, struct err *err)
{
	int ret = file_read(&s->buf, "/proc/net/snmp", err);

	if (!ret)
		ret = proc_snmp(s->buf.text, s->buf.len, sample_snmp, SAMPLE_NR(sample_snmp), ip,
				err);
	if (!ret)
		ret = file_read(&s->buf, "/proc/net/netstat", err);
	if (!ret)
		ret = proc_snmp(s->buf.text, s->buf.len, sample_netstat, SAMPLE_NR(sample_netstat),
				ip, err);
	return ret;
}

#define SAMPLE_IP6(name, member)                              \
	{                                                     \
		"", name, offsetof(struct sample_ip6, member) \
	}

static const struct proc_field sample_snmp6[] = {
	SAMPLE_IP6("Ip6InReceives", in_pkts),
	SAMPLE_IP6("Ip6InHdrErrors", in_hdr_errors),
	SAMPLE_IP6("Ip6InTooBigErrors", in_too_big_errors),
	SAMPLE_IP6("Ip6InNoRoutes", in_no_routes),
	SAMPLE_IP6("Ip6InAddrErrors", in_addr_errors),
	SAMPLE_IP6("Ip6InUnknownProtos", in_unknown_protos),
	SAMPLE_IP6("Ip6InTruncatedPkts", in_truncated_pkts),
	SAMPLE_IP6("Ip6InDiscards", in_discards),
	SAMPLE_IP6("Ip6InDelivers", in_delivers),
	SAMPLE_IP6("Ip6OutForwDatagrams", forwarded_pkts),
	SAMPLE_IP6("Ip6OutRequests", out_requests),
	SAMPLE_IP6("Ip6OutDiscards", out_discards),
	SAMPLE_IP6("Ip6OutNoRoutes", out_no_routes),
	SAMPLE_IP6("Ip6InMcastPkts", in_mcast_pkts),
	SAMPLE_IP6("Ip6OutMcastPkts", out_mcast_pkts),
};

static const struct proc_field sample_snmp6_upper[] = {
	SAMPLE_IP6("Icmp6InMsgs", icmp_in_msgs),
	SAMPLE_IP6("Icmp6InErrors", icmp_in_errors),
	SAMPLE_IP6("Icmp6InEchos", icmp_in_echos),
	SAMPLE_IP6("Icmp6InNeighborSolicits", icmp_in_neighbor_solicits),
	SAMPLE_IP6("Icmp6InNeighborAdvertisements", icmp_in_neighbor_adverts),
	SAMPLE_IP6("Icmp6OutMsgs", icmp_out_msgs),
	SAMPLE_IP6("Icmp6OutDestUnreachs", icmp_out_dest_unreachs),
	SAMPLE_IP6("Icmp6OutPktTooBigs", icmp_out_pkt_too_bigs),
	SAMPLE_IP6("Icmp6OutTimeExcds", icmp_out_time_excds),
	SAMPLE_IP6("Icmp6OutNeighborSolicits", icmp_out_neighbor_solicits),
	SAMPLE_IP6("Icmp6OutNeighborAdvertisements", icmp_out_neighbor_adverts),
	SAMPLE_IP6("Icmp6OutMLDv2Reports", icmp_out_mldv2_reports),
	SAMPLE_IP6("Udp6NoPorts", udp_no_ports),
	SAMPLE_IP6("Udp6InErrors", udp_in_errors),
};

/* A kernel without IPv6 lacks these files: all is 0, and that is the truth. */
static int sample_read6(struct sampler *s, const char *path, struct err *err)
{
	int ret = file_read(&s->buf, path, err);

	return ret == -ENOENT && access("/proc/sys/net/ipv6", F_OK) ? 1 : ret;
}

static int sample_dst6(struct sampler *s, struct sample_dst6 *d, struct err *err)
{
	int ret = sample_read6(s, "/proc/net/rt6_stats", err);
	uint64_t v[PROC_RT6_COLUMNS];

	if (!ret)
		ret = proc_rt6_stats(s->buf.text, s->buf.len, v, err);
	if (ret)
		return ret;
	d->entries = v[PROC_RT6_DST_ENTRIES];
	d->fib_entries = v[PROC_RT6_ENTRIES];
	d->exceptions = v[PROC_RT6_CACHE];
	if (d->entries > s->dst6_entries_max)
		s->dst6_entries_max = d->entries;
	d->entries_max = s->dst6_entries_max;
	return 0;
}

int sample_ip6(struct sampler *s, struct sample *out, struct err *err)
{
	int ret = sample_read6(s, "/proc/net/snmp6", err);

	if (!ret)
		ret = proc_pairs(s->buf.text, s->buf.len, sample_snmp6, SAMPLE_NR(sample_snmp6),
				 &out->ip6, err);
	if (!ret)
		ret = proc_pairs(s->buf.text, s->buf.len, sample_snmp6_upper,
				 SAMPLE_NR(sample_snmp6_upper), &out->ip6, err);
	if (!ret)
		ret = sample_dst6(s, &out->dst6, err);
	return ret < 0 ? ret : 0;
}

/* An interface has the counters of IPv6 itself, and those of ICMPv6. */
int sample_devs6(struct sampler *s, struct sample *out, struct err *err)
{
	for (unsigned i = 0; i < s->nr_ifs; i++) {
		char name[IF_NAMESIZE], path[64];
		int ret;

		if (!if_indextoname((unsigned)s->ifindex[i], name))
			continue;
		snprintf(path, sizeof(path), "/proc/net/dev_snmp6/%s", name);
		ret = sample_read6(s, path, err);
		if (!ret)
			ret = proc_pairs(s->buf.text, s->buf.len, sample_snmp6,
					 SAMPLE_NR(sample_snmp6), &out->ifs6[i], err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int sampler_forwarded(struct sampler *s, uint64_t *forwarded_pkts, struct err *err)
{
	static const struct proc_field v4 = {"Ip", "ForwDatagrams", 0};
	static const struct proc_field v6 = {"", "Ip6OutForwDatagrams", 0};
	uint64_t pkts = 0;
	int ret = file_read(&s->buf, "/proc/net/snmp", err);

	if (!ret)
		ret = proc_snmp(s->buf.text, s->buf.len, &v4, 1, forwarded_pkts, err);
	if (!ret)
		ret = sample_read6(s, "/proc/net/snmp6", err);
	if (!ret)
		ret = proc_pairs(s->buf.text, s->buf.len, &v6, 1, &pkts, err);
	*forwarded_pkts += pkts;
	return ret < 0 ? ret : 0;
}

/* Of the echo requests that came, those that were thrown away are told as drops already. */
static uint64_t sample_echo_drops(const struct trace *t, int protocol, const char *location)
{
	uint64_t pkts = 0;

	for (unsigned i = 0; i < t->hist.nr; i++) {
		struct trace_drop d;

		trace_drop(t, i, &d);
		if (d.counted && d.protocol == protocol && strcmp(d.reason, "ICMP_CSUM") != 0 &&
		    cause_is_symbol(d.location, location))
			pkts += d.pkts;
	}
	return pkts;
}

void sample_answered(struct sampler *s, struct sample *out)
{
	static const int protocols[] = {ETHERTYPE_IP, ETHERTYPE_IPV6};
	static const char *const locations[] = {"icmp_rcv", "icmpv6_rcv"};
	uint64_t echos[] = {out->ip.icmp_in_echos, out->ip6.icmp_in_echos};

	if (!s->has_echos)
		memcpy(s->echos, echos, sizeof(echos));
	s->has_echos = true;
	for (unsigned i = 0; out->has_drops && i < 2; i++) {
		uint64_t came = echos[i] - s->echos[i],
			 lost = sample_echo_drops(s->trace, protocols[i], locations[i]);

		out->answered_pkts[i] = came > lost ? came - lost : 0;
	}
}
