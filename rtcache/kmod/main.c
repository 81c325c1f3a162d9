// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module: what it makes at load, in order, and gives back in reverse; and the parameter `lookup`,
 * which can be given at load and written at any time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "kmod/bench.h"
#include "kmod/hook.h"
#include "kmod/live.h"
#include "kmod/net.h"
#include "kmod/own.h"
#include "kmod/replace.h"
#include "kmod/replay.h"
#include "kmod/stat.h"

enum main_mode { MAIN_OFF, MAIN_IDLE, MAIN_STOCK, MAIN_RWLOCK, MAIN_RCU, MAIN_MODES };

static const struct {
	enum hook_mode hook;
	enum rtcache_lookup lookup;
} main_what[MAIN_MODES] = {
	[MAIN_OFF] = { HOOK_OFF, RTCACHE_LOOKUP_OFF },
	[MAIN_IDLE] = { HOOK_IDLE, RTCACHE_LOOKUP_OFF },
	[MAIN_STOCK] = { HOOK_ON, RTCACHE_LOOKUP_OFF },
	[MAIN_RWLOCK] = { HOOK_ON, RTCACHE_LOOKUP_RWLOCK },
	[MAIN_RCU] = { HOOK_ON, RTCACHE_LOOKUP_RCU },
};

static const char *const main_modes[MAIN_MODES] = { "off", "idle", "stock", "rwlock", "rcu" };

/*
 * The file of a parameter is there before main_init and still after main_exit, so a write may come
 * outside: before, it only says what to begin with; after, it is refused. main_lock guards all three.
 */
static DEFINE_MUTEX(main_lock);
static enum { MAIN_LOADING, MAIN_LOADED, MAIN_GONE } main_state;
static enum main_mode main_mode = MAIN_IDLE;

static struct dentry *main_dir;

/* The cache is switched off before it is emptied, and on only when its lookup is what is wanted. */
static int main_go(enum main_mode mode)
{
	enum rtcache_lookup lookup = main_what[mode].lookup;
	int ret;

	if (lookup == RTCACHE_LOOKUP_OFF) {
		static_branch_disable(&replace_caches);
		synchronize_rcu();
	}
	ret = live_lookup_set(lookup);
	if (!ret)
		ret = hook_set(main_what[mode].hook);
	if (!ret && lookup != RTCACHE_LOOKUP_OFF)
		static_branch_enable(&replace_caches);
	return ret;
}

static int main_set_mode(enum main_mode mode)
{
	int ret = 0;

	if (main_state == MAIN_GONE)
		return -ENODEV;
	if (main_state == MAIN_LOADED)
		ret = main_go(mode);
	if (!ret)
		main_mode = mode;
	return ret;
}

static int main_lookup_set(const char *text, const struct kernel_param *param)
{
	int mode = sysfs_match_string(main_modes, text);
	int ret;

	if (mode < 0) {
		pr_err("lookup=%.*s: unknown; use off, idle, stock, rwlock or rcu\n",
		       (int)strcspn(text, "\n"), text);
		return -EINVAL;
	}
	mutex_lock(&main_lock);
	ret = main_set_mode(mode);
	mutex_unlock(&main_lock);
	return ret;
}

static int main_lookup_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%s\n", main_modes[READ_ONCE(main_mode)]);
}

static const struct kernel_param_ops main_lookup_ops = {
	.set = main_lookup_set,
	.get = main_lookup_get,
};
module_param_cb(lookup, &main_lookup_ops, NULL, 0644);
MODULE_PARM_DESC(lookup, "off (not hooked), idle (hooked, nothing replaced) stock (hooked, the kernel's own lookup is called), rwlock or rcu (answered from the cache)");

static int __init main_begin(void)
{
	int ret;

	mutex_lock(&main_lock);
	ret = main_go(main_mode);
	if (!ret)
		main_state = MAIN_LOADED;
	mutex_unlock(&main_lock);
	return ret;
}

static int main_verify_set(const char *text, const struct kernel_param *param)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret) {
		pr_err("verify=%.*s: use 0 or 1\n", (int)strcspn(text, "\n"), text);
		return ret;
	}
	mutex_lock(&main_lock);
	if (on)
		static_branch_enable(&replace_verifies);
	else
		static_branch_disable(&replace_verifies);
	mutex_unlock(&main_lock);
	return 0;
}

static int main_verify_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%d\n", static_key_enabled(&replace_verifies));
}

static const struct kernel_param_ops main_verify_ops = {
	.set = main_verify_set,
	.get = main_verify_get,
};
module_param_cb(verify, &main_verify_ops, NULL, 0644);
MODULE_PARM_DESC(verify, "1: ask the kernel's own lookup after each hit, and count differences");

/* What is made at load, in this order; given back in reverse. */
static const struct {
	int (*begin)(void);
	void (*end)(void);
} main_parts[] = {
	{ hook_init, hook_exit }, { own_init, own_exit }, { live_init, live_exit }, { stat_init, stat_exit },
	{ net_init, net_exit },
};

static void main_undo(int n)
{
	while (n--)
		main_parts[n].end();
}

static int __init main_init(void)
{
	int ret = 0;

	for (int i = 0; i < ARRAY_SIZE(main_parts); i++) {
		ret = main_parts[i].begin();
		if (ret) {
			main_undo(i);
			return ret;
		}
	}
	main_dir = debugfs_create_dir("rtcache", NULL);
	bench_init(main_dir);
	replay_init(main_dir);
	ret = main_begin();
	if (ret) {
		debugfs_remove(main_dir);
		bench_exit();
		main_undo(ARRAY_SIZE(main_parts));
	}
	return ret;
}

/* The hooks go first: nobody looks up any more when the rest goes. */
static void __exit main_exit(void)
{
	debugfs_remove(main_dir);
	bench_exit();
	mutex_lock(&main_lock);
	main_go(MAIN_OFF);
	main_state = MAIN_GONE;
	mutex_unlock(&main_lock);
	main_undo(ARRAY_SIZE(main_parts));
}

module_init(main_init);
module_exit(main_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A route cache whose lookup, references, timers, marks and reverse map can be switched");
