/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as a tree with line numbers, and overrides. The only user of libyaml. Duplicate keys,
 * anchors, aliases, tags and several documents are errors: a scenario is data.
 */
#ifndef LIB_CONF_H
#define LIB_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum conf_type { CONF_SCALAR, CONF_SEQ, CONF_MAP };

struct conf {
	enum conf_type type;
	char *key;	    /* in a map, else NULL */
	char *value;	    /* scalars: the text */
	bool quoted;	    /* scalars: written with quotes, so never a number or a boolean */
	int line;	    /* from 1; 0 for a node that an override made */
	struct conf *child; /* first, of a map or sequence */
	struct conf *next;
	const char *file;   /* shared by all nodes, owned by the root */
	bool used;	    /* set by the getters: conf_reject_unused() */
};

/* Parse. @name: what errors call the text ("FILE"). Errors read "FILE:LINE: ...". Returns the root,
 * a map, or NULL with the sentence in @err. Texts over 16 MiB or deeper than 32 are refused. */
struct conf *conf_parse(const char *text, size_t len, const char *name, struct err *err);
struct conf *conf_load(const char *path, struct err *err);
void conf_free(struct conf *root);

/*
 * "a.b.0.c=VALUE": numbers index sequences (one past the end appends), keys name map members, which
 * are created where missing. VALUE is parsed as YAML, so "[198.19.0.0/24]" and "{a: 1}" work; it is
 * trusted no more than a file: errors are called "--set KEY". Returns 0, -EINVAL, -ENOMEM.
 */
int conf_set(struct conf *root, const char *assignment, struct err *err);

/* The member of map @c, or element @i of a sequence, or NULL. */
struct conf *conf_get(const struct conf *c, const char *key);

#define conf_each(it, c) for (struct conf *it = (c)->child; it; it = it->next)

/* An error that begins with "FILE:LINE: " (or "--set KEY: "). Returns @code. */
int conf_err(const struct conf *c, struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Typed readers of map member @key; they mark it used. Absent: *out is left alone and 0 returned.
 * Numbers take the suffixes k, M, G (powers of 1000) and "_" between digits; a number out of
 * [@min, @max], or text where a number belongs, is -EINVAL with the line.
 */
int conf_u64(const struct conf *map, const char *key, uint64_t min, uint64_t max, uint64_t *out,
	     struct err *err);
int conf_double(const struct conf *map, const char *key, double min, double max, double *out,
		struct err *err);
int conf_bool(const struct conf *map, const char *key, bool *out, struct err *err);
int conf_str(const struct conf *map, const char *key, const char **out, struct err *err);
/* One of the NULL-terminated @names; *out is its index. */
int conf_enum(const struct conf *map, const char *key, const char *const *names, int *out,
	      struct err *err);

/* -EINVAL naming the first key that no reader asked for, and the nearest known one if any was
 * asked for with a similar name. Recursive. */
int conf_reject_unused(const struct conf *root, struct err *err);

/* The tree as YAML text that parses to the same tree. malloc'ed; NULL if no memory. */
char *conf_emit(const struct conf *root);

#endif
