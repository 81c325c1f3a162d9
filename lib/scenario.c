// SPDX-License-Identifier: GPL-2.0-or-later
/* Load, bind, check, free: the whole, and the keys at the top and under gen: and require:. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define DRAIN_MAX 3600.0

static const char *const lab_names[] = { [LAB_VM] = "vm", [LAB_NETNS] = "netns", NULL };

static const struct scenario_field top_fields[] = {
	FIELD_PLAIN("name", TEXT, struct scenario, name),
	FIELD_WORD("lab", struct scenario, lab, lab_names),
	FIELD_INT("seed", U64, struct scenario, seed, 0, UINT64_MAX),
	FIELD_REAL("duration_s", struct scenario, duration_s, 0.001, SCENARIO_DURATION_MAX),
	{ 0 },
};

static const struct scenario_field gen_fields[] = {
	FIELD_INT("lanes", U32, struct scenario, lanes, 1, 64),
	FIELD_INT("burst", U32, struct scenario, burst, 2, SCENARIO_BURST_MAX),
	{ 0 },
};

/* --- bind -------------------------------------------------------------------------------------- */

/* "auto" or seconds. */
static int bind_drain(struct scenario *s, struct err *err)
{
	if (scenario_is_word(conf_get(s->conf, "drain_s"), "auto"))
		return 0;
	return conf_double(s->conf, "drain_s", 0.1, DRAIN_MAX, &s->drain_s, err);
}

/* "field.path OP value" into its path and "OP value". */
static int bind_require(struct scenario_pair *pair, const struct conf *c, struct err *err)
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
	if (!path_len || !known || !op[op_len + strspn(op + op_len,
						       " ")] || !scenario_is_line(text))
		return conf_err(c, err, -EINVAL, "\"%.80s\" must be FIELD OP VALUE with OP one of "
				"== != < <= > >=, as in verdict == clean", text);
	*pair = (struct scenario_pair){ strndup(text, path_len), strdup(op), c->line };
	return pair->key && pair->value ? 0 : scenario_no_memory(err);
}

static int bind_requires(struct scenario *s, struct err *err)
{
	uint32_t i = 0;
	int ret = scenario_bind_list(s->conf, "require", sizeof(*s->requires), UINT32_MAX,
				     (void **)&s->requires, &s->nr_requires, err);

	if (ret || !s->nr_requires)
		return ret;
	conf_each(it, conf_get(s->conf, "require")) {
		ret = bind_require(&s->requires[i++], it, err);
		if (ret)
			return ret;
	}
	return 0;
}

static int bind(struct scenario *s, struct err *err)
{
	int ret = scenario_bind_fields(s->conf, top_fields, s, err);

	if (!ret)
		ret = bind_drain(s, err);
	if (!ret)
		ret = scenario_dut_bind(s, err);
	if (!ret)
		ret = scenario_bind_group(s->conf, "gen", gen_fields, s, err);
	if (!ret)
		ret = scenario_responder_bind(s, err);
	if (!ret)
		ret = scenario_stream_bind(s, err);
	if (!ret)
		ret = bind_requires(s, err);
	return ret ? ret : conf_reject_unused(s->conf, err);
}

/* --- check ------------------------------------------------------------------------------------- */

static int check_gen(struct scenario *s, struct err *err)
{
	if (!s->burst)
		s->burst = s->lanes > 32 ? 2 * s->lanes : 64;
	if (s->burst >= 2 * s->lanes)
		return 0;
	return conf_err(scenario_at(scenario_at(s->conf, "gen"), "burst"), err, -EINVAL,
			"burst is %u; with %u lanes it must be from %u to %u", s->burst, s->lanes,
			2 * s->lanes, SCENARIO_BURST_MAX);
}

static int check(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	int ret = scenario_check_name(s->conf, s->name, err);

	if (ret)
		return ret;
	if (s->duration_s <= 0)
		return scenario_missing(s->conf, err, "duration_s",
					"a flood needs an end, as in duration_s: 20");
	if (!s->nr_streams)
		return scenario_missing(scenario_at(s->conf, "streams"), err, "streams",
					"a scenario needs one, as in configs/many-destinations.yaml");
	ret = scenario_dut_check(s, allow, err);
	if (!ret)
		ret = check_gen(s, err);
	if (!ret)
		ret = scenario_stream_check(s, allow, err);
	return ret ? ret : scenario_responder_check(s, allow, err);
}

/* --- life -------------------------------------------------------------------------------------- */

static int set_defaults(struct scenario *s)
{
	s->seed = 1;
	s->lanes = 1;
	s->answer_ratio = 1.0;
	s->answer_probe = 1;
	s->memory_mb = 1024;
	s->cpus = 1;
	s->kernel = strdup("debian-6.1");
	s->cmdline = strdup("");
	return s->kernel && s->cmdline ? 0 : -ENOMEM;
}

/* One filter for each family that @from allows. */
static int read_allowed(struct scenario_allow *allow, const struct scenario_source *from,
			struct err *err)
{
	int ret = 0;

	addrset_init(&allow->ipv4);
	addrset_init(&allow->ipv6);
	for (unsigned int i = 0; i < from->nr_allow && !ret; i++)
		ret = addrset_add(strchr(from->allow[i], ':') ? &allow->ipv6 : &allow->ipv4,
				  from->allow[i], err);
	if (!ret && allow->ipv4.nr_ranges)
		ret = addrset_seal_filter(&allow->ipv4, err);
	if (!ret && allow->ipv6.nr_ranges)
		ret = addrset_seal_filter(&allow->ipv6, err);
	return ret ? err_wrap(err, ret, "--allow") : 0;
}

static int load(struct scenario *s, const struct scenario_source *from,
		const struct scenario_allow *allow, struct err *err)
{
	int ret = 0;

	if (set_defaults(s))
		return scenario_no_memory(err);
	s->conf = from->text ? conf_parse(from->text, strlen(from->text), from->path, err) :
			       conf_load(from->path, err);
	if (!s->conf)
		return -EINVAL;
	for (unsigned int i = 0; i < from->nr_overrides && !ret; i++)
		ret = conf_set(s->conf, from->overrides[i], err);
	if (!ret)
		ret = bind(s, err);
	return ret ? ret : check(s, allow, err);
}

int scenario_load(struct scenario *s, const struct scenario_source *from, struct err *err)
{
	struct scenario_allow allow;
	int ret;

	memset(s, 0, sizeof(*s));
	ret = read_allowed(&allow, from, err);
	if (!ret)
		ret = load(s, from, &allow, err);
	if (ret)
		scenario_free(s);
	addrset_free(&allow.ipv4);
	addrset_free(&allow.ipv6);
	return ret;
}

void scenario_free(struct scenario *s)
{
	scenario_stream_free(s);
	scenario_responder_free(s);
	scenario_dut_free(s);
	for (uint32_t i = 0; i < s->nr_requires; i++) {
		free(s->requires[i].key);
		free(s->requires[i].value);
	}
	free(s->requires);
	free(s->name);
	conf_free(s->conf);
	memset(s, 0, sizeof(*s));
}
