// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * YAML to a tree. Overrides and the way back are in conf_tree.c, the typed readers in conf_read.c.
 *
 * libyaml's events are taken one by one, so that its own document tree, with its aliases that can
 * multiply, never exists: memory is bounded by the limits in conf.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "lib/conf.h"
#include "lib/conf_tree.h"
#include "lib/err.h"

/* Of UTF-8. Some editors begin a text with it; libyaml, told the encoding, takes it for content. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct parse {
	yaml_parser_t yaml;
	const char *text;
	size_t len;
	const char *file;
	bool lines; /* the text has lines that a user can look up */
	unsigned int depth; /* of the root */
	size_t nr_nodes;
	struct err *err;
};

static int parse_err(struct parse *p, int line, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int parse_err(struct parse *p, int line, int code, const char *fmt, ...)
{
	const struct conf at = { .file = p->file, .line = p->lines ? line : 0 };
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return conf_err(&at, p->err, code, "%s", text);
}

static int no_memory(struct parse *p)
{
	return err_set(p->err, -ENOMEM, "%s: out of memory", p->file);
}

static int line_of(const yaml_event_t *ev)
{
	return (int)ev->start_mark.line + 1;
}

/* The line of byte @offset; of the last one if the text ends before that. */
static int line_at(const struct parse *p, size_t offset)
{
	int line = 1;

	for (size_t i = 0; i < offset && i + 1 < p->len; i++)
		line += p->text[i] == '\n';
	return line;
}

/* Why libyaml stopped. A broken byte has an offset in place of a mark. */
static int yaml_err(struct parse *p)
{
	const yaml_parser_t *y = &p->yaml;
	const char *problem = y->problem ? y->problem : "unknown reason";
	int line = (int)y->problem_mark.line + 1, last = line_at(p, p->len);

	if (y->error == YAML_MEMORY_ERROR)
		return no_memory(p);
	if (y->error == YAML_READER_ERROR)
		line = line_at(p, y->problem_offset);
	if (line > last) /* the end of the text counts as a line of its own */
		line = last;
	if (!y->context || !p->lines || (int)y->context_mark.line + 1 >= line)
		return parse_err(p, line, -EINVAL, "this is no YAML: %s", problem);
	return parse_err(p, line, -EINVAL, "this is no YAML: %s %s that begins in line %zu", problem,
			 y->context, y->context_mark.line + 1);
}

static int next_event(struct parse *p, yaml_event_t *ev)
{
	return yaml_parser_parse(&p->yaml, ev) ? 0 : yaml_err(p);
}

/* Anchors, aliases and tags turn data into a program. */
static int check_plain_data(struct parse *p, const yaml_event_t *ev)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (ev->type == YAML_ALIAS_EVENT)
		return parse_err(p, line_of(ev), -EINVAL,
				 "aliases (*%.40s) are not supported; write the value again",
				 (const char *)ev->data.alias.anchor);
	if (ev->type == YAML_SCALAR_EVENT) {
		anchor = ev->data.scalar.anchor;
		tag = ev->data.scalar.tag;
	} else if (ev->type == YAML_SEQUENCE_START_EVENT) {
		anchor = ev->data.sequence_start.anchor;
		tag = ev->data.sequence_start.tag;
	} else if (ev->type == YAML_MAPPING_START_EVENT) {
		anchor = ev->data.mapping_start.anchor;
		tag = ev->data.mapping_start.tag;
	}
	if (anchor)
		return parse_err(p, line_of(ev), -EINVAL,
				 "anchors (&%.40s) are not supported; leave it out",
				 (const char *)anchor);
	if (tag)
		return parse_err(p, line_of(ev), -EINVAL,
				 "tags (%.40s) are not supported; leave it out", (const char *)tag);
	return 0;
}

/* The text of a scalar event, malloc'ed; NULL with the sentence. */
static char *scalar_text(struct parse *p, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	char *copy;

	if (memchr(text, '\0', ev->data.scalar.length)) {
		parse_err(p, line_of(ev), -EINVAL, "a text holds a NUL character; leave it out");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		no_memory(p);
	return copy;
}

static struct conf *new_node(struct parse *p, const yaml_event_t *ev)
{
	struct conf *c;

	if (++p->nr_nodes > CONF_NODES_MAX) {
		parse_err(p, line_of(ev), -EINVAL, "more than %u values; split the scenario",
			  CONF_NODES_MAX);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		no_memory(p);
		return NULL;
	}
	c->file = p->file;
	c->line = p->lines ? line_of(ev) : 0;
	return c;
}

static struct conf *parse_node(struct parse *p, const yaml_event_t *ev, unsigned int depth);

static int parse_seq(struct parse *p, struct conf *seq, unsigned int depth)
{
	struct conf **tail = &seq->child;
	yaml_event_t ev;

	for (;;) {
		bool end;

		if (next_event(p, &ev))
			return -EINVAL;
		end = ev.type == YAML_SEQUENCE_END_EVENT;
		if (!end)
			*tail = parse_node(p, &ev, depth);
		yaml_event_delete(&ev);
		if (end)
			return 0;
		if (!*tail)
			return -EINVAL;
		tail = &(*tail)->next;
	}
}

/* The key of a map's next member, malloc'ed; NULL with the sentence. */
static char *parse_key(struct parse *p, const struct conf *map, const yaml_event_t *ev)
{
	char *key;

	if (check_plain_data(p, ev))
		return NULL;
	if (ev->type != YAML_SCALAR_EVENT || !ev->data.scalar.length ||
	    ev->data.scalar.length > CONF_KEY_MAX) {
		parse_err(p, line_of(ev), -EINVAL, "a key must be a word, as in \"seed: 1\"");
		return NULL;
	}
	key = scalar_text(p, ev);
	if (!key)
		return NULL;
	conf_each(it, map) {
		if (strcmp(it->key, key) != 0)
			continue;
		parse_err(p, line_of(ev), -EINVAL, "%.60s is here a second time; leave one", key);
		free(key);
		return NULL;
	}
	return key;
}

static struct conf *parse_member(struct parse *p, const struct conf *map, const yaml_event_t *at,
				 unsigned int depth)
{
	char *key = parse_key(p, map, at);
	struct conf *c = NULL;
	yaml_event_t ev;

	if (key && !next_event(p, &ev)) {
		c = parse_node(p, &ev, depth);
		yaml_event_delete(&ev);
	}
	if (!c) {
		free(key);
		return NULL;
	}
	c->key = key;
	c->line = p->lines ? line_of(at) : 0;
	return c;
}

static int parse_map(struct parse *p, struct conf *map, unsigned int depth)
{
	struct conf **tail = &map->child;
	unsigned int nr = 0;
	yaml_event_t ev;

	for (;;) {
		bool end;

		if (next_event(p, &ev))
			return -EINVAL;
		end = ev.type == YAML_MAPPING_END_EVENT;
		if (!end && nr++ == CONF_KEYS_MAX)
			parse_err(p, line_of(&ev), -EINVAL, "more than %u keys in one place",
				  CONF_KEYS_MAX);
		else if (!end)
			*tail = parse_member(p, map, &ev, depth);
		yaml_event_delete(&ev);
		if (end)
			return 0;
		if (!*tail)
			return -EINVAL;
		tail = &(*tail)->next;
	}
}

/* The node that begins with @ev, and all below it; NULL with the sentence. */
static struct conf *parse_node(struct parse *p, const yaml_event_t *ev, unsigned int depth)
{
	struct conf *c;
	int ret = 0;

	if (check_plain_data(p, ev))
		return NULL;
	if (depth > CONF_DEPTH_MAX) {
		parse_err(p, line_of(ev), -EINVAL, "nested deeper than %u levels", CONF_DEPTH_MAX);
		return NULL;
	}
	c = new_node(p, ev);
	if (!c)
		return NULL;
	if (ev->type == YAML_SEQUENCE_START_EVENT) {
		c->type = CONF_SEQ;
		ret = parse_seq(p, c, depth + 1);
	} else if (ev->type == YAML_MAPPING_START_EVENT) {
		c->type = CONF_MAP;
		ret = parse_map(p, c, depth + 1);
	} else {
		c->value = scalar_text(p, ev);
		/* What cannot be written plain everywhere is no number: conf_emit() quotes it. */
		c->quoted = c->value && (ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
					 !conf_tree_is_plain(c->value));
		ret = c->value ? 0 : -EINVAL;
	}
	if (ret) {
		conf_tree_free_node(c);
		return NULL;
	}
	return c;
}

/* The only document's node; an empty text is an empty scalar. NULL with the sentence. */
static struct conf *parse_document(struct parse *p)
{
	struct conf *c = NULL;
	yaml_event_t ev;
	bool again = true;

	while (again) {
		if (next_event(p, &ev))
			goto fail;
		switch (ev.type) {
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			if (c) {
				parse_err(p, line_of(&ev), -EINVAL,
					  "a second document begins here; one is the limit");
				again = false;
			}
			break;
		case YAML_STREAM_END_EVENT:
			if (!c)
				parse_err(p, 1, -EINVAL, "the text is empty");
			yaml_event_delete(&ev);
			return c;
		default:
			c = parse_node(p, &ev, p->depth);
			again = c != NULL;
		}
		yaml_event_delete(&ev);
	}
fail:
	conf_tree_free_node(c);
	return NULL;
}

struct conf *conf_parse_value(const char *text, size_t len, const char *file, bool lines,
			      unsigned int depth, struct err *err)
{
	struct parse p = { .text = text, .len = len, .file = file, .lines = lines, .depth = depth,
			   .err = err };
	struct conf *c;

	if (len > CONF_TEXT_MAX) {
		err_set(err, -EFBIG, "%s: larger than %u MiB; that is no scenario", file,
			CONF_TEXT_MAX >> 20);
		return NULL;
	}
	if (!yaml_parser_initialize(&p.yaml)) {
		no_memory(&p);
		return NULL;
	}
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, len);
	c = parse_document(&p);
	yaml_parser_delete(&p.yaml);
	return c;
}

struct conf *conf_parse(const char *text, size_t len, const char *name, struct err *err)
{
	struct conf_root *r = calloc(1, sizeof(*r));
	const char *file = r ? conf_tree_own_name(r, "", name, strlen(name)) : NULL;
	struct conf *c;

	if (!file) {
		err_set(err, -ENOMEM, "%s: out of memory", name);
		conf_free(&r->top);
		return NULL;
	}
	if (len >= strlen(BYTE_ORDER_MARK) && !memcmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))) {
		text += strlen(BYTE_ORDER_MARK);
		len -= strlen(BYTE_ORDER_MARK);
	}
	c = conf_parse_value(text, len, file, true, 0, err);
	if (c && c->type != CONF_MAP) {
		conf_err(c, err, -EINVAL, "a scenario is made of \"key: value\" lines");
		conf_tree_free_node(c);
		c = NULL;
	}
	if (!c) {
		conf_free(&r->top);
		return NULL;
	}
	r->top = *c;
	free(c);
	return &r->top;
}

/* More than CONF_TEXT_MAX bytes of @fd are cut, but not to less. Malloc'ed, with a NUL; negative errno. */
static ssize_t read_all(int fd, char **out)
{
	size_t len = 0, room = 0;
	char *buf = NULL, *more;
	ssize_t n;

	for (;;) {
		if (len + 1 >= room) {
			room = room ? room * 2 : 16384;
			more = realloc(buf, room);
			if (!more) {
				free(buf);
				return -ENOMEM;
			}
			buf = more;
		}
		n = read(fd, buf + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			free(buf);
			return n;
		}
		len += (size_t)n;
		if (n == 0 || len > CONF_TEXT_MAX)
			break;
	}
	buf[len] = '\0';
	*out = buf;
	return (ssize_t)len;
}

char *conf_file(const char *path, size_t *len, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = NULL;
	ssize_t n = fd < 0 ? -errno : read_all(fd, &text);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		err_set(err, (int)n, "%s: %s; give the path of a scenario file", path,
			strerror((int)-n));
	*len = (size_t)n;
	return text;
}

struct conf *conf_load(const char *path, struct err *err)
{
	size_t len;
	char *text = conf_file(path, &len, err);
	struct conf *c = text ? conf_parse(text, len, path, err) : NULL;

	free(text);
	return c;
}
