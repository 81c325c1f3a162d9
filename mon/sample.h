/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look at all counters. They are cumulative and as the kernel holds them (since its boot), but
 * the drops, which count since they were armed, and the widened ones, which count since the sampler
 * was opened. Where the kernel refuses (no root), a part is left out and told as such.
 */
#ifndef MON_SAMPLE_H
#define MON_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "mon/file.h"
#include "mon/neightbl.h"
#include "mon/proc.h"
#include "mon/rtnl.h"

struct err;
struct trace;

#define SAMPLE_IFS_MAX 8

struct sample_ip {
	uint64_t in_pkts, in_hdr_errors, in_addr_errors, forwarded_pkts, in_unknown_protos,
		in_discards;
	uint64_t in_delivers, out_requests, out_discards, out_no_routes, in_no_routes,
		in_bcast_pkts;
	uint64_t in_csum_errors, rp_filter_pkts;
	uint64_t icmp_in_msgs, icmp_in_echos, icmp_out_msgs, icmp_out_errors,
		icmp_out_dest_unreachs, icmp_out_time_excds;
	uint64_t icmp_out_rate_limit_global, icmp_out_rate_limit_host;
	uint64_t udp_no_ports, udp_in_errors, udp_ignored_multi;
};

/* The first 15 also for each interface. */
struct sample_ip6 {
	uint64_t in_pkts, in_hdr_errors, in_too_big_errors, in_no_routes, in_addr_errors,
		in_unknown_protos, in_truncated_pkts, in_discards, in_delivers;
	uint64_t forwarded_pkts, out_requests, out_discards, out_no_routes, in_mcast_pkts,
		out_mcast_pkts;
	uint64_t icmp_in_msgs, icmp_in_errors, icmp_in_echos, icmp_in_neighbor_solicits,
		icmp_in_neighbor_adverts;
	uint64_t icmp_out_msgs, icmp_out_dest_unreachs, icmp_out_pkt_too_bigs, icmp_out_time_excds,
		icmp_out_neighbor_solicits, icmp_out_neighbor_adverts, icmp_out_mldv2_reports;
	uint64_t udp_no_ports, udp_in_errors;
};

struct sample_neigh {
	struct neightbl tbl;
	uint64_t unresolved_discards, rcv_probes_mcast, rcv_probes_ucast;
	uint64_t entries_max; /* largest `entries` of all samples since sampler_reset() */
};

struct sample_dst {
	uint64_t entries, entries_max; /* all IPv4 destinations of the kernel */
	uint64_t in_slow, out_slow, in_no_route, in_brd, in_martian_dst, in_martian_src;
};

struct sample_dst6 {
	uint64_t entries, entries_max; /* all IPv6 destinations of this network namespace */
	uint64_t fib_entries; /* routes in the tree */
	uint64_t exceptions; /* routes learned from redirects and "packet too big" */
};

enum { /* parts of a sample */
       SAMPLE_IFS = 1,
       SAMPLE_IP4 = 2,
       SAMPLE_IP6 = 4,
       SAMPLE_NEIGH = 8,
       SAMPLE_NEIGH_FILES = 16,
       SAMPLE_DST = 32,
       SAMPLE_CPU = 64,
       SAMPLE_MEMORY = 128,
       SAMPLE_SLAB = 256, /* /proc/slabinfo is for root only, and read for full samples */
};

struct sample {
	uint64_t t_ns; /* CLOCK_MONOTONIC when it began */
	uint64_t cost_ns; /* and how long it took */
	struct rtnl_stats ifs[SAMPLE_IFS_MAX];
	struct sample_ip6 ifs6[SAMPLE_IFS_MAX];
	struct sample_ip ip;
	struct sample_ip6 ip6;
	struct sample_neigh neigh[2]; /* IPv4, IPv6 */
	struct sample_dst dst;
	struct sample_dst6 dst6;
	struct proc_softnet softnet;
	uint64_t softirq_ns, timer_softirqs, net_rx_softirqs;
	uint64_t slab_bytes, slab_unreclaimable_bytes, mem_free_bytes;
	struct proc_slab neigh_cache; /* kmalloc-512 on Debian's kernels: neighbours, and others */
	uint64_t rss_max_bytes; /* of this process */
	bool has_drops;
	/*
	 * Echo requests, by family, that the host answered (or was told to ignore) since
	 * sampler_reset(): they end there and are no drops. With has_drops only.
	 */
	uint64_t answered_pkts[2];
	unsigned have; /* the parts that could be read; the others are 0 */
	char missing[256]; /* the sentence of the first part that could not be read; "" if none */
};

struct sampler {
	struct rtnl rtnl;
	struct file_buf buf;
	struct proc_wide rt_cache;
	uint64_t entries_max[2], dst_entries_max, dst6_entries_max;
	bool has_echos;
	uint64_t echos[2]; /* as of the first sample since sampler_reset() */
	int ifindex[SAMPLE_IFS_MAX];
	char if_label[SAMPLE_IFS_MAX][16]; /* "in", "out" */
	unsigned nr_ifs;
	struct trace *trace; /* or NULL; not owned */
};

int sampler_open(struct sampler *s, struct err *err);
void sampler_close(struct sampler *s);
void sampler_reset(struct sampler *s); /* the maxima begin anew */

/*
 * Take a sample. @full: also what is too dear for every second. Parts that this user or kernel does
 * not give are left 0 and named in `missing`; a failure is only a drop histogram that cannot be
 * read, because then the accounting would be wrong.
 */
int sampler_take(struct sampler *s, struct sample *out, bool full, struct err *err);

/* Only what the heartbeat tells: both families together. */
int sampler_forwarded(struct sampler *s, uint64_t *forwarded_pkts, struct err *err);

uint64_t sample_now_ns(void);

#endif
