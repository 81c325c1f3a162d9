/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What conf.c, conf_tree.c and conf_read.c share. Beside them only a test includes this, which looks at
 * what was asked for. */
#ifndef LIB_CONF_TREE_H
#define LIB_CONF_TREE_H

#include "lib/conf.h"

#define CONF_KEY_MAX 128u /* bytes; libyaml takes no unmarked key over 1024 characters, escaped */

/* The root is also the owner of every name that nodes point to as their file. */
struct conf_root {
	struct conf top; /* first: a root is a node */
	char **names;
	size_t nr_names;
};

/* A key that a getter asked for: conf_reject_unused() proposes it. */
struct conf_asked {
	const char *key;
	struct conf_asked *next;
};

/* The root's own copy of @prefix and @len bytes of @name; NULL if no memory. */
const char *conf_tree_own_name(struct conf_root *r, const char *prefix, const char *name,
			       size_t len);
void conf_tree_free_node(struct conf *c); /* and all below it; NULL does nothing */

/* Can @s stand in YAML without quotes, wherever it is? Every number and boolean can. */
bool conf_tree_is_plain(const char *s);

/* One YAML value of any type, for a place @depth levels down; @file is not copied. Unless @lines,
 * errors name @file only. NULL with the sentence. */
struct conf *conf_parse_value(const char *text, size_t len, const char *file, bool lines,
			      unsigned int depth, struct err *err);

#endif
