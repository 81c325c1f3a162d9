/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scenario: what a run does, typed and checked. Every program reads the same text and takes the
 * part that is its own; `--set KEY=VALUE` overrides any key. configs/many-destinations.yaml shows
 * every key with its meaning.
 */
#ifndef LIB_SCENARIO_H
#define LIB_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "addrset.h"
#include "sched.h"

struct err;
struct conf;

struct scenario_stream {
	char *name;
	struct addrset destinations; /* sealed */
	struct addrset sources;	     /* sealed */
	enum sched_order order;
	uint64_t rate_pps;	     /* 0: "max" */
	uint64_t new_destinations_per_s; /* absent or "max": equal to rate_pps */
	uint32_t repeat;	     /* rate_pps / new_destinations_per_s, exact by contract */
	/* Packets to send: rate * duration, rounded down, unless given; at "max" without a count it
	 * is PROBE_SEQ_MAX + 1, which means that only the duration ends the stream. */
	uint64_t count;
	uint16_t src_port, dst_port;
	uint8_t ttl;
};

/* One sysctl (nested maps joined by dots) or one line of `require:`; in the order of the file. */
struct scenario_pair {
	char *key, *value;
	int line; /* 0 if an override made it */
};

struct scenario {
	char *name;
	uint64_t seed;
	double duration_s;
	double drain_s;		/* 0: "auto", derived from the DUT's settings */
	/* gen: */
	uint32_t lanes, burst;
	/* streams: (one today) */
	struct scenario_stream *streams;
	uint32_t nr_streams;
	/* responder: */
	double answer_ratio;	/* 0 to 1: share of destinations that ever answer, chosen by seed */
	double delay_ms;	/* from request to answer */
	uint32_t answer_probe;	/* 1: answer every request, k: the k-th for an address, then every one */
	/* dut: */
	char *kernel;		/* debian-6.1, debian-6.12 or a path */
	uint32_t memory_mb, cpus;
	char *cmdline;
	bool neigh_events;	/* listen to the kernel's neighbour events: costs it a message each */
	struct scenario_pair *sysctls;
	uint32_t nr_sysctls;
	char *in_address;	/* the DUT's address towards the generator, "198.18.0.1/16" */
	char *out_address;	/* towards the sink, "198.19.0.1/16" */
	struct addr in, out;	/* the same without the prefix length, */
	uint8_t in_len, out_len; /* and the length */
	/* require: */
	struct scenario_pair *requires; /* key: field path in summary.json, value: "OP VALUE" */
	uint32_t nr_requires;
	/* as given */
	struct conf *conf;
};

/*
 * Load @path (or @text, when not NULL, called @path in errors), apply @nr overrides, bind, check.
 * @allow: prefixes allowed beside 198.18.0.0/15 and 2001:2::/48 (sealed, may be NULL). Multicast,
 * broadcast, loopback and unspecified destinations are refused always.
 * Returns 0, or negative errno with "FILE:LINE: sentence". On failure *s needs no free.
 */
int scenario_load(struct scenario *s, const char *path, const char *text,
		  const char *const *overrides, unsigned int nr, const struct addrset *allow,
		  struct err *err);
void scenario_free(struct scenario *s);

/*
 * The schedule of stream @i for shard @shard of @nr_shards. Rate and count are the stream's, shared
 * by its shards: packets of one visit stay together, the first shards take what does not divide.
 * Returns 0, or -EINVAL with a sentence (shard out of range, more shards than packets/s, ...).
 */
int scenario_sched(const struct scenario *s, uint32_t i, uint32_t shard, uint32_t nr_shards,
		   struct sched *out, struct err *err);

#endif
