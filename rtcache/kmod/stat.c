// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>

#include "kmod/live.h"
#include "kmod/stat.h"

DEFINE_PER_CPU(struct stat_counters, stat_counters);

/* The first column is of the whole cache: lnstat takes it from one line and adds up the others. */
static int stat_show(struct seq_file *m, void *v)
{
	int cpu;

	seq_puts(m, "entries");
#define STAT_NAME(name) seq_puts(m, " " #name);
	STAT_COUNTERS(STAT_NAME)
#undef STAT_NAME
	for (int i = 0; i < RTCACHE_NR_STATS; i++)
		seq_printf(m, " %s", rtcache_stat_names[i]);
	seq_putc(m, '\n');
	for_each_possible_cpu(cpu) {
		const struct stat_counters *c = per_cpu_ptr(&stat_counters, cpu);

		seq_printf(m, "%08x", atomic_read(&live_cache->count));
#define STAT_VALUE(name) seq_printf(m, " %08lx", READ_ONCE(c->name));
		STAT_COUNTERS(STAT_VALUE)
#undef STAT_VALUE
		for (int i = 0; i < RTCACHE_NR_STATS; i++)
			seq_printf(m, " %08llx", READ_ONCE(per_cpu_ptr(live_cache->cpu, cpu)->stat[i]));
		seq_putc(m, '\n');
	}
	return 0;
}

int stat_init(void)
{
	if (proc_create_single("rtcache", 0444, init_net.proc_net_stat, stat_show))
		return 0;
	pr_err("cannot make /proc/net/stat/rtcache: no memory\n");
	return -ENOMEM;
}

void stat_exit(void)
{
	remove_proc_entry("rtcache", init_net.proc_net_stat);
}
