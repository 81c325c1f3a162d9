// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each CPU works in chunks with softirqs off under RCU, as packets are handled, and may be interrupted
 * for other work between them. Only the chunks are timed. The least chunk is reported beside the mean:
 * a timer interrupt lies in the mean.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": bench: " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <net/ip.h>
#include <net/route.h>

#include "kmod/bench.h"
#include "kmod/bench_request.h"

#define BENCH_CHUNK 256
#define BENCH_CPUS_MAX 1024
#define BENCH_EMPTY 4 /* chunks without lookups */

/* What one CPU does, and found. */
struct bench_cpu {
	struct work_struct work;
	struct bench_run *run;
	struct sk_buff *skb; /* the packet that is looked up for again and again; input only */
	int cpu, last_error;
	u64 next, lookups, errors, cycles, ns, chunks, least_cycles, loop_cycles;
};

struct bench_run {
	struct bench_request request;
	struct net *net;
	struct net_device *dev;
	atomic_t arriving; /* CPUs that are not ready yet: all begin together */
	bool stop;
	unsigned int n;
	struct bench_cpu cpus[];
};

/* The last run, for readers. bench_lock is held over a whole run: one at a time. */
static DEFINE_MUTEX(bench_lock);
static struct bench_run *bench_last;

static __be32 bench_next(struct bench_cpu *c)
{
	return htonl(bench_request_address(&c->run->request, c->next++));
}

/* What is called instead of the lookups to learn what the loops themselves cost: all arguments count. */
static noinline int bench_no_input(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
				   struct net_device *dev)
{
	asm volatile("" : : "r"(skb), "r"(daddr), "r"(saddr), "r"(tos), "r"(dev) : "memory");
	return 0;
}

static noinline struct rtable *bench_no_output(struct net *net, struct flowi4 *flow, const struct sock *sk)
{
	asm volatile("" : : "r"(net), "r"(flow), "r"(sk) : "memory");
	return NULL;
}

static __always_inline u64 bench_input(struct bench_cpu *c, unsigned int n, bool empty)
{
	__be32 src = c->run->request.src;
	struct net_device *dev = c->run->dev;
	struct sk_buff *skb = c->skb;
	u64 begin = get_cycles();

	while (n--) {
		int ret;

		IPCB(skb)->flags = 0;
		if (empty)
			ret = bench_no_input(skb, bench_next(c), src, 0, dev);
		else
			ret = ip_route_input_noref(skb, bench_next(c), src, 0, dev);
		if (unlikely(ret)) {
			c->errors++;
			c->last_error = ret;
		}
		skb_dst_drop(skb);
	}
	return get_cycles() - begin;
}

static __always_inline u64 bench_output(struct bench_cpu *c, unsigned int n, bool empty)
{
	struct net *net = c->run->net;
	u64 begin = get_cycles();

	while (n--) {
		struct flowi4 flow = {.daddr = bench_next(c)};
		struct rtable *rt;

		if (empty) {
			rt = bench_no_output(net, &flow, NULL);
			continue;
		}
		rt = ip_route_output_flow(net, &flow, NULL);
		if (IS_ERR(rt)) {
			c->errors++;
			c->last_error = PTR_ERR(rt);
		} else {
			ip_rt_put(rt);
		}
	}
	return get_cycles() - begin;
}

/* The least that a chunk without lookups costs. What it counted is undone. */
static void bench_empty(struct bench_cpu *c)
{
	u64 next = c->next;

	c->loop_cycles = U64_MAX;
	for (int i = 0; i < BENCH_EMPTY; i++) {
		u64 cycles;

		local_bh_disable();
		cycles = c->run->request.input ? bench_input(c, BENCH_CHUNK, true) :
						 bench_output(c, BENCH_CHUNK, true);
		local_bh_enable();
		c->loop_cycles = min(c->loop_cycles, cycles);
		c->next = next;
	}
}

static void bench_chunk(struct bench_cpu *c, unsigned int n)
{
	u64 begin, cycles;

	local_bh_disable();
	rcu_read_lock();
	begin = ktime_get_ns();
	cycles = c->run->request.input ? bench_input(c, n, false) : bench_output(c, n, false);
	c->ns += ktime_get_ns() - begin;
	rcu_read_unlock();
	local_bh_enable();
	c->lookups += n;
	c->cycles += cycles;
	if (n == BENCH_CHUNK && (!c->chunks++ || cycles < c->least_cycles))
		c->least_cycles = cycles;
}

static void bench_work(struct work_struct *work)
{
	struct bench_cpu *c = container_of(work, struct bench_cpu, work);
	struct bench_run *run = c->run;

	bench_empty(c);
	atomic_dec(&run->arriving);
	while (atomic_read(&run->arriving) && !READ_ONCE(run->stop))
		cond_resched();
	while (c->lookups < run->request.n && !READ_ONCE(run->stop)) {
		bench_chunk(c, min_t(u64, BENCH_CHUNK, run->request.n - c->lookups));
		cond_resched();
	}
}

/* A packet as ip_rcv would have it. The lookup reads its addresses from its arguments. */
static struct sk_buff *bench_packet(struct bench_run *run)
{
	struct sk_buff *skb = alloc_skb(ETH_HLEN + sizeof(struct iphdr) + 64, GFP_KERNEL);
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_reserve(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, sizeof(*ip));
	skb_set_transport_header(skb, sizeof(*ip));
	*ip = (struct iphdr){.version = 4, .ihl = 5, .ttl = 2, .protocol = IPPROTO_UDP,
			     .tot_len = htons(sizeof(*ip)), .saddr = run->request.src,
			     .daddr = htonl(run->request.first)};
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = PACKET_HOST;
	skb->dev = run->dev;
	return skb;
}

static void bench_free(struct bench_run *run)
{
	if (!run)
		return;
	for (unsigned int i = 0; i < run->n; i++)
		kfree_skb(run->cpus[i].skb);
	kvfree(run);
}

/* With the CPUs held: the first that are there. */
static struct bench_run *bench_prepare(const struct bench_request *request, struct net_device *dev)
{
	struct bench_run *run = kvzalloc(struct_size(run, cpus, request->cpus), GFP_KERNEL);
	int cpu;

	if (!run)
		return ERR_PTR(-ENOMEM);
	run->request = *request;
	run->net = current->nsproxy->net_ns;
	run->dev = dev;
	for_each_online_cpu(cpu) {
		struct bench_cpu *c = &run->cpus[run->n];

		if (run->n == request->cpus)
			break;
		run->n++;
		c->run = run;
		c->cpu = cpu;
		INIT_WORK(&c->work, bench_work);
		if (request->input)
			c->skb = bench_packet(run);
		if (request->input && !c->skb) {
			bench_free(run);
			return ERR_PTR(-ENOMEM);
		}
	}
	atomic_set(&run->arriving, run->n);
	return run;
}

/* Wait for all, or tell all to stop when the writer is to die, and then wait. */
static int bench_wait(struct bench_run *run)
{
	for (unsigned int i = 0; i < run->n; i++) {
		while (work_busy(&run->cpus[i].work)) {
			if (fatal_signal_pending(current))
				WRITE_ONCE(run->stop, true);
			schedule_timeout_killable(1);
		}
	}
	return READ_ONCE(run->stop) ? -EINTR : 0;
}

/* Makes run the last one, unless it was cut short. */
static int bench_go(const struct bench_request *request, struct net_device *dev)
{
	struct workqueue_struct *wq = alloc_workqueue("rtcache_bench", WQ_CPU_INTENSIVE, 0);
	struct bench_run *run;
	int ret;

	if (!wq)
		return -ENOMEM;
	cpus_read_lock();
	run = bench_prepare(request, dev);
	ret = PTR_ERR_OR_ZERO(run);
	for (unsigned int i = 0; !ret && i < run->n; i++)
		queue_work_on(run->cpus[i].cpu, wq, &run->cpus[i].work);
	cpus_read_unlock();
	if (!ret)
		ret = bench_wait(run);
	destroy_workqueue(wq);
	if (ret) {
		if (!IS_ERR(run))
			bench_free(run);
		return ret;
	}
	bench_free(bench_last);
	bench_last = run;
	return 0;
}

static int bench_locked(const struct bench_request *request)
{
	struct net_device *dev = NULL;
	int ret;

	if (request->input) {
		dev = dev_get_by_name(current->nsproxy->net_ns, request->dev);
		if (!dev) {
			pr_err("dev=%s: no such device in the writer's network namespace\n",
			       request->dev);
			return -ENODEV;
		}
	}
	ret = bench_go(request, dev);
	if (ret == -ENOMEM)
		pr_err("no memory\n");
	dev_put(dev);
	return ret;
}

static ssize_t bench_write(struct file *file, const char __user *text, size_t size, loff_t *pos)
{
	struct bench_request request;
	char *line;
	int ret;

	if (size > BENCH_REQUEST_SIZE)
		return -E2BIG;
	line = memdup_user_nul(text, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = bench_request_parse(&request, line);
	kfree(line);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&bench_lock);
	if (ret)
		return ret;
	ret = bench_locked(&request);
	mutex_unlock(&bench_lock);
	return ret ? ret : size;
}

/* "NAME":A/B with two decimals. */
static void bench_show_ratio(struct seq_file *m, const char *name, u64 a, u64 b)
{
	u64 hundredths = b ? div64_u64(a * 100, b) : 0;
	u32 rest;
	u64 whole = div_u64_rem(hundredths, 100, &rest);

	seq_printf(m, ",\"%s\":%llu.%02u", name, whole, rest);
}

static void bench_show_cpu(struct seq_file *m, const struct bench_cpu *c)
{
	seq_printf(m, "{\"cpu\":%d,\"lookups\":%llu,\"errors\":%llu,\"last_error\":%d", c->cpu,
		   c->lookups, c->errors, c->last_error);
	seq_printf(m, ",\"cycles\":%llu,\"ns\":%llu", c->cycles, c->ns);
	bench_show_ratio(m, "cycles_per_lookup", c->cycles, c->lookups);
	bench_show_ratio(m, "cycles_per_lookup_least", c->least_cycles, c->chunks ? BENCH_CHUNK : 0);
	bench_show_ratio(m, "ns_per_lookup", c->ns, c->lookups);
	bench_show_ratio(m, "loop_cycles_per_lookup", c->loop_cycles, BENCH_CHUNK);
	seq_putc(m, '}');
}

static int bench_show(struct seq_file *m, void *v)
{
	int ret = mutex_lock_killable(&bench_lock);

	if (ret)
		return ret;
	if (bench_last) {
		seq_puts(m, "{\"v\":1,");
		bench_request_show(m, &bench_last->request);
		/* Under QEMU's -icount shift=0 both clocks count instructions. */
		seq_printf(m, ",\"cycles_clock\":\"tsc\",\"tsc_khz\":%u,\"ns_clock\":\"monotonic\",\"cpus\":[",
			   tsc_khz);
		for (unsigned int i = 0; i < bench_last->n; i++) {
			if (i)
				seq_putc(m, ',');
			bench_show_cpu(m, &bench_last->cpus[i]);
		}
		seq_puts(m, "]}\n");
	}
	mutex_unlock(&bench_lock);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct file_operations bench_ops = {
	.owner = THIS_MODULE,
	.open = bench_open,
	.read = seq_read,
	.write = bench_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void bench_init(struct dentry *dir)
{
	debugfs_create_file("bench", 0600, dir, NULL, &bench_ops);
}

void bench_exit(void)
{
	bench_free(bench_last);
	bench_last = NULL;
}
