// SPDX-License-Identifier: GPL-2.0-or-later
/* From the tree to structs, by tables; and what every part says in the same way. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define TEXT_LEN_MAX 1024u
#define NAME_LEN_MAX 64u

int scenario_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while reading the scenario");
}

const struct conf *scenario_at(const struct conf *map, const char *key)
{
	const struct conf *c = conf_get(map, key);

	return c ? c : map;
}

int scenario_missing(const struct conf *map, struct err *err, const char *key, const char *remedy)
{
	return conf_err(map, err, -EINVAL, "%s is missing; %s", key, remedy);
}

bool scenario_is_word(const struct conf *c, const char *word)
{
	return c && c->type == CONF_SCALAR && strcmp(c->value, word) == 0;
}

bool scenario_is_line(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return strlen(text) <= TEXT_LEN_MAX;
}

int scenario_check_name(const struct conf *map, const char *name, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (!name)
		return scenario_missing(map, err, "name", "give one, as in name: my-test");
	if (*name && *name != '.' && *name != '-' && strlen(name) <= NAME_LEN_MAX &&
	    name[strspn(name, allowed)] == '\0')
		return 0;
	return conf_err(scenario_at(map, "name"), err, -EINVAL,
			"name is \"%.80s\"; it must be 1 to %u of A-Z a-z 0-9 . _ - and begin with a "
			"letter, a digit or _", name, NAME_LEN_MAX);
}

/* --- fields ------------------------------------------------------------------------------------ */

static int bind_text(const struct conf *map, const struct scenario_field *f, char **at,
		     struct err *err)
{
	const char *text = NULL;
	char *copy;
	int ret = conf_str(map, f->key, &text, err);

	if (ret || !text)
		return ret;
	if (!scenario_is_line(text))
		return conf_err(conf_get(map, f->key), err, -EINVAL,
				"%s must be one line of at most %u characters", f->key, TEXT_LEN_MAX);
	copy = strdup(text);
	if (!copy)
		return scenario_no_memory(err);
	free(*at);
	*at = copy;
	return 0;
}

static int bind_word(const struct conf *map, const struct scenario_field *f, int *at,
		     struct err *err)
{
	return conf_enum(map, f->key, f->words, at, err);
}

static void store(void *at, enum scenario_kind kind, uint64_t v)
{
	if (kind == U64)
		*(uint64_t *)at = v;
	else if (kind == U32)
		*(uint32_t *)at = (uint32_t)v;
	else if (kind == U16)
		*(uint16_t *)at = (uint16_t)v;
	else
		*(uint8_t *)at = (uint8_t)v;
}

static int bind_int(const struct conf *map, const struct scenario_field *f, void *at,
		    struct err *err)
{
	uint64_t v;
	bool there = conf_get(map, f->key);
	int ret = conf_u64(map, f->key, f->min, f->max, &v, err);

	if (!ret && there)
		store(at, f->kind, v);
	return ret;
}

static int bind_field(const struct conf *map, const struct scenario_field *f, void *at,
		      struct err *err)
{
	switch (f->kind) {
	case TEXT:
		return bind_text(map, f, at, err);
	case WORD:
		return bind_word(map, f, at, err);
	case F64:
		return conf_double(map, f->key, f->fmin, f->fmax, at, err);
	case BOOL:
		return conf_bool(map, f->key, at, err);
	case I64:
		return conf_i64(map, f->key, -INT64_MAX, INT64_MAX, at, err);
	default:
		return bind_int(map, f, at, err);
	}
}

int scenario_bind_fields(const struct conf *map, const struct scenario_field *fields, void *base,
			 struct err *err)
{
	int ret = 0;

	for (const struct scenario_field *f = fields; f->key && !ret; f++)
		ret = bind_field(map, f, (char *)base + f->at, err);
	return ret;
}

int scenario_bind_group(const struct conf *parent, const char *key,
			const struct scenario_field *fields, void *base, struct err *err)
{
	struct conf *map;
	int ret = conf_node(parent, key, CONF_MAP, &map, err);

	return ret || !map ? ret : scenario_bind_fields(map, fields, base, err);
}

int scenario_bind_list(const struct conf *parent, const char *key, size_t size, uint32_t max,
		       void **array, uint32_t *nr, struct err *err)
{
	struct conf *list;
	int ret = conf_node(parent, key, CONF_SEQ, &list, err);

	if (ret || !list || !list->child)
		return ret;
	conf_each(it, list) {
		if (*nr == max) {
			*nr = 0;
			return conf_err(it, err, -EINVAL, "%s holds more than %u; remove some",
					key, max);
		}
		++*nr;
	}
	*array = calloc(*nr, size);
	if (*array)
		return 0;
	*nr = 0;
	return scenario_no_memory(err);
}
