// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"

#define FILE_MAX (64u << 20)

void file_buf_free(struct file_buf *b)
{
	free(b->text);
	memset(b, 0, sizeof(*b));
}

static int file_grow(struct file_buf *b)
{
	size_t room = b->room ? 2 * b->room : 16384;
	char *text = room <= FILE_MAX ? realloc(b->text, room) : NULL;

	if (!text)
		return -ENOMEM;
	b->text = text;
	b->room = room;
	return 0;
}

static int file_fill(struct file_buf *b, int fd)
{
	b->len = 0;
	for (;;) {
		ssize_t n;

		if (b->len + 1 >= b->room && file_grow(b))
			return -ENOMEM;
		n = read(fd, b->text + b->len, b->room - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		b->len += (size_t)n;
	}
	b->text[b->len] = '\0';
	return 0;
}

int file_read(struct file_buf *b, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	ret = file_fill(b, fd);
	close(fd);
	return ret ? err_set(err, ret, "cannot read %s: %s", path, strerror(-ret)) : 0;
}

int file_write(const char *path, int flags, const char *text, struct err *err)
{
	size_t len = strlen(text);
	int fd = open(path, flags | O_CLOEXEC, 0600), ret = 0;
	ssize_t n;

	if (fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	n = write(fd, text, len);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != len)
		ret = -EIO;
	if (close(fd) && !ret)
		ret = -errno;
	return ret ? err_set(err, ret, "cannot write \"%.100s\" to %s: %s", text, path,
			     strerror(-ret))
		   : 0;
}
