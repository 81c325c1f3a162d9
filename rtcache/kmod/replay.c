// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": replay: " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/trace.h"
#include "kmod/replay.h"

enum { REPLAY_LINE = 192 };

struct replay {
	struct mutex lock;
	struct rtcache_trace trace;
	unsigned long nr; /* of the line that is being read */
	size_t len;
	char line[REPLAY_LINE];
	char *dump; /* of the state when the reading began */
	size_t size, used;
};

/* --- in --------------------------------------------------------------------------------------- */

static int replay_line(struct replay *r)
{
	int ret;

	r->line[r->len] = 0;
	r->len = 0;
	r->nr++;
	ret = rtcache_trace_line(&r->trace, r->line);
	if (ret)
		pr_err("line %lu: %s\n", r->nr, ret == -ENOMEM ? "no memory" :
		       "that is no call of a trace, or the cache line is missing or wrong");
	return ret;
}

static int replay_text(struct replay *r, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int ret = 0;

		if (text[i] == '\n')
			ret = replay_line(r);
		else if (r->len == REPLAY_LINE - 1)
			ret = -EINVAL;
		else
			r->line[r->len++] = text[i];
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static ssize_t replay_write(struct file *file, const char __user *text, size_t size, loff_t *pos)
{
	struct replay *r = file->private_data;
	size_t part = min_t(size_t, size, PAGE_SIZE);
	char *copy = memdup_user_nul(text, part);
	int ret;

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	mutex_lock(&r->lock);
	ret = replay_text(r, copy, part);
	mutex_unlock(&r->lock);
	kfree(copy);
	return ret ? ret : part;
}

/* --- out -------------------------------------------------------------------------------------- */

static void replay_measure(void *arg, const char *line)
{
	struct replay *r = arg;

	r->size += strlen(line);
}

static void replay_keep(void *arg, const char *line)
{
	struct replay *r = arg;
	size_t len = min(strlen(line), r->size - r->used);

	memcpy(r->dump + r->used, line, len);
	r->used += len;
}

static int replay_dump(struct replay *r)
{
	kvfree(r->dump);
	r->size = r->used = 0;
	rtcache_trace_dump(&r->trace, replay_measure, r);
	r->dump = kvmalloc(r->size + 1, GFP_KERNEL);
	if (!r->dump)
		return -ENOMEM;
	rtcache_trace_dump(&r->trace, replay_keep, r);
	return 0;
}

static ssize_t replay_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct replay *r = file->private_data;
	ssize_t ret = 0;

	mutex_lock(&r->lock);
	if (!*pos || !r->dump)
		ret = replay_dump(r);
	if (!ret)
		ret = simple_read_from_buffer(to, size, pos, r->dump, r->used);
	mutex_unlock(&r->lock);
	return ret;
}

/* What is written does not move where is read. */
static loff_t replay_seek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence, 0);
}

static int replay_open(struct inode *inode, struct file *file)
{
	struct replay *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	mutex_init(&r->lock);
	file->private_data = r;
	return 0;
}

static int replay_release(struct inode *inode, struct file *file)
{
	struct replay *r = file->private_data;

	rtcache_trace_end(&r->trace);
	kvfree(r->dump);
	kfree(r);
	return 0;
}

static const struct file_operations replay_ops = {
	.owner = THIS_MODULE,
	.open = replay_open,
	.write = replay_write,
	.read = replay_read,
	.llseek = replay_seek,
	.release = replay_release,
};

void replay_init(struct dentry *dir)
{
	debugfs_create_file("replay", 0600, dir, NULL, &replay_ops);
}
