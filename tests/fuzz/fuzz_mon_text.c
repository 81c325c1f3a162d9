// SPDX-License-Identifier: GPL-2.0-or-later
/* The texts that the kernel gives to mon: drop histograms, event formats, statistics. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The fuzzers are built from lib/ and themselves. */
#include "mon/cause.c"
#include "mon/evformat.c"
#include "mon/khist.c"
#include "mon/proc.c"
#include "mon/text.c"
#include "mon/wide.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_hist(const char *text, size_t len)
{
	struct khist h = {};

	if (!khist_parse(&h, text, len, NULL))
		for (unsigned i = 0; i < h.nr; i++) {
			assert(strlen(h.rows[i].symbol) < KHIST_SYMBOL_MAX);
			assert(cause_of("NOT_SPECIFIED", h.rows[i].symbol) < NR_CAUSES);
			for (unsigned k = 0; k < i; k++)
				assert(!khist_same(&h.rows[i], &h.rows[k]));
		}
	khist_free(&h);
}

static void check_format(const char *text, size_t len)
{
	struct evformat_names n;

	if (!evformat_parse(&n, text, len, "reason", NULL)) {
		assert(n.nr);
		for (unsigned i = 0; i < n.nr; i++)
			assert(strlen(n.list[i].name) < EVFORMAT_NAME_MAX);
	}
	evformat_free(&n);
}

static void check_stats(const char *text, size_t len)
{
	static const char *const names[] = {"entries", "allocs"};
	struct proc_wide w = {};
	uint64_t v[2];
	int rows = proc_lnstat_sum(text, len, names, 2, v, NULL);

	assert(proc_wide_lnstat(&w, text, len, names, 2, NULL) == rows);
	/* The same look again: nothing was gained. */
	memcpy(v, w.total, sizeof(v));
	proc_wide_lnstat(&w, text, len, names, 2, NULL);
	assert(!memcmp(v, w.total, sizeof(v)));
	proc_wide_free(&w);
}

static void check_proc(const char *text, size_t len)
{
	static const struct proc_field field = {"Ip", "InReceives", 0};
	struct proc_softnet n;
	struct proc_slab s;
	uint64_t v;

	proc_snmp(text, len, &field, 1, &v, NULL);
	proc_softnet(text, len, &n, NULL);
	proc_softirqs(text, len, "TIMER", &v, NULL);
	proc_stat_softirq(text, len, &v, NULL);
	proc_meminfo(text, len, "Slab", &v, NULL);
	proc_slabinfo(text, len, "kmalloc-512", &s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(const char *, size_t) = {check_hist, check_format,
							       check_stats, check_proc};

	if (size)
		checks[data[0] % 4]((const char *)data + 1, size - 1);
	return 0;
}
