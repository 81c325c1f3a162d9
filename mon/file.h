/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole small files: those of /proc, /sys and tracefs. Messages name the file and the reason. */
#ifndef MON_FILE_H
#define MON_FILE_H

#include <stddef.h>

struct err;

/* A buffer that grows to the largest file read into it; its text ends in a NUL. */
struct file_buf {
	char *text;
	size_t len, room;
};

int file_read(struct file_buf *b, const char *path, struct err *err);
void file_buf_free(struct file_buf *b);

/* Write @text in one write(), as the kernel's files want it. @flags: O_WRONLY, O_APPEND, O_CREAT...
 */
int file_write(const char *path, int flags, const char *text, struct err *err);

#endif
