// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/text.h"

#include <string.h>

bool text_at_end(const struct text *t)
{
	return t->at >= t->end;
}

static bool text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void text_blanks(struct text *t)
{
	while (t->at < t->end && text_is_blank(*t->at))
		t->at++;
}

bool text_skip(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

static unsigned text_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

bool text_u64(struct text *t, unsigned base, uint64_t *value)
{
	const char *p = t->at;
	uint64_t v = 0;

	for (; p < t->end && text_digit(*p) < base; p++) {
		unsigned d = text_digit(*p);

		if (v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	if (p == t->at)
		return false;
	t->at = p;
	*value = v;
	return true;
}

bool text_word(struct text *t, struct text *word)
{
	text_blanks(t);
	word->at = t->at;
	while (t->at < t->end && !text_is_blank(*t->at))
		t->at++;
	word->end = t->at;
	return word->end > word->at;
}

bool text_line(struct text *t, struct text *line)
{
	const char *nl;

	if (text_at_end(t))
		return false;
	nl = memchr(t->at, '\n', (size_t)(t->end - t->at));
	line->at = t->at;
	line->end = nl ? nl : t->end;
	t->at = nl ? nl + 1 : t->end;
	return true;
}

bool text_is(const struct text *t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t->end - t->at) == n && !memcmp(t->at, word, n);
}

int text_len(const struct text *t, int max)
{
	return t->end - t->at < max ? (int)(t->end - t->at) : max;
}
