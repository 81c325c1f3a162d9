/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers of the kernel's text files under /proc. Pure: they take the text, do no I/O, and tell a
 * column that is missing from one that is 0 (-ENOENT with a sentence).
 */
#ifndef MON_PROC_H
#define MON_PROC_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define PROC_COLUMNS_MAX 32

/*
 * /proc/net/stat/{arp_cache,ndisc_cache,rt_cache}: a header, then a row of hexadecimal numbers for
 * each possible CPU. @take gets each value of the columns @names. The kernel prints the global
 * `entries` in every row: take it from row 0, never sum it. Returns the number of rows.
 */
typedef void proc_take_fn(void *ctx, unsigned row, unsigned column, uint64_t value);
int proc_lnstat(const char *text, size_t len, const char *const *names, unsigned nr,
		proc_take_fn *take, void *ctx, struct err *err);

/* The same, summed over the rows into values[0..nr), but the column `entries` taken from row 0. */
int proc_lnstat_sum(const char *text, size_t len, const char *const *names, unsigned nr,
		    uint64_t *values, struct err *err);

/*
 * Counters of 32 bits in rows, widened: each sum() adds what every cell gained since the last one,
 * so a cell may wrap once between two calls (rt_cache does every 430 s at 10 Mpps).
 */
struct proc_wide {
	uint32_t *last; /* rows x columns of the last call */
	unsigned rows, columns;
	uint64_t total[PROC_COLUMNS_MAX];
};
int proc_wide_lnstat(struct proc_wide *w, const char *text, size_t len, const char *const *names,
		     unsigned nr, struct err *err);
void proc_wide_free(struct proc_wide *w);

/* /proc/net/snmp and /proc/net/netstat: pairs of lines "Group: names", "Group: numbers". */
struct proc_field {
	const char *group, *name;
	size_t offset; /* of a uint64_t in the structure that is filled */
};
int proc_snmp(const char *text, size_t len, const struct proc_field *fields, unsigned nr,
	      void *into, struct err *err);

/*
 * /proc/net/snmp6 and /proc/net/dev_snmp6/IF: a name and a number in each line; the fields' groups
 * are not looked at.
 */
int proc_pairs(const char *text, size_t len, const struct proc_field *fields, unsigned nr,
	       void *into, struct err *err);

/* /proc/net/rt6_stats: one line of hexadecimal numbers without a header. */
enum { PROC_RT6_ENTRIES = 3, PROC_RT6_CACHE = 4, PROC_RT6_DST_ENTRIES = 5, PROC_RT6_COLUMNS = 7 };
int proc_rt6_stats(const char *text, size_t len, uint64_t v[PROC_RT6_COLUMNS], struct err *err);

/*
 * /proc/net/if_inet6: 1 if interface @ifindex has a link-local address that may be used (duplicate
 * address detection is over), else 0.
 */
int proc_if_inet6_ready(const char *text, size_t len, int ifindex);

/* /proc/net/softnet_stat, summed over the CPUs; no header: the first three columns by position. */
struct proc_softnet {
	uint64_t processed_pkts, dropped_pkts, time_squeeze;
};
int proc_softnet(const char *text, size_t len, struct proc_softnet *s, struct err *err);

/* /proc/softirqs: how often @name ("TIMER", "NET_RX") ran, summed over the CPUs. */
int proc_softirqs(const char *text, size_t len, const char *name, uint64_t *count, struct err *err);

/* /proc/stat: ticks (of sysconf(_SC_CLK_TCK)) that all CPUs spent in softirqs. */
int proc_stat_softirq(const char *text, size_t len, uint64_t *ticks, struct err *err);

/* /proc/meminfo: the kB after "@name:". */
int proc_meminfo(const char *text, size_t len, const char *name, uint64_t *kb, struct err *err);

/* /proc/slabinfo: the line of cache @name. */
struct proc_slab {
	uint64_t active_objs, objs, obj_bytes;
};
int proc_slabinfo(const char *text, size_t len, const char *name, struct proc_slab *s,
		  struct err *err);

#endif
