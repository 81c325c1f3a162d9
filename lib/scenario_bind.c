// SPDX-License-Identifier: GPL-2.0-or-later
/* From the tree to the struct: types, ranges and unknown keys, by tables. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define DURATION_MAX 864000.0
#define DRAIN_MAX    3600.0
#define TEXT_MAX_LEN 1024u

enum kind { U64, U32, U16, U8, F64, BOOL, TEXT };

/* A key whose only check is its type and range. */
struct field {
	const char *key;
	enum kind kind;
	size_t at;
	uint64_t min, max;
	double fmin, fmax;
};

#define INT(k, kind_, s, m, lo, hi)                                                                \
	{                                                                                          \
		.key = (k), .kind = (kind_), .at = offsetof(s, m), .min = (lo), .max = (hi)        \
	}
#define REAL(k, s, m, lo, hi)                                                                      \
	{                                                                                          \
		.key = (k), .kind = F64, .at = offsetof(s, m), .fmin = (lo), .fmax = (hi)          \
	}
#define FLAG(k, s, m)                                                                              \
	{                                                                                          \
		.key = (k), .kind = BOOL, .at = offsetof(s, m)                                     \
	}
#define STR(k, s, m)                                                                               \
	{                                                                                          \
		.key = (k), .kind = TEXT, .at = offsetof(s, m)                                     \
	}

static const struct field top_fields[] = {
	STR("name", struct scenario, name),
	INT("seed", U64, struct scenario, seed, 0, UINT64_MAX),
	REAL("duration_s", struct scenario, duration_s, 0.001, DURATION_MAX),
	{ 0 },
};

static const struct field dut_fields[] = {
	STR("kernel", struct scenario, kernel),
	INT("memory_mb", U32, struct scenario, memory_mb, 64, 1048576),
	INT("cpus", U32, struct scenario, cpus, 1, 64),
	STR("cmdline", struct scenario, cmdline),
	FLAG("neigh_events", struct scenario, neigh_events),
	STR("in_address", struct scenario, in[0].text),
	STR("out_address", struct scenario, out[0].text),
	{ 0 },
};

static const struct field gen_fields[] = {
	INT("lanes", U32, struct scenario, lanes, 1, 64),
	INT("burst", U32, struct scenario, burst, 2, SCENARIO_BURST_MAX),
	{ 0 },
};

static const struct field responder_fields[] = {
	REAL("answer_ratio", struct scenario, answer_ratio, 0.0, 1.0),
	REAL("delay_ms", struct scenario, delay_ms, 0.0, 60000.0),
	INT("answer_probe", U32, struct scenario, answer_probe, 1, 1000),
	{ 0 },
};

static const struct field stream_fields[] = {
	STR("name", struct scenario_stream, name),
	INT("count", U64, struct scenario_stream, count, 1, SCENARIO_COUNT_MAX),
	INT("ttl", U8, struct scenario_stream, ttl, 1, 255),
	INT("src_port", U16, struct scenario_stream, src_port, 1, 65535),
	INT("dst_port", U16, struct scenario_stream, dst_port, 1, 65535),
	{ 0 },
};

static const char *const order_names[] = {
	[SCHED_SEQUENTIAL] = "sequential",
	[SCHED_PERMUTE] = "permute",
	NULL,
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while reading the scenario");
}

/* --- bind -------------------------------------------------------------------------------------- */

static int replace_text(char **at, const char *text, struct err *err)
{
	char *copy = strdup(text);

	if (!copy)
		return no_memory(err);
	free(*at);
	*at = copy;
	return 0;
}

static bool is_one_line(const char *s)
{
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return strlen(s) <= TEXT_MAX_LEN;
}

static int bind_text(const struct conf *map, const struct field *f, char **at, struct err *err)
{
	const char *text = NULL;
	int ret = conf_str(map, f->key, &text, err);

	if (ret || !text)
		return ret;
	if (!is_one_line(text))
		return conf_err(conf_get(map, f->key), err, -EINVAL,
				"%s must be one line of at most %u characters", f->key, TEXT_MAX_LEN);
	return replace_text(at, text, err);
}

static void store(void *at, enum kind kind, uint64_t v)
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

static int bind_int(const struct conf *map, const struct field *f, void *at, struct err *err)
{
	uint64_t v;
	bool there = conf_get(map, f->key);
	int ret = conf_u64(map, f->key, f->min, f->max, &v, err);

	if (!ret && there)
		store(at, f->kind, v);
	return ret;
}

/* @base: the struct that the offsets in @fields count from; absent keys leave it alone. */
static int bind_fields(const struct conf *map, const struct field *fields, void *base,
		       struct err *err)
{
	int ret = 0;

	for (const struct field *f = fields; f->key && !ret; f++) {
		void *at = (char *)base + f->at;

		if (f->kind == TEXT)
			ret = bind_text(map, f, at, err);
		else if (f->kind == F64)
			ret = conf_double(map, f->key, f->fmin, f->fmax, at, err);
		else if (f->kind == BOOL)
			ret = conf_bool(map, f->key, at, err);
		else
			ret = bind_int(map, f, at, err);
	}
	return ret;
}

static int bind_section(const struct conf *root, const char *key, const struct field *fields,
			struct scenario *s, struct err *err)
{
	struct conf *map;
	int ret = conf_node(root, key, CONF_MAP, &map, err);

	return ret || !map ? ret : bind_fields(map, fields, s, err);
}

static bool is_word(const struct conf *c, const char *word)
{
	return c && c->type == CONF_SCALAR && strcmp(c->value, word) == 0;
}

/* "auto" or seconds. */
static int bind_drain(struct scenario *s, struct err *err)
{
	if (is_word(conf_get(s->conf, "drain_s"), "auto"))
		return 0;
	return conf_double(s->conf, "drain_s", 0.1, DRAIN_MAX, &s->drain_s, err);
}

static int add_pair(struct scenario_pair **list, uint32_t *nr, const char *key, size_t key_len,
		    const char *value, int line)
{
	struct scenario_pair *more = realloc(*list, (*nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*list = more;
	more += *nr;
	*more = (struct scenario_pair){ strndup(key, key_len), strdup(value), line };
	++*nr; /* scenario_free() sees it also when half of it is missing */
	return more->key && more->value ? 0 : -ENOMEM;
}

/* A sysctl's name becomes a path below /proc/sys: nothing else may be named. */
static bool is_sysctl_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-/:@+";

	return name[strspn(name, allowed)] == '\0' && !strstr(name, "..") && *name != '/' &&
	       *name != '.';
}

/* Maps may be nested where the name has dots: "net: {ipv4: {ip_forward: 1}}". */
static int bind_sysctls(struct scenario *s, const struct conf *map, const char *prefix,
			struct err *err)
{
	char name[256];
	const char *value;
	int ret = 0;

	conf_each(it, map) {
		it->used = true;
		if ((size_t)snprintf(name, sizeof(name), "%s%s", prefix, it->key) >=
			    sizeof(name) - 1 || !is_sysctl_name(name))
			return conf_err(it, err, -EINVAL, "%.60s is no name of a sysctl", it->key);
		if (it->type == CONF_MAP) {
			strcat(name, ".");
			ret = bind_sysctls(s, it, name, err);
		} else {
			ret = conf_text(it, &value, err);
			if (!ret && (!is_one_line(value) || !*value))
				ret = conf_err(it, err, -EINVAL, "%s needs a value of one line", name);
			if (!ret && add_pair(&s->sysctls, &s->nr_sysctls, name, strlen(name), value,
					     it->line))
				ret = no_memory(err);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int bind_dut(struct scenario *s, struct err *err)
{
	struct conf *dut, *sysctl = NULL;
	int ret = conf_node(s->conf, "dut", CONF_MAP, &dut, err);

	if (ret || !dut)
		return ret;
	ret = bind_fields(dut, dut_fields, s, err);
	if (!ret)
		ret = conf_node(dut, "sysctl", CONF_MAP, &sysctl, err);
	return ret || !sysctl ? ret : bind_sysctls(s, sysctl, "", err);
}

/* "field.path OP value" into its path and "OP value". */
static int bind_require(struct scenario *s, const struct conf *c, struct err *err)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=", NULL };
	const char *text, *op;
	size_t path_len, op_len;
	bool known = false;
	int ret = conf_text(c, &text, err);

	if (ret)
		return ret;
	path_len = strcspn(text, " ");
	op = text + path_len + strspn(text + path_len, " ");
	op_len = strcspn(op, " ");
	for (int i = 0; ops[i]; i++)
		known |= strlen(ops[i]) == op_len && strncmp(op, ops[i], op_len) == 0;
	if (!path_len || !known || !op[op_len + strspn(op + op_len, " ")] || !is_one_line(text))
		return conf_err(c, err, -EINVAL, "\"%.80s\" must be FIELD OP VALUE with OP one of "
				"== != < <= > >=, as in verdict == clean", text);
	if (add_pair(&s->requires, &s->nr_requires, text, path_len, op, c->line))
		return no_memory(err);
	return 0;
}

static int bind_requires(struct scenario *s, struct err *err)
{
	struct conf *list;
	int ret = conf_node(s->conf, "require", CONF_SEQ, &list, err);

	if (ret || !list)
		return ret;
	for (const struct conf *it = list->child; it && !ret; it = it->next)
		ret = bind_require(s, it, err);
	return ret;
}

/* A rate, or "max", which is 0 in the struct. */
static int bind_rate(const struct conf *map, const char *key, uint64_t *rate, struct err *err)
{
	if (is_word(conf_get(map, key), "max"))
		return 0;
	return conf_u64(map, key, 1, SCENARIO_RATE_MAX, rate, err);
}

static int bind_stream(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int order = SCHED_PERMUTE, ret;

	if (map->type != CONF_MAP)
		return conf_err(map, err, -EINVAL, "a stream is a group of keys, as in - name: flood");
	ret = bind_fields(map, stream_fields, st, err);
	if (!ret)
		ret = bind_rate(map, "rate_pps", &st->rate_pps, err);
	if (!ret)
		ret = bind_rate(map, "new_destinations_per_s", &st->new_destinations_per_s, err);
	if (!ret)
		ret = conf_enum(map, "order", order_names, &order, err);
	st->order = (enum sched_order)order;
	if (!ret)
		ret = scenario_addr_read(map, "destinations", &st->destinations, addrset_add, err);
	if (!ret)
		ret = scenario_addr_read(map, "exclude", &st->destinations, addrset_exclude, err);
	if (!ret)
		ret = scenario_addr_read(map, "sources", &st->sources, addrset_add, err);
	return ret;
}

static int bind_streams(struct scenario *s, struct err *err)
{
	struct scenario_stream *st;
	struct conf *list;
	int ret = conf_node(s->conf, "streams", CONF_SEQ, &list, err);

	if (ret || !list || !list->child)
		return ret;
	if (list->child->next)
		return conf_err(list->child->next, err, -EINVAL,
				"one stream is supported today; remove the others");
	st = s->streams = calloc(1, sizeof(*st));
	if (!st)
		return no_memory(err);
	s->nr_streams = 1;
	st->ttl = 2;
	st->src_port = st->dst_port = 9;
	st->shape.family = AF_INET;
	st->sizes[0] = (struct scenario_size){ (uint16_t)frame_len_min(&st->shape), 1 };
	st->nr_sizes = 1;
	st->group = st->ramp_steps = 1;
	addrset_init(&st->destinations);
	addrset_init(&st->sources);
	ret = bind_stream(st, list->child, err);
	st->src_port_last = st->src_port;
	st->dst_port_last = st->dst_port;
	return ret;
}

int scenario_bind(struct scenario *s, struct err *err)
{
	int ret = bind_fields(s->conf, top_fields, s, err);

	if (!ret)
		ret = bind_drain(s, err);
	if (!ret)
		ret = bind_dut(s, err);
	if (!ret)
		ret = bind_section(s->conf, "gen", gen_fields, s, err);
	if (!ret)
		ret = bind_section(s->conf, "responder", responder_fields, s, err);
	if (!ret)
		ret = bind_streams(s, err);
	if (!ret)
		ret = bind_requires(s, err);
	return ret ? ret : conf_reject_unused(s->conf, err);
}
