// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree itself: its memory, overrides, and the way back to text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/conf_tree.h"
#include "lib/err.h"

static void free_contents(struct conf *c)
{
	struct conf *next;
	struct conf_asked *asked;

	for (struct conf *it = c->child; it; it = next) {
		next = it->next;
		conf_tree_free_node(it);
	}
	while ((asked = c->asked)) {
		c->asked = asked->next;
		free(asked);
	}
	free(c->value);
	c->child = NULL;
	c->value = NULL;
}

void conf_tree_free_node(struct conf *c)
{
	if (!c)
		return;
	free_contents(c);
	free(c->key);
	free(c);
}

void conf_free(struct conf *root)
{
	struct conf_root *r = (struct conf_root *)root;

	if (!r)
		return;
	free_contents(&r->top);
	for (size_t i = 0; i < r->nr_names; i++)
		free(r->names[i]);
	free(r->names);
	free(r);
}

const char *conf_tree_own_name(struct conf_root *r, const char *prefix, const char *name,
			       size_t len)
{
	char **names = realloc(r->names, (r->nr_names + 1) * sizeof(*names));

	if (!names)
		return NULL;
	r->names = names;
	if (asprintf(&names[r->nr_names], "%s%.*s", prefix, (int)len, name) < 0)
		return NULL;
	return names[r->nr_names++];
}

bool conf_tree_is_plain(const char *s)
{
	bool word = !*s;

	for (; *s; s++) {
		if ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z'))
			word = true;
		else if (!strchr("_./+-", *s))
			return false;
	}
	return word;
}

/* --- overrides --------------------------------------------------------------------------------- */

/* One override on its way down the tree. */
struct set {
	const char *path;  /* what is left of it */
	const char *name;  /* "--set KEY" */
	struct err *err;
};

static int set_err(const struct set *s, int code, const char *text)
{
	const struct conf at = { .file = s->name };

	return conf_err(&at, s->err, code, "%s", text);
}

static struct conf *set_new(const struct set *s, enum conf_type type, const char *key, size_t len)
{
	struct conf *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->type = type;
	c->file = s->name;
	if (!key)
		return c;
	c->key = strndup(key, len);
	if (c->key)
		return c;
	free(c);
	return NULL;
}

/* The type of the container that the path left in @s wants to step into. */
static enum conf_type set_wants(const struct set *s)
{
	return s->path[0] == '0' && (s->path[1] == '.' || !s->path[1]) ? CONF_SEQ : CONF_MAP;
}

/* Step over @len bytes and the dot behind them. */
static void set_advance(struct set *s, size_t len)
{
	s->path += len;
	if (*s->path == '.')
		s->path++;
}

/* Append a node of the type that the rest of the path wants: the value replaces it at the end. */
static int set_append(struct set *s, struct conf **at, const char *key, size_t len,
		      struct conf **out)
{
	set_advance(s, len);
	*out = *at = set_new(s, *s->path ? set_wants(s) : CONF_SCALAR, key, len);
	return *out ? 0 : set_err(s, -ENOMEM, "out of memory");
}

/* The longest member whose whole name begins the path, so that names may have dots. */
static int set_step_map(struct set *s, struct conf *map, struct conf **out)
{
	struct conf **at = &map->child;
	struct conf *best = NULL;
	size_t len, best_len = 0;

	for (; *at; at = &(*at)->next) {
		len = strlen((*at)->key);
		if (len <= best_len || strncmp(s->path, (*at)->key, len) != 0 ||
		    (s->path[len] && s->path[len] != '.'))
			continue;
		best = *at;
		best_len = len;
	}
	if (best) {
		set_advance(s, best_len);
		*out = best;
		return 0;
	}
	len = strcspn(s->path, ".");
	if (len > CONF_KEY_MAX)
		return set_err(s, -EINVAL, "a key is too long");
	return set_append(s, at, s->path, len, out);
}

/* The bytes of the path's first step that are the name of group @c, if it is: names have dots, too. */
static size_t named(const struct set *s, const struct conf *c)
{
	size_t len;

	if (c->type != CONF_MAP)
		return 0;
	conf_each(it, c) {
		if (it->type != CONF_SCALAR || strcmp(it->key, "name") != 0)
			continue;
		len = strlen(it->value);
		if (strncmp(s->path, it->value, len) == 0 && (!s->path[len] || s->path[len] == '.'))
			return len;
	}
	return 0;
}

/* An entry by its name: the longest that fits. */
static int set_step_named(struct set *s, const struct conf *seq, struct conf **out)
{
	size_t best = 0;

	conf_each(it, seq) {
		size_t len = named(s, it);

		if (len > best) {
			best = len;
			*out = it;
		}
	}
	if (!best)
		return set_err(s, -EINVAL, "a list is indexed by a number or by the name of a group in "
			       "it, as in streams.0.rate_pps");
	set_advance(s, best);
	return 0;
}

static int set_step_seq(struct set *s, struct conf *seq, struct conf **out)
{
	size_t len = strspn(s->path, "0123456789");
	const struct conf at_name = { .file = s->name };
	struct conf **at = &seq->child;
	unsigned long index, nr = 0;

	if (!len || len > 7 || (s->path[len] && s->path[len] != '.'))
		return set_step_named(s, seq, out);
	index = strtoul(s->path, NULL, 10);
	for (; *at && nr < index; nr++)
		at = &(*at)->next;
	if (nr < index)
		return conf_err(&at_name, s->err, -EINVAL,
				"index %lu is beyond the list; use at most %lu", index, nr);
	if (!*at)
		return set_append(s, at, NULL, len, out);
	set_advance(s, len);
	*out = *at;
	return 0;
}

static int set_step(struct set *s, struct conf **c)
{
	/* "dut:" with nothing behind it is an empty scalar, and may become what is needed. */
	if ((*c)->type == CONF_SCALAR && !(*c)->quoted && !*(*c)->value)
		(*c)->type = set_wants(s);
	if ((*c)->type == CONF_SCALAR)
		return set_err(s, -EINVAL, "the path goes on below a value; shorten it");
	return (*c)->type == CONF_SEQ ? set_step_seq(s, *c, c) : set_step_map(s, *c, c);
}

/* Put @value, which is consumed, in the place of @c's contents. */
static void set_replace(struct conf *c, struct conf *value)
{
	free_contents(c);
	c->type = value->type;
	c->value = value->value;
	c->child = value->child;
	c->quoted = value->quoted;
	c->file = value->file;
	c->line = 0;
	value->value = NULL;
	value->child = NULL;
	conf_tree_free_node(value);
}

static bool has_empty_step(const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (path[i] == '.' && (!i || i + 1 == len || path[i + 1] == '.'))
			return true;
	return len == 0;
}

/* Levels below the root: no less than there are. */
static unsigned int depth_of(const char *path)
{
	unsigned int depth = 1;

	for (; *path; path++)
		depth += *path == '.';
	return depth;
}

static int set_walk(struct set *s, struct conf *root, const char *text)
{
	bool blank = !text[strspn(text, " \t\n")];
	struct conf *value, *c = root;
	int ret;

	if (depth_of(s->path) > CONF_DEPTH_MAX)
		return set_err(s, -EINVAL, "the path is too deep");
	value = conf_parse_value(blank ? "\"\"" : text, blank ? 2 : strlen(text), s->name, false,
				 depth_of(s->path), s->err);
	if (!value)
		return -EINVAL;
	while (*s->path) {
		ret = set_step(s, &c);
		if (ret) {
			conf_tree_free_node(value);
			return ret;
		}
	}
	set_replace(c, value);
	return 0;
}

int conf_set(struct conf *root, const char *assignment, struct err *err)
{
	struct conf_root *r = (struct conf_root *)root;
	const char *eq = strchr(assignment, '=');
	size_t len = eq ? (size_t)(eq - assignment) : strlen(assignment);
	struct set s = { .err = err };

	if (!eq || len > 1024 || has_empty_step(assignment, len))
		return err_set(err, -EINVAL, "--set %.80s: write KEY=VALUE, as in "
			       "--set streams.0.rate_pps=5k", assignment);
	s.name = conf_tree_own_name(r, "--set ", assignment, len);
	if (!s.name)
		return err_set(err, -ENOMEM, "--set %.80s: out of memory", assignment);
	s.path = s.name + strlen("--set ");
	return set_walk(&s, root, eq + 1);
}

/* --- the way back ------------------------------------------------------------------------------ */

/* The code point at *@s, which is valid UTF-8 as libyaml made it; moves *@s on. */
static unsigned int utf8_next(const char **s)
{
	const unsigned char *u = (const unsigned char *)*s;
	unsigned int more = u[0] >= 0xf0 ? 3 : u[0] >= 0xe0 ? 2 : u[0] >= 0xc0 ? 1 : 0;
	unsigned int code = more ? u[0] & (0x3fu >> more) : u[0];

	for (unsigned int i = 1; i <= more && u[i]; i++, (*s)++)
		code = code << 6 | (u[i] & 0x3f);
	(*s)++;
	return code;
}

static void emit_text(FILE *out, const char *s, bool quoted)
{
	if (!quoted && conf_tree_is_plain(s)) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	while (*s) {
		unsigned int code = utf8_next(&s);

		if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (code >= 0x20 && code < 0x7f)
			putc((int)code, out);
		else if (code < 0x100)
			fprintf(out, "\\x%02x", code);
		else
			fprintf(out, "\\U%08x", code);
	}
	putc('"', out);
}

static void emit_children(FILE *out, const struct conf *c, int indent)
{
	conf_each(it, c) {
		fprintf(out, "%*s", indent, "");
		if (c->type == CONF_SEQ)
			putc('-', out);
		else
			emit_text(out, it->key, false);
		if (c->type == CONF_MAP)
			putc(':', out);
		if (it->type == CONF_SCALAR) {
			putc(' ', out);
			emit_text(out, it->value, it->quoted);
		} else if (!it->child) {
			fputs(it->type == CONF_SEQ ? " []" : " {}", out);
		}
		putc('\n', out);
		emit_children(out, it, indent + 2);
	}
}

char *conf_emit(const struct conf *root)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool bad;

	if (!out)
		return NULL;
	if (root->child)
		emit_children(out, root, 0);
	else
		fputs("{}\n", out);
	bad = ferror(out);
	if (fclose(out) == 0 && !bad)
		return text;
	free(text);
	return NULL;
}
