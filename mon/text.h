/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cursor over text that need not end in a NUL, for the parsers of the kernel's text files. */
#ifndef MON_TEXT_H
#define MON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *at, *end;
};

bool text_at_end(const struct text *t);

/* Step over blanks and tabs. */
void text_blanks(struct text *t);

/* Step over @word if it is next; false, and nothing moves, if it is not. */
bool text_skip(struct text *t, const char *word);

/* Take a number of @base 10 or 16. False, and nothing moves, if there is none or it exceeds 64
 * bits. */
bool text_u64(struct text *t, unsigned base, uint64_t *value);

/* Take the next word (no blanks in it) of this line; false at its end. */
bool text_word(struct text *t, struct text *word);

/* Take the next line, without its newline; false at the end. */
bool text_line(struct text *t, struct text *line);

bool text_is(const struct text *t, const char *word);

/* What is left, but at most @max: as a precision for printf. */
int text_len(const struct text *t, int max);

#endif
