// SPDX-License-Identifier: GPL-2.0-or-later
/* Typed readers of the tree, their errors, and the search for what nobody read. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/conf_tree.h"
#include "lib/err.h"

#define FILE_SHOWN 160u /* of a long path, the end: the sentence must fit as well */

int conf_err(const struct conf *c, struct err *err, int code, const char *fmt, ...)
{
	size_t len = strlen(c->file);
	const char *file = c->file + (len > FILE_SHOWN ? len - FILE_SHOWN : 0);
	char text[320];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (c->line)
		err_set(err, code, "%s:%d: %s", file, c->line, text);
	else
		err_set(err, code, "%s: %s", file, text);
	return code;
}

/* --- finding ----------------------------------------------------------------------------------- */

/* Without memory for the note only a proposal is lost. */
static void note_asked(struct conf *map, const char *key)
{
	struct conf_asked *asked;

	for (asked = map->asked; asked; asked = asked->next)
		if (strcmp(asked->key, key) == 0)
			return;
	asked = malloc(sizeof(*asked));
	if (!asked)
		return;
	asked->key = key;
	asked->next = map->asked;
	map->asked = asked;
}

struct conf *conf_get(const struct conf *c, const char *key)
{
	if (c->type != CONF_MAP)
		return NULL;
	note_asked((struct conf *)c, key);
	conf_each(it, c) {
		if (strcmp(it->key, key) == 0) {
			it->used = true;
			return it;
		}
	}
	return NULL;
}

static const char *type_name(enum conf_type type)
{
	static const char *const names[] = { "a single value", "a list", "a group of keys" };

	return names[type];
}

static const char *name_of(const struct conf *c)
{
	return c->key ? c->key : "this entry";
}

static int wrong_type(const struct conf *c, struct err *err, enum conf_type wanted)
{
	return conf_err(c, err, -EINVAL, "%.60s is %s; it must be %s", name_of(c),
			type_name(c->type), type_name(wanted));
}

int conf_node(const struct conf *map, const char *key, enum conf_type type, struct conf **out,
	      struct err *err)
{
	*out = conf_get(map, key);
	if (*out && (*out)->type != type)
		return wrong_type(*out, err, type);
	return 0;
}

int conf_text(const struct conf *c, const char **out, struct err *err)
{
	if (c->type != CONF_SCALAR)
		return wrong_type(c, err, CONF_SCALAR);
	*out = c->value;
	return 0;
}

/* --- numbers ----------------------------------------------------------------------------------- */

/* A number as written: mantissa / 10^fraction * 1000^kilo. */
struct number {
	uint64_t mantissa;
	unsigned int fraction, kilo;
	bool negative, overflow;
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void number_digit(struct number *n, char c)
{
	if (__builtin_mul_overflow(n->mantissa, 10u, &n->mantissa) ||
	    __builtin_add_overflow(n->mantissa, (uint64_t)(c - '0'), &n->mantissa))
		n->overflow = true;
}

/* Digits with "_" between two of them. Returns where they end; NULL if there are none. */
static const char *number_digits(struct number *n, const char *s, unsigned int *count)
{
	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s) || (*s == '_' && is_digit(s[1])); s++) {
		if (*s == '_')
			continue;
		number_digit(n, *s);
		++*count;
	}
	return s;
}

/* [-]DIGITS[.DIGITS][k|M|G]. False if @s is anything else. */
static bool number_parse(const char *s, struct number *n)
{
	static const char suffixes[] = "kMG";
	unsigned int whole = 0;
	const char *suffix;

	memset(n, 0, sizeof(*n));
	n->negative = *s == '-';
	s = number_digits(n, s + n->negative, &whole);
	if (s && *s == '.')
		s = number_digits(n, s + 1, &n->fraction);
	if (!s)
		return false;
	suffix = *s ? strchr(suffixes, *s) : NULL;
	if (suffix) {
		n->kilo = (unsigned int)(suffix - suffixes) + 1;
		s++;
	}
	return !*s;
}

/* False if the number has a fraction or does not fit. */
static bool number_u64(struct number *n, uint64_t *out)
{
	unsigned int zeros = 3 * n->kilo;

	for (; n->fraction > zeros && n->mantissa % 10 == 0 && !n->overflow; n->fraction--)
		n->mantissa /= 10;
	if (n->overflow || n->fraction > zeros || (n->negative && n->mantissa))
		return false;
	for (; n->fraction < zeros; zeros--)
		if (__builtin_mul_overflow(n->mantissa, 10u, &n->mantissa))
			return false;
	*out = n->mantissa;
	return true;
}

static double number_double(const struct number *n)
{
	double v = (double)n->mantissa;

	for (unsigned int i = 0; i < n->kilo; i++)
		v *= 1000.0;
	for (unsigned int i = 0; i < n->fraction; i++)
		v /= 10.0;
	return n->negative ? -v : v;
}

/* @text, which errors at @c call @name, as a number. Returns 0 or -EINVAL. */
static int read_number(const struct conf *c, const char *name, const char *text, bool quoted,
		       struct number *n, struct err *err)
{
	bool number = number_parse(text, n);

	if (number && !quoted)
		return 0;
	return conf_err(c, err, -EINVAL, "%s is \"%.60s\"; it must be a number, as in 20 or 15k%s",
			name, text, number ? ", without quotes" : "");
}

/* The member as a number. 1: it is there; 0: it is not; -EINVAL. */
static int get_number(const struct conf *map, const char *key, struct conf **c, struct number *n,
		      struct err *err)
{
	int ret;

	*c = conf_get(map, key);
	if (!*c)
		return 0;
	if ((*c)->type != CONF_SCALAR)
		return wrong_type(*c, err, CONF_SCALAR);
	ret = read_number(*c, key, (*c)->value, (*c)->quoted, n, err);
	return ret ? ret : 1;
}

static int in_range(const struct conf *c, const char *name, const char *text, struct number *n,
		    uint64_t min, uint64_t max, uint64_t *out, struct err *err)
{
	uint64_t v;

	if (!number_u64(n, &v) || v < min || v > max)
		return conf_err(c, err, -EINVAL,
				"%s is %.60s; it must be a whole number from %llu to %llu", name, text,
				(unsigned long long)min, (unsigned long long)max);
	*out = v;
	return 0;
}

int conf_u64(const struct conf *map, const char *key, uint64_t min, uint64_t max, uint64_t *out,
	     struct err *err)
{
	struct number n;
	struct conf *c;
	int ret = get_number(map, key, &c, &n, err);

	return ret <= 0 ? ret : in_range(c, key, c->value, &n, min, max, out, err);
}

int conf_item_u64(const struct conf *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
		  struct err *err)
{
	struct number n;
	int ret = conf_text(c, &(const char *){ NULL }, err);

	if (!ret)
		ret = read_number(c, name, c->value, c->quoted, &n, err);
	return ret ? ret : in_range(c, name, c->value, &n, min, max, out, err);
}

int conf_name_u64(const struct conf *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
		  struct err *err)
{
	struct number n;
	int ret = read_number(c, name, c->key, false, &n, err);

	return ret ? ret : in_range(c, name, c->key, &n, min, max, out, err);
}

int conf_i64(const struct conf *map, const char *key, int64_t min, int64_t max, int64_t *out,
	     struct err *err)
{
	struct number n;
	struct conf *c;
	bool negative, fits;
	uint64_t v;
	int64_t i;
	int ret = get_number(map, key, &c, &n, err);

	if (ret <= 0)
		return ret;
	negative = n.negative;
	n.negative = false;
	fits = number_u64(&n, &v) && v <= INT64_MAX;
	i = fits ? negative ? -(int64_t)v : (int64_t)v : 0;
	if (!fits || i < min || i > max)
		return conf_err(c, err, -EINVAL,
				"%s is %.60s; it must be a whole number from %lld to %lld", key, c->value,
				(long long)min, (long long)max);
	*out = i;
	return 0;
}

int conf_double(const struct conf *map, const char *key, double min, double max, double *out,
		struct err *err)
{
	struct number n;
	struct conf *c;
	double v;
	int ret = get_number(map, key, &c, &n, err);

	if (ret <= 0)
		return ret;
	v = number_double(&n);
	if (n.overflow || v < min || v > max)
		return conf_err(c, err, -EINVAL, "%s is %.60s; it must be from %.10g to %.10g", key,
				c->value, min, max);
	*out = v;
	return 0;
}

/* --- words ------------------------------------------------------------------------------------- */

int conf_bool(const struct conf *map, const char *key, bool *out, struct err *err)
{
	static const char *const names[] = { "false", "true", "no", "yes", "off", "on", NULL };
	const struct conf *c = conf_get(map, key);

	if (!c)
		return 0;
	if (c->type != CONF_SCALAR)
		return wrong_type(c, err, CONF_SCALAR);
	for (int i = 0; names[i] && !c->quoted; i++) {
		if (strcmp(c->value, names[i]) == 0) {
			*out = i & 1;
			return 0;
		}
	}
	return conf_err(c, err, -EINVAL, "%s is \"%.60s\"; it must be true or false", key, c->value);
}

int conf_str(const struct conf *map, const char *key, const char **out, struct err *err)
{
	const struct conf *c = conf_get(map, key);

	if (!c)
		return 0;
	if (c->type == CONF_SCALAR && !c->quoted && !*c->value)
		return conf_err(c, err, -EINVAL, "%s has no value; write \"\" for an empty one", key);
	return conf_text(c, out, err);
}

/* "a, b or c" into @buf. */
static void list_names(char *buf, size_t size, const char *const *names)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; names[i] && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
				       !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
}

int conf_enum(const struct conf *map, const char *key, const char *const *names, int *out,
	      struct err *err)
{
	const char *text = NULL;
	char list[160];
	int ret = conf_str(map, key, &text, err);

	if (ret || !text)
		return ret;
	for (int i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = i;
			return 0;
		}
	}
	list_names(list, sizeof(list), names);
	return conf_err(conf_get(map, key), err, -EINVAL, "%s is \"%.60s\"; it must be %s", key,
			text, list);
}

/* --- what nobody read -------------------------------------------------------------------------- */

#define DISTANCE_MAX 40u

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions and replacements between two texts (Levenshtein), by one row. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[DISTANCE_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > DISTANCE_MAX || lb > DISTANCE_MAX)
		return DISTANCE_MAX;
	for (unsigned int j = 0; j <= lb; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= lb; j++) {
			unsigned int above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

/* Near enough to be a slip: a third of the letters at most, or an end left out. */
static bool nearer(const char *text, const char *name, unsigned int *best)
{
	size_t len = strlen(text);
	bool begins = len >= 3 && strncmp(text, name, len) == 0;
	unsigned int d = begins ? 1 : distance(text, name);

	if (d >= *best || d > (len + 2) / 3)
		return false;
	*best = d;
	return true;
}

const char *conf_nearest(const char *text, const char *const *names)
{
	unsigned int best = DISTANCE_MAX;
	const char *found = NULL;

	for (; *names; names++)
		if (nearer(text, *names, &best))
			found = *names;
	return found;
}

static int unknown_key(const struct conf *map, const struct conf *c, struct err *err)
{
	unsigned int best = DISTANCE_MAX;
	const char *found = NULL;

	for (const struct conf_asked *asked = map->asked; asked; asked = asked->next)
		if (nearer(c->key, asked->key, &best))
			found = asked->key;
	if (found)
		return conf_err(c, err, -EINVAL, "unknown key %.60s; did you mean %s?", c->key, found);
	return conf_err(c, err, -EINVAL, "unknown key %.60s; remove it", c->key);
}

int conf_reject_unused(const struct conf *root, struct err *err)
{
	conf_each(it, root) {
		int ret = root->type == CONF_MAP && !it->used ? unknown_key(root, it, err) :
								 conf_reject_unused(it, err);

		if (ret)
			return ret;
	}
	return 0;
}
