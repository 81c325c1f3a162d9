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
#include "kmod/stat.h"

static const char *const main_modes[] = {
	[HOOK_OFF] = "off", [HOOK_IDLE] = "idle", [HOOK_ON] = "stock",
};

/*
 * The file of a parameter is there before main_init and still after main_exit, so a write may come
 * outside: before, it only says what to begin with; after, it is refused. main_lock guards all three.
 */
static DEFINE_MUTEX(main_lock);
static enum { MAIN_LOADING, MAIN_LOADED, MAIN_GONE } main_state;
static enum hook_mode main_mode = HOOK_IDLE;

static struct dentry *main_dir;

static int main_set_mode(enum hook_mode mode)
{
	int ret = 0;

	if (main_state == MAIN_GONE)
		return -ENODEV;
	if (main_state == MAIN_LOADED)
		ret = hook_set(mode);
	if (!ret)
		main_mode = mode;
	return ret;
}

static int main_lookup_set(const char *text, const struct kernel_param *param)
{
	int mode = sysfs_match_string(main_modes, text);
	int ret;

	if (mode < 0) {
		pr_err("lookup=%.*s: unknown; use off, idle or stock\n",
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
MODULE_PARM_DESC(lookup, "off (not hooked), idle (hooked, nothing replaced) or stock (hooked, the kernel's own lookup is called)");

static int __init main_begin(void)
{
	int ret;

	mutex_lock(&main_lock);
	ret = hook_set(main_mode);
	if (!ret)
		main_state = MAIN_LOADED;
	mutex_unlock(&main_lock);
	return ret;
}

static int __init main_init(void)
{
	int ret = hook_init();

	if (ret)
		return ret;
	ret = stat_init();
	if (ret) {
		hook_exit();
		return ret;
	}
	main_dir = debugfs_create_dir("rtcache", NULL);
	bench_init(main_dir);
	ret = main_begin();
	if (ret) {
		debugfs_remove(main_dir);
		bench_exit();
		stat_exit();
		hook_exit();
	}
	return ret;
}

static void __exit main_exit(void)
{
	debugfs_remove(main_dir);
	bench_exit();
	mutex_lock(&main_lock);
	hook_exit();
	main_state = MAIN_GONE;
	mutex_unlock(&main_lock);
	stat_exit();
}

module_init(main_init);
module_exit(main_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A route cache whose lookup, references, timers, marks and reverse map can be switched");
