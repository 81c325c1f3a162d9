// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": bench: " fmt

#include <linux/cpumask.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "kmod/bench_request.h"

#define BENCH_REQUEST_STEP 0x9e3779b1u /* odd, and near 2^32 over the golden ratio: neighbours lie far apart */

static int bench_request_address_of(__be32 *addr, const char *text)
{
	const char *end;

	return in4_pton(text, -1, (u8 *)addr, -1, &end) && !*end ? 0 : -EINVAL;
}

/* ADDRESS/LENGTH; host bits must be 0. */
static int bench_request_prefix(struct bench_request *r, const char *text)
{
	const char *slash;
	__be32 addr;

	if (!in4_pton(text, -1, (u8 *)&addr, '/', &slash) || *slash != '/' ||
	    kstrtouint(slash + 1, 10, &r->length) || r->length > 32)
		return -EINVAL;
	r->first = ntohl(addr);
	r->mask = r->length ? (u32)((1ULL << (32 - r->length)) - 1) : U32_MAX;
	return r->first & r->mask ? -EINVAL : 0;
}

/* Which of two words @text is: 0, 1 or -EINVAL. */
static int bench_request_either(const char *text, const char *zero, const char *one)
{
	if (!strcmp(text, one))
		return 1;
	return strcmp(text, zero) ? -EINVAL : 0;
}

static int bench_request_flag(bool *flag, const char *text, const char *zero, const char *one)
{
	int ret = bench_request_either(text, zero, one);

	*flag = ret > 0;
	return ret < 0 ? ret : 0;
}

static int bench_request_set(struct bench_request *r, const char *key, const char *value)
{
	if (!strcmp(key, "dir"))
		return bench_request_flag(&r->input, value, "output", "input");
	if (!strcmp(key, "order"))
		return bench_request_flag(&r->permute, value, "seq", "permute");
	if (!strcmp(key, "dst"))
		return bench_request_prefix(r, value);
	if (!strcmp(key, "src"))
		return bench_request_address_of(&r->src, value);
	if (!strcmp(key, "dev"))
		return strscpy(r->dev, value, sizeof(r->dev)) > 0 ? 0 : -EINVAL;
	if (!strcmp(key, "n"))
		return kstrtou64(value, 10, &r->n) || !r->n || r->n > BENCH_REQUEST_N_MAX ? -EINVAL : 0;
	if (!strcmp(key, "cpus"))
		return kstrtouint(value, 10, &r->cpus) || !r->cpus || r->cpus > num_online_cpus() ?
			       -EINVAL : 0;
	return -EINVAL;
}

/* What no single word can have wrong. */
static int bench_request_whole(const struct bench_request *r, bool has_dir)
{
	if (!has_dir || !r->mask) {
		pr_err("say dir=input or dir=output, and dst=ADDRESS/LENGTH with a length up to 31\n");
		return -EINVAL;
	}
	if (r->input && (!*r->dev || !r->src)) {
		pr_err("dir=input needs dev=NAME, where the packets came in, and src=ADDRESS\n");
		return -EINVAL;
	}
	return 0;
}

int bench_request_parse(struct bench_request *r, char *line)
{
	bool has_dir = false;
	char *word;

	*r = (struct bench_request){.cpus = 1, .n = 100000};
	line = strim(line);
	while ((word = strsep(&line, " \t\n"))) {
		char *value = strchr(word, '=');

		if (!*word)
			continue;
		if (value)
			*value++ = '\0';
		if (!value || bench_request_set(r, word, value)) {
			pr_err("%s=%s: unknown or out of range; use dir=input|output dst=ADDRESS/LENGTH n=1..%llu order=seq|permute cpus=1..%u dev=NAME src=ADDRESS\n",
			       word, value ?: "", BENCH_REQUEST_N_MAX, num_online_cpus());
			return -EINVAL;
		}
		has_dir |= !strcmp(word, "dir");
	}
	r->step = r->permute ? BENCH_REQUEST_STEP : 1;
	return bench_request_whole(r, has_dir);
}

void bench_request_show(struct seq_file *m, const struct bench_request *r)
{
	__be32 first = htonl(r->first);

	seq_printf(m, "\"dir\":\"%s\",\"dst\":\"%pI4/%u\",\"order\":\"%s\",\"n\":%llu",
		   r->input ? "input" : "output", &first, r->length, r->permute ? "permute" : "seq",
		   r->n);
	if (r->input)
		seq_printf(m, ",\"dev\":\"%s\",\"src\":\"%pI4\"", r->dev, &r->src);
}
