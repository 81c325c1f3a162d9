/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the benchmark: the line that bench.h describes. */
#ifndef KMOD_BENCH_REQUEST_H
#define KMOD_BENCH_REQUEST_H

#include <linux/netdevice.h>
#include <linux/types.h>

#define BENCH_REQUEST_SIZE 512 /* longest line, bytes */
#define BENCH_REQUEST_N_MAX 1000000000ULL

struct seq_file;

struct bench_request {
	bool input, permute;
	unsigned int cpus; /* 1 up to those that are online when it is read */
	u64 n;		   /* lookups of each CPU */
	u32 first;	   /* address of the prefix, host order */
	unsigned int length;
	u32 mask, step; /* of the host part */
	__be32 src;
	char dev[IFNAMSIZ];
};

/* Parse @line, which is taken apart. 0 or -EINVAL after a message that names the word. */
int bench_request_parse(struct bench_request *r, char *line);

/* As members of a JSON object, without its braces. */
void bench_request_show(struct seq_file *m, const struct bench_request *r);

/* The address of lookup @i, host order. The step is odd, so it meets each before any twice. */
static inline u32 bench_request_address(const struct bench_request *r, u64 i)
{
	return r->first | ((u32)i * r->step & r->mask);
}

#endif
