// SPDX-License-Identifier: GPL-2.0-or-later
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Sentences quote what the user wrote, and that may hold anything: an error stays one printable
 * line whatever was in the file. UTF-8 passes.
 */
static void err_clean(struct err *err, int code)
{
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = *c == '\n' || *c == '\t' ? ' ' : '?';
	if (!err->text[0])
		snprintf(err->text, sizeof(err->text), "error %d", code);
}

/* Marks a sentence that did not fit, @len bytes long. */
static void err_mark_cut(struct err *err, int len)
{
	if (len >= (int)sizeof(err->text))
		memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	int len;

	if (!err)
		return code;
	va_start(ap, fmt);
	len = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (len < 0)
		err->text[0] = '\0';
	err_mark_cut(err, len);
	err_clean(err, code);
	return code;
}

int err_wrap(struct err *err, int code, const char *fmt, ...)
{
	struct err inner;
	va_list ap;
	int len, more;

	if (!err)
		return code;
	inner = *err;
	va_start(ap, fmt);
	len = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (len < 0)
		len = 0;
	if (len < (int)sizeof(err->text)) {
		more = snprintf(err->text + len, sizeof(err->text) - (size_t)len, ": %s",
				inner.text);
		len += more > 0 ? more : 0;
	}
	err_mark_cut(err, len);
	err_clean(err, code);
	return code;
}
