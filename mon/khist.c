// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/khist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "mon/text.h"

void khist_free(struct khist *h)
{
	free(h->rows);
	memset(h, 0, sizeof(*h));
}

static bool khist_same(const struct khist_row *a, const struct khist_row *b)
{
	return a->key == b->key && a->first == b->first && a->reason == b->reason &&
	       !strcmp(a->symbol, b->symbol);
}

static int khist_add(struct khist *h, const struct khist_row *row)
{
	for (unsigned i = 0; i < h->nr; i++) {
		if (khist_same(&h->rows[i], row)) {
			h->rows[i].pkts += row->pkts;
			return 0;
		}
	}
	if (h->nr == h->room) {
		unsigned room = h->room ? 2 * h->room : 64;
		struct khist_row *rows;

		if (room > KHIST_ROWS_MAX)
			return -E2BIG;
		rows = realloc(h->rows, room * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		h->rows = rows;
		h->room = room;
	}
	h->rows[h->nr++] = *row;
	return 0;
}

/* "[ffffffff81c488f0] ip_finish_output2   " or "[ffffffffc0123456] virtnet_poll [virtio_net] " */
static bool khist_location(struct text *t, char *symbol)
{
	size_t n = 0;

	text_blanks(t);
	if (!text_skip(t, "["))
		return false;
	while (t->at < t->end && *t->at != ']')
		t->at++;
	if (!text_skip(t, "]"))
		return false;
	text_blanks(t);
	while (t->at < t->end && *t->at != ' ' && *t->at != '}' && *t->at != ',' &&
	       n < KHIST_SYMBOL_MAX - 1)
		symbol[n++] = *t->at++;
	symbol[n] = '\0';
	while (t->at < t->end && *t->at != '}' && *t->at != ',')
		t->at++;
	return true;
}

static bool khist_first(struct text *t, enum khist_key *key)
{
	static const char *const names[] = {
		[KHIST_PROTOCOL] = "protocol:",
		[KHIST_IIF] = "iif:",
		[KHIST_IIF6] = "iif6:",
		[KHIST_ND6] = "nd6:",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (text_skip(t, names[i])) {
			*key = i;
			return true;
		}
	}
	return false;
}

static bool khist_key(struct text *t, struct khist_row *row)
{
	uint64_t v;
	bool minus;

	text_blanks(t);
	if (text_skip(t, "location:"))
		return khist_location(t, row->symbol);
	if (text_skip(t, "reason:")) {
		text_blanks(t);
		if (!text_u64(t, 10, &v) || v > UINT32_MAX)
			return false;
		row->reason = (uint32_t)v;
		return true;
	}
	if (!khist_first(t, &row->key))
		return false;
	text_blanks(t);
	minus = text_skip(t, "-");
	if (!text_u64(t, 10, &v) || v > INT32_MAX)
		return false;
	row->first = minus ? -(int32_t)v : (int32_t)v;
	return true;
}

/* "{ iif: 2, reason: 40, location: [..] name } hitcount: 7977", behind the brace. */
static bool khist_row(struct text *t, struct khist_row *row)
{
	do {
		if (!khist_key(t, row))
			return false;
		text_blanks(t);
	} while (text_skip(t, ","));
	if (!text_skip(t, "}"))
		return false;
	text_blanks(t);
	if (!text_skip(t, "hitcount:"))
		return false;
	text_blanks(t);
	return text_u64(t, 10, &row->pkts);
}

static bool khist_total(struct text *t, struct khist *h)
{
	uint64_t v, *into = NULL;

	if (text_skip(t, "Hits:"))
		into = &h->hits;
	else if (text_skip(t, "Dropped:"))
		into = &h->overflow;
	else if (!text_skip(t, "Entries:"))
		return false;
	text_blanks(t);
	if (!text_u64(t, 10, &v))
		return false;
	if (into)
		*into += v;
	return true;
}

static int khist_line(struct khist *h, struct text line)
{
	text_blanks(&line);
	if (text_at_end(&line) || *line.at == '#')
		return 0;
	if (text_skip(&line, "Totals:")) {
		h->blocks++;
		return 0;
	}
	if (text_skip(&line, "{")) {
		struct khist_row row = {};

		return khist_row(&line, &row) ? khist_add(h, &row) : -EBADMSG;
	}
	return khist_total(&line, h) ? 0 : -EBADMSG;
}

int khist_parse(struct khist *h, const char *text, size_t len, struct err *err)
{
	struct text all = {text, text + len}, line;
	unsigned nr = 0;

	h->nr = h->blocks = 0;
	h->hits = h->overflow = 0;
	while (text_line(&all, &line)) {
		int ret = khist_line(h, line);

		nr++;
		if (ret == -EBADMSG)
			return err_set(err, ret,
				       "line %u of the kernel's drop histogram is not understood: "
				       "\"%.*s\"; is this kernel newer than this program?",
				       nr, text_len(&line, 80), line.at);
		if (ret)
			return err_set(err, ret,
				       "the kernel's drop histogram does not fit into memory");
	}
	return 0;
}
