/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as a tree with line numbers, and overrides. conf.c is the only user of libyaml. Duplicate
 * keys, anchors, aliases, tags and several documents are errors: a scenario is data.
 */
#ifndef LIB_CONF_H
#define LIB_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What a hostile text may cost: more than any of these is refused. */
#define CONF_TEXT_MAX  (16u * 1024u * 1024u)
#define CONF_DEPTH_MAX 32u
#define CONF_NODES_MAX 1000000u
#define CONF_KEYS_MAX  4096u /* of one map */

enum conf_type { CONF_SCALAR, CONF_SEQ, CONF_MAP };

struct conf {
	enum conf_type type;
	char *key;	    /* in a map, else NULL */
	char *value;	    /* scalars: the text, without NUL */
	bool quoted;	    /* scalars: written with quotes, so never a number or a boolean */
	int line;	    /* from 1, of the key where there is one; 0 for what an override made */
	struct conf *child; /* first, of a map or sequence */
	struct conf *next;
	const char *file;   /* what errors call its origin: "FILE" or "--set KEY"; the root owns it */
	bool used;	    /* set by the getters: conf_reject_unused() */
	struct conf_asked *asked; /* maps: the keys that getters asked for, present or not */
};

/* Parse. @name: what errors call the text ("FILE"). Errors read "FILE:LINE: ...". Returns the root,
 * a map, or NULL with the sentence in @err. Only what the root owns may be freed: conf_free(). */
struct conf *conf_parse(const char *text, size_t len, const char *name, struct err *err);
struct conf *conf_load(const char *path, struct err *err);
/* What @path holds, malloc'ed, with a NUL after the *len bytes; NULL with the sentence in @err. */
char *conf_file(const char *path, size_t *len, struct err *err);
void conf_free(struct conf *root);

/*
 * "a.b.0.c=VALUE": numbers index sequences (one past the end appends), and so does what a map in one
 * is called by its member `name` ("streams.flood.ttl=3"); keys name map members, which are created
 * where missing (a sequence if the next step is 0, else a map). A member whose own name has dots is
 * found by its whole name first: "dut.sysctl.net.ipv4.ip_forward=1". VALUE is parsed as YAML, so
 * "[198.19.0.0/24]" and "{a: 1}" work; it is trusted no more than a file: errors are called
 * "--set KEY". Returns 0, -EINVAL, -ENOMEM; after a failure only conf_free() is useful.
 */
int conf_set(struct conf *root, const char *assignment, struct err *err);

/* The member of map @c, or NULL; marks it used. @key must live as long as the tree. */
struct conf *conf_get(const struct conf *c, const char *key);

#define conf_each(it, c) for (struct conf *it = (c)->child; it; it = it->next)

/* An error that begins with "FILE:LINE: " (or "--set KEY: "). Returns @code. @err may be NULL. */
int conf_err(const struct conf *c, struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Typed readers of map member @key; they mark it used. Absent: *out is left alone and 0 returned.
 * Numbers take the suffixes k, M, G (powers of 1000), "_" between digits and, if the whole is still
 * an integer, a fraction (1.5k); a number out of [@min, @max], or text where a number belongs, is
 * -EINVAL with the line.
 */
int conf_u64(const struct conf *map, const char *key, uint64_t min, uint64_t max, uint64_t *out,
	     struct err *err);
int conf_i64(const struct conf *map, const char *key, int64_t min, int64_t max, int64_t *out,
	     struct err *err);
int conf_double(const struct conf *map, const char *key, double min, double max, double *out,
		struct err *err);
int conf_bool(const struct conf *map, const char *key, bool *out, struct err *err);
/* *out is owned by the tree. */
int conf_str(const struct conf *map, const char *key, const char **out, struct err *err);
/* One of the NULL-terminated @names; *out is its index. */
int conf_enum(const struct conf *map, const char *key, const char *const *names, int *out,
	      struct err *err);
/* A member that must be of @type; *out is NULL if it is absent. */
int conf_node(const struct conf *map, const char *key, enum conf_type type, struct conf **out,
	      struct err *err);

/* Check that node @c is a scalar; its text in *out. */
int conf_text(const struct conf *c, const char **out, struct err *err);

/* The same numbers where there is no key to ask for: element @c of a list, or the name of a map's
 * member @c. Errors call it @name. */
int conf_item_u64(const struct conf *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
		  struct err *err);
int conf_name_u64(const struct conf *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
		  struct err *err);

/* -EINVAL naming the first key that no reader asked for, and the nearest known one if any was
 * asked for with a similar name. Recursive. */
int conf_reject_unused(const struct conf *root, struct err *err);

/* The nearest of the NULL-terminated @names to @text: a likely slip of the pen, or NULL. */
const char *conf_nearest(const char *text, const char *const *names);

/* The tree as YAML text that parses to the same tree. malloc'ed; NULL if no memory. */
char *conf_emit(const struct conf *root);

#endif
