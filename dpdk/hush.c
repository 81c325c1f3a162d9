// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/hush.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void hush_line(const char *text, size_t len, char out[HUSH_LINE])
{
	static const char *const noise[] = { "EAL: ", "FATAL: ", "Error - exiting with code: 1",
					     "libbpf: ", "libxdp: " };
	size_t end = len, start;

	while (end && strchr("\r\n \t.", text[end - 1]))
		end--;
	for (start = end; start && text[start - 1] != '\n'; start--)
		;
	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
		if (end - start > strlen(noise[i]) &&
		    !memcmp(text + start, noise[i], strlen(noise[i])))
			start += strlen(noise[i]);
	if (end > start)
		snprintf(out, HUSH_LINE, "%.*s", (int)(end - start), text + start);
}

void hush_begin(struct hush *h)
{
	fflush(NULL);
	h->memory = memfd_create("hush", MFD_CLOEXEC);
	h->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	h->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (h->memory < 0)
		return;
	if (h->out >= 0)
		dup2(h->memory, STDOUT_FILENO);
	if (h->err >= 0)
		dup2(h->memory, STDERR_FILENO);
}

void hush_end(struct hush *h, char said[HUSH_LINE])
{
	char text[4096];
	ssize_t len;

	fflush(NULL);
	if (h->out >= 0)
		dup2(h->out, STDOUT_FILENO);
	if (h->err >= 0)
		dup2(h->err, STDERR_FILENO);
	close(h->out);
	close(h->err);
	said[0] = '\0';
	if (h->memory < 0)
		return;
	/* The first words are the reason; what follows may be pages of usage. */
	len = pread(h->memory, text, sizeof(text), 0);
	close(h->memory);
	if (len > 0) {
		const char *end = memchr(text, '\n', (size_t)len);

		hush_line(text, end ? (size_t)(end - text) : (size_t)len, said);
	}
}
