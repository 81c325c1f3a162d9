// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "mon/file.h"
#include "mon/text.h"
#include "mon/undo.h"

int sysctl_path(char path[SYSCTL_PATH_MAX], const char *key, struct err *err)
{
	int n = snprintf(path, SYSCTL_PATH_MAX, "/proc/sys/%s", key);

	if (!*key || n >= SYSCTL_PATH_MAX || *key == '/' || *key == '.' || strstr(key, "..") ||
	    strchr(key, '\n'))
		return err_set(err, -EINVAL,
			       "\"%.80s\" is no sysctl: write it like net.ipv4.ip_forward", key);
	/* A '/' says that the dots belong to a name, of a VLAN interface for example. */
	for (char *c = path + strlen("/proc/sys/"); !strchr(key, '/') && *c; c++)
		if (*c == '.')
			*c = '/';
	return 0;
}

int sysctl_same(const char *a, const char *b)
{
	struct text x = {a, a + strcspn(a, "\n")}, y = {b, b + strcspn(b, "\n")};

	for (;;) {
		struct text wx, wy;
		bool more_x = text_word(&x, &wx), more_y = text_word(&y, &wy);

		if (!more_x || !more_y)
			return more_x == more_y;
		if (wx.end - wx.at != wy.end - wy.at ||
		    memcmp(wx.at, wy.at, (size_t)(wx.end - wx.at)) != 0)
			return 0;
	}
}

int sysctl_write(const char *key, const char *value, struct err *err)
{
	char path[SYSCTL_PATH_MAX];
	int ret = sysctl_path(path, key, err);

	return ret ? ret : file_write(path, O_WRONLY, value, err);
}

static void sysctl_trim(struct file_buf *b)
{
	if (b->text)
		b->text[strcspn(b->text, "\n")] = '\0';
}

static int sysctl_refused(const char *key, const char *value, int why, struct err *err)
{
	if (why == -ENOENT)
		return err_set(err, -EINVAL, "cannot set %s to %s: this kernel has no such sysctl",
			       key, value);
	if (why == -EACCES || why == -EPERM || why == -EROFS)
		return err_set(err, why,
			       "cannot set %s to %s: %s; run as root in the first namespace", key,
			       value, strerror(-why));
	return err_set(err, -EINVAL, "the kernel refuses to set %s to %s: %s", key, value,
		       strerror(-why));
}

/* Some (route.flush) can only be written: nothing to remember, nothing to read back. */
static int sysctl_set_buf(struct undo *u, const char *key, const char *path, const char *value,
			  struct file_buf *b, struct err *err)
{
	int readable = file_read(b, path, NULL), ret;

	if (readable == -ENOENT || (readable && readable != -EACCES && readable != -EPERM))
		return sysctl_refused(key, value, readable, err);
	sysctl_trim(b);
	if (!readable && sysctl_same(b->text, value))
		return 0;
	if (!readable) {
		ret = undo_sysctl(u, key, b->text, err);
		if (ret)
			return ret;
	}
	ret = file_write(path, O_WRONLY, value, NULL);
	if (ret)
		return sysctl_refused(key, value, ret, err);
	if (readable)
		return 0;
	ret = file_read(b, path, err);
	sysctl_trim(b);
	if (!ret && !sysctl_same(b->text, value))
		ret = err_set(err, -EINVAL,
			      "%s is %s after %s was written: give a value that the kernel keeps",
			      key, b->text, value);
	return ret;
}

int sysctl_set(struct undo *u, const char *key, const char *value, struct err *err)
{
	char path[SYSCTL_PATH_MAX];
	struct file_buf b = {};
	int ret = sysctl_path(path, key, err);

	if (!ret)
		ret = sysctl_set_buf(u, key, path, value, &b, err);
	file_buf_free(&b);
	return ret;
}
