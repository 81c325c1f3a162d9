/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scenario: what a run does, typed and checked. Every program reads the same text and takes the
 * part that is its own; `--set KEY=VALUE` overrides any key. dststorm-scenario(5) has every key with
 * its unit, range and default.
 */
#ifndef LIB_SCENARIO_H
#define LIB_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "addrset.h"
#include "frame.h"
#include "sched.h"

struct err;
struct conf;

#define SCENARIO_STREAMS_MAX 64u
#define SCENARIO_SIZES_MAX   16u
#define SCENARIO_HOSTS_MAX   4u

/* Frames of @bytes (with FCS), @weight of the sum of all weights. */
struct scenario_size {
	uint16_t bytes, weight;
};

/* Which bits a rate counts: the frame with its FCS, or on top the FRAME_L1 bytes around it. */
enum scenario_layer { SCENARIO_NO_LAYER, SCENARIO_L1, SCENARIO_L2 };

struct scenario_stream {
	char *name;		     /* unique */
	struct addrset destinations; /* sealed */
	struct addrset sources;	     /* sealed; of the same family */

	/* What each packet looks like. With @replay (a path; NULL: none) packet k looks like packet
	 * k mod their number of that pcap file, and shape.protocol, vlans and sizes say nothing. */
	char *replay;
	struct frame_shape shape;
	uint16_t vlans[FRAME_VLANS_MAX]; /* outer first, 1 to 4094 */
	bool udp_checksum;		 /* always true over IPv6 */
	struct scenario_size sizes[SCENARIO_SIZES_MAX]; /* ascending, each possible with @shape */
	uint32_t nr_sizes;				/* at least 1 */
	uint8_t ttl;			 /* or hop limit */
	uint8_t tos;			 /* dscp << 2 */
	/* Packet seq has first + seq mod (last - first + 1); first <= last. */
	uint16_t src_port, src_port_last, dst_port, dst_port_last;

	enum sched_order order;
	int64_t stride;		     /* SCHED_STRIDE; not 0 */
	uint64_t window;	     /* SCHED_WINDOW; 1 to the number of destinations */
	double zipf_s;		     /* SCHED_ZIPF */
	double hot_packets, hot_destinations; /* SCHED_HOT: shares, 0 to 1 */

	/* However it was given: packets/s, rounded down by the mean frame; 0: "max". */
	uint64_t rate_pps;
	uint64_t rate_bps;	     /* as given; 0: not by bits */
	enum scenario_layer rate_layer; /* what rate_bps counts */
	double rate_percent;	     /* of speed_bps at SCENARIO_L1, as given; 0: not by percent */
	uint64_t speed_bps;
	uint64_t ramp_to_pps;	     /* of the last of @ramp_steps equal parts of the time; */
	uint32_t ramp_steps;	     /* rate_pps and 1 without a ramp */
	uint32_t group;		     /* packets due at once; 1 unless given */
	/* Cyclic orders and SCHED_WINDOW; absent or "max": equal to rate_pps. With a ramp: of its
	 * first step. 0 with other orders. */
	uint64_t new_destinations_per_s;
	uint32_t repeat;	     /* cyclic orders: rate_pps / new_destinations_per_s; else 1 */
	/* Packets to send: what the rate makes from start_s to the scenario's end, rounded down,
	 * unless given; at "max" without a count it is PROBE_SEQ_MAX + 1, which means that only the
	 * duration ends the stream. */
	uint64_t count;
	double start_s;		     /* the first packet is due so long after t0 */
};

/* One sysctl (nested maps joined by dots) or one line of `require:`; in the order of the file. */
struct scenario_pair {
	char *key, *value;
	int line; /* 0 if an override made it */
};

/* An address of the DUT with its prefix length: "198.18.0.1/16". */
struct scenario_host {
	char *text;
	int family;
	struct addr a;
	uint8_t len;
};

enum scenario_route_type { ROUTE_VIA, ROUTE_BLACKHOLE, ROUTE_UNREACHABLE, ROUTE_PROHIBIT };

/* "PREFIX via GATEWAY", "blackhole PREFIX", "unreachable PREFIX", "prohibit PREFIX". */
struct scenario_route {
	char *text; /* as given */
	enum scenario_route_type type;
	int family;
	struct addr prefix;
	uint8_t len;
	struct addr via; /* ROUTE_VIA: on-link at one of the DUT's addresses, none of them */
};

/* How requests for an address in @prefix are answered; the first rule that holds it decides. */
struct scenario_rule {
	struct addrset prefix; /* a sealed filter */
	double answer_ratio, delay_ms;
	uint32_t answer_probe; /* these three: as those of the scenario, and their defaults */
	uint32_t copies;       /* answers sent to each request */
	bool mac_changes;      /* each answer for an address has another MAC than the last */
};

/* Announcements that nobody asked for (gratuitous ARP, unsolicited NA), of the addresses in turn. */
struct scenario_storm {
	struct addrset prefix; /* sealed; the DUT's own addresses in it are never announced */
	uint64_t rate_pps;
	double start_s, duration_s; /* ends within the scenario's duration */
	uint16_t vlans[FRAME_VLANS_MAX]; /* outer first, 1 to 4094 */
	uint32_t nr_vlans;
	bool mac_changes;
};

enum scenario_lab { LAB_VM, LAB_NETNS };

struct scenario {
	char *name;
	enum scenario_lab lab;
	uint64_t seed;
	double duration_s;
	double drain_s;		/* 0: "auto", derived from the DUT's settings */
	/* gen: */
	uint32_t lanes, burst;
	/* streams: */
	struct scenario_stream *streams;
	uint32_t nr_streams;	/* 1 to SCENARIO_STREAMS_MAX */
	/*
	 * responder: it answers for what is on-link at the DUT's out side: the addresses of the
	 * prefixes in @out that a stream's destinations or a route's gateway name.
	 */
	double answer_ratio;	/* 0 to 1: share of addresses that ever answer, chosen by seed */
	double delay_ms;	/* from request to answer */
	uint32_t answer_probe;	/* 1: answer every request, k: the k-th for an address, then every one */
	struct scenario_rule *rules; /* for what no rule holds, the three above */
	uint32_t nr_rules;
	struct scenario_storm *storms;
	uint32_t nr_storms;
	/* dut: */
	char *kernel;		/* debian-6.1, debian-6.12 or a path */
	uint32_t memory_mb, cpus;
	char *cmdline;
	bool neigh_events;	/* listen to the kernel's neighbour events: costs it a message each */
	struct scenario_pair *sysctls;
	uint32_t nr_sysctls;
	/* The DUT's addresses towards the generator, and towards the sink: one at least of the family
	 * of each stream on both sides. Unless given, 198.18.0.1/16 and 198.19.0.1/16; if a stream is
	 * IPv6 also 2001:2:0:1::1/64 and 2001:2:0:2::1/64. */
	struct scenario_host in[SCENARIO_HOSTS_MAX], out[SCENARIO_HOSTS_MAX];
	uint32_t nr_in, nr_out;
	struct scenario_route *routes;
	uint32_t nr_routes;
	/* require: */
	struct scenario_pair *requires; /* key: field path in summary.json, value: "OP VALUE" */
	uint32_t nr_requires;
	/* as given */
	struct conf *conf;
};

/*
 * Reads the destination addresses of the packets in the pcap file @path and calls @add for each
 * (twice is fine). @family: whose, AF_UNSPEC: that of the first. lib/ knows no libpcap; programs
 * that do set this once at their start. NULL: {pcap: PATH} is refused.
 */
typedef int scenario_pcap_fn(const char *path, int family, struct addrset *set,
			     int (*add)(struct addrset *, int, struct addr, struct err *),
			     struct err *err);
extern scenario_pcap_fn *scenario_pcap;

/* Where a scenario comes from. */
struct scenario_source {
	const char *path; /* also what errors call it; files that it names are relative to its folder */
	const char *text; /* the text itself; NULL: what @path holds */
	const char *const *overrides; /* "KEY=VALUE" */
	unsigned int nr_overrides;
	const char *const *allow; /* addresses, prefixes, ranges beside 198.18.0.0/15 and 2001:2::/48 */
	unsigned int nr_allow;
};

/*
 * Load, apply the overrides, bind, check. Multicast, broadcast, loopback, link-local and unspecified
 * addresses are refused whatever is allowed.
 * Returns 0, or negative errno with "FILE:LINE: sentence" ("--set KEY: ", "--allow: "). On failure
 * *s needs no free.
 */
int scenario_load(struct scenario *s, const struct scenario_source *from, struct err *err);
void scenario_free(struct scenario *s);

/* The first of the DUT's addresses of @family towards the generator; NULL if there is none. */
const struct scenario_host *scenario_in(const struct scenario *s, int family);

/*
 * The schedule of stream @i for shard @shard of @nr_shards. Rate and count are the stream's, shared
 * by its shards: packets of one visit stay together, the first shards take what does not divide.
 * Times count from the stream's start: t0 + start_s.
 * Returns 0, or -EINVAL with a sentence (shard out of range, more shards than packets/s, ...).
 */
int scenario_sched(const struct scenario *s, uint32_t i, uint32_t shard, uint32_t nr_shards,
		   struct sched *out, struct err *err);

#endif
