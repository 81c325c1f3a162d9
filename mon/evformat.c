// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/evformat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "mon/text.h"

#define EVFORMAT_NAMES_MAX 4096u

void evformat_free(struct evformat_names *n)
{
	free(n->list);
	memset(n, 0, sizeof(*n));
}

static int evformat_add(struct evformat_names *n, uint32_t value, const struct text *name)
{
	size_t len = (size_t)text_len(name, EVFORMAT_NAME_MAX - 1);
	void *list;

	if (n->nr == EVFORMAT_NAMES_MAX)
		return -EBADMSG;
	list = realloc(n->list, (n->nr + 1) * sizeof(*n->list));
	if (!list)
		return -ENOMEM;
	n->list = list;
	n->list[n->nr].value = value;
	memcpy(n->list[n->nr].name, name->at, len);
	n->list[n->nr++].name[len] = '\0';
	return 0;
}

/* One `{ 40, "NEIGH_CREATEFAIL" }`, behind the brace. */
static int evformat_pair(struct evformat_names *n, struct text *t)
{
	unsigned base = 10;
	struct text name;
	uint64_t value;

	text_blanks(t);
	if (text_skip(t, "0x"))
		base = 16;
	if (!text_u64(t, base, &value) || value > UINT32_MAX)
		return -EBADMSG;
	text_blanks(t);
	if (!text_skip(t, ","))
		return -EBADMSG;
	text_blanks(t);
	if (!text_skip(t, "\""))
		return -EBADMSG;
	name.at = t->at;
	name.end = memchr(t->at, '"', (size_t)(t->end - t->at));
	if (!name.end)
		return -EBADMSG;
	t->at = name.end + 1;
	text_blanks(t);
	return text_skip(t, "}") ? evformat_add(n, (uint32_t)value, &name) : -EBADMSG;
}

static int evformat_table(struct evformat_names *n, struct text *t)
{
	for (;;) {
		int ret;

		text_blanks(t);
		if (text_skip(t, ")"))
			return n->nr ? 0 : -EBADMSG;
		if (!text_skip(t, ","))
			return -EBADMSG;
		text_blanks(t);
		if (!text_skip(t, "{"))
			return -EBADMSG;
		ret = evformat_pair(n, t);
		if (ret)
			return ret;
	}
}

int evformat_parse(struct evformat_names *n, const char *text, size_t len, const char *field,
		   struct err *err)
{
	struct text t = {text, text + len};
	char head[96];
	int ret = -ENOENT;

	memset(n, 0, sizeof(*n));
	snprintf(head, sizeof(head), "__print_symbolic(REC->%s", field);
	t.at = memmem(text, len, head, strlen(head));
	if (t.at) {
		t.at += strlen(head);
		ret = evformat_table(n, &t);
	}
	if (!ret)
		return 0;
	evformat_free(n);
	return err_set(err, ret,
		       "this kernel's event format has no readable table of names for \"%s\"",
		       field);
}

const char *evformat_name(const struct evformat_names *n, uint32_t value)
{
	for (unsigned i = 0; i < n->nr; i++)
		if (n->list[i].value == value)
			return n->list[i].name;
	return NULL;
}
