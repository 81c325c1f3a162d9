// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include <net/dst.h>

#include "kmod/live.h"
#include "kmod/own.h"

#define LIVE_TICK HZ

struct rtcache *live_cache __read_mostly;

/* Over what follows, and over everything that changes the cache's switches and limits. */
static DEFINE_MUTEX(live_lock);
static struct rtcache_axes live_axes = { .lookup = RTCACHE_LOOKUP_OFF, .refcnt = RTCACHE_REFCNT_NOREF };

/* As the parameters have them: times in seconds and milliseconds. */
static struct live_limits {
	unsigned int buckets, max_size, gc_thresh, gc_elasticity, gc_timeout, gc_min_interval_ms;
} live_limits = {
	.buckets = 1 << 16,
	.max_size = 1 << 18,
	.gc_thresh = 1 << 17,
	.gc_elasticity = RTCACHE_WAYS,
	.gc_timeout = 300,
	.gc_min_interval_ms = 500,
};

static void live_release(void *obj)
{
	dst_release(obj);
}

static const struct rtcache_ops live_ops = { .release = live_release };

static void live_tick(struct work_struct *work)
{
	rtcache_tick(live_cache, jiffies);
	schedule_delayed_work(to_delayed_work(work), LIVE_TICK);
}

static DECLARE_DELAYED_WORK(live_work, live_tick);

void live_flush_dev(u32 ifindex)
{
	rtcache_flush_dev(live_cache, ifindex);
	own_flush(ifindex);
}

/* --- switches --------------------------------------------------------------------------------- */

/* Under live_lock. Entries are not on the lists of another way to keep them. */
static void live_apply(const struct rtcache_axes *axes)
{
	bool flush = axes->timer != live_axes.timer || axes->rmap != live_axes.rmap;

	live_axes = *axes;
	rtcache_axes_apply(axes);
	if (flush && live_cache)
		rtcache_flush(live_cache);
	if (axes->refcnt != RTCACHE_REFCNT_PERCPU)
		own_flush(0);
}

/* @text: "AXIS=VALUE", several, or none. */
static int live_axes_set(const char *text)
{
	struct rtcache_axes axes;
	const char *wrong;

	mutex_lock(&live_lock);
	axes = live_axes;
	wrong = rtcache_axes_parse(&axes, text);
	if (!wrong)
		live_apply(&axes);
	mutex_unlock(&live_lock);
	if (wrong)
		pr_err("%s\n", wrong);
	return wrong ? -EINVAL : 0;
}

int live_lookup_set(enum rtcache_lookup lookup)
{
	struct rtcache_axes axes;
	const char *wrong;

	mutex_lock(&live_lock);
	axes = live_axes;
	axes.lookup = lookup;
	wrong = rtcache_axes_check(&axes);
	if (!wrong) {
		live_apply(&axes);
		if (lookup == RTCACHE_LOOKUP_OFF) {
			rtcache_flush(live_cache);
			own_flush(0);
		}
	}
	mutex_unlock(&live_lock);
	if (wrong)
		pr_err("%s\n", wrong);
	return wrong ? -EINVAL : 0;
}

static int live_axis_set(const char *text, const struct kernel_param *param)
{
	char both[64];

	snprintf(both, sizeof(both), "%s=%.*s", (const char *)param->arg, (int)strcspn(text, "\n"), text);
	return live_axes_set(both);
}

/* The value of one axis, out of all in words. */
static int live_axis_get(char *text, const struct kernel_param *param)
{
	const char *name = param->arg, *at;
	char all[128];

	mutex_lock(&live_lock);
	rtcache_axes_print(&live_axes, all, sizeof(all));
	mutex_unlock(&live_lock);
	at = strstr(all, name) + strlen(name) + 1;
	return sysfs_emit(text, "%.*s\n", (int)strcspn(at, " "), at);
}

static const struct kernel_param_ops live_axis_ops = { .set = live_axis_set, .get = live_axis_get };
module_param_cb(refcnt, &live_axis_ops, "refcnt", 0644);
MODULE_PARM_DESC(refcnt, "shared, noref (input borrows under RCU) or percpu (and output has a dst of each CPU's own)");
module_param_cb(timer, &live_axis_ops, "timer", 0644);
MODULE_PARM_DESC(timer, "lazy, global (a list under a lock) or percpu");
module_param_cb(touch, &live_axis_ops, "touch", 0644);
MODULE_PARM_DESC(touch, "direct or batch");
module_param_cb(rmap, &live_axis_ops, "rmap", 0644);
MODULE_PARM_DESC(rmap, "chain or object");

/* Several at once: what is refused one after the other may be good together. */
static int live_all_set(const char *text, const struct kernel_param *param)
{
	if (strstr(text, "lookup=")) {
		pr_err("axes: lookup has a parameter of its own\n");
		return -EINVAL;
	}
	return live_axes_set(text);
}

static int live_all_get(char *text, const struct kernel_param *param)
{
	int len;

	mutex_lock(&live_lock);
	len = rtcache_axes_print(&live_axes, text, PAGE_SIZE - 1);
	mutex_unlock(&live_lock);
	return len + sysfs_emit_at(text, len, "\n");
}

static const struct kernel_param_ops live_all_ops = { .set = live_all_set, .get = live_all_get };
module_param_cb(axes, &live_all_ops, NULL, 0644);
MODULE_PARM_DESC(axes, "several switches at once: AXIS=VALUE of refcnt, timer, touch, rmap");

/* --- limits ----------------------------------------------------------------------------------- */

static struct rtcache_limits live_in_jiffies(const struct live_limits *l)
{
	return (struct rtcache_limits){
		.buckets = l->buckets, .max_size = l->max_size, .gc_thresh = l->gc_thresh,
		.gc_elasticity = l->gc_elasticity,
		.gc_timeout = min_t(u64, (u64)l->gc_timeout * HZ, S32_MAX),
		.gc_min_interval = msecs_to_jiffies(l->gc_min_interval_ms),
	};
}

/* Under live_lock: @want becomes what is. */
static int live_limits_apply(const struct live_limits *want)
{
	struct rtcache_limits limits = live_in_jiffies(want);
	const char *wrong = rtcache_limits_check(&limits);
	int ret = wrong ? -EINVAL : 0;

	if (!ret && live_cache)
		ret = rtcache_set_limits(live_cache, &limits);
	if (wrong)
		pr_err("%s\n", wrong);
	else if (ret)
		pr_err("no memory for %u buckets: all is as before\n", want->buckets);
	else
		live_limits = *want;
	return ret;
}

static unsigned int *live_limit_at(struct live_limits *l, const struct kernel_param *param)
{
	return (void *)l + (unsigned long)param->arg;
}

static int live_limit_set(const char *text, const struct kernel_param *param)
{
	struct live_limits want;
	unsigned int value;
	int ret = kstrtouint(text, 0, &value);

	if (ret) {
		pr_err("%s=%.*s: that is no number from 0 to 4294967295\n", param->name,
		       (int)strcspn(text, "\n"), text);
		return ret;
	}
	mutex_lock(&live_lock);
	want = live_limits;
	*live_limit_at(&want, param) = value;
	/* At load the parameters come one by one, and only all of them have to fit together. */
	if (!live_cache)
		live_limits = want;
	else
		ret = live_limits_apply(&want);
	mutex_unlock(&live_lock);
	return ret;
}

static int live_limit_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(*live_limit_at(&live_limits, param)));
}

static const struct kernel_param_ops live_limit_ops = { .set = live_limit_set, .get = live_limit_get };
#define LIVE_LIMIT(name, text) \
	module_param_cb(name, &live_limit_ops, (void *)offsetof(struct live_limits, name), 0644); \
	MODULE_PARM_DESC(name, text)
LIVE_LIMIT(buckets, "sets of seven entries, a power of two; a change empties the cache");
LIVE_LIMIT(max_size, "entries");
LIVE_LIMIT(gc_thresh, "entries above which they live shorter");
LIVE_LIMIT(gc_elasticity, "entries in a set, 1 to 7");
LIVE_LIMIT(gc_timeout, "seconds after which an unused entry goes");
LIVE_LIMIT(gc_min_interval_ms, "between two sweeps that insertions cause");

/* --- life ------------------------------------------------------------------------------------- */

int live_init(void)
{
	struct rtcache_limits limits = live_in_jiffies(&live_limits);
	const char *wrong = rtcache_limits_check(&limits);
	struct rtcache *c;

	if (wrong) {
		pr_err("%s\n", wrong);
		return -EINVAL;
	}
	c = rtcache_create(&limits, get_random_u64(), &live_ops);
	if (!c) {
		pr_err("no memory for a cache with %u buckets\n", limits.buckets);
		return -ENOMEM;
	}
	mutex_lock(&live_lock);
	live_cache = c;
	live_apply(&live_axes);
	mutex_unlock(&live_lock);
	schedule_delayed_work(&live_work, LIVE_TICK);
	return 0;
}

void live_exit(void)
{
	struct rtcache *c = live_cache;

	cancel_delayed_work_sync(&live_work);
	mutex_lock(&live_lock);
	live_cache = NULL;
	mutex_unlock(&live_lock);
	rtcache_destroy(c);
}
