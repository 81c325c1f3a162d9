// SPDX-License-Identifier: GPL-2.0-or-later
/* responder: what answers behind the host under test, rules by prefix, and storms. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define LIST_MAX      1024u
#define STORM_PPS_MAX UINT64_C(100000000)

/* The responder's own keys are the default rule; each rule has them too. */
#define ANSWER_FIELDS(s)                                                                           \
	FIELD_REAL("answer_ratio", s, answer_ratio, 0.0, 1.0),                                     \
	FIELD_REAL("delay_ms", s, delay_ms, 0.0, 60000.0),                                         \
	FIELD_INT("answer_probe", U32, s, answer_probe, 1, 1000)

static const struct scenario_field fields[] = { ANSWER_FIELDS(struct scenario), { 0 } };

static const struct scenario_field rule_fields[] = {
	ANSWER_FIELDS(struct scenario_rule),
	FIELD_INT("copies", U32, struct scenario_rule, copies, 1, SCENARIO_COPIES_MAX),
	FIELD_PLAIN("mac_changes", BOOL, struct scenario_rule, mac_changes),
	{ 0 },
};

static const struct scenario_field storm_fields[] = {
	FIELD_INT("rate_pps", U64, struct scenario_storm, rate_pps, 1, STORM_PPS_MAX),
	FIELD_REAL("start_s", struct scenario_storm, start_s, 0.0, SCENARIO_DURATION_MAX),
	FIELD_REAL("duration_s", struct scenario_storm, duration_s, 0.001, SCENARIO_DURATION_MAX),
	FIELD_PLAIN("mac_changes", BOOL, struct scenario_storm, mac_changes),
	{ 0 },
};

/* --- bind -------------------------------------------------------------------------------------- */

/* One entry of @key: its fields into @base, its prefix into @prefix. */
static int bind_entry(const struct scenario *s, const struct conf *map, const char *key,
		      const struct scenario_field *table, void *base, struct addrset *prefix,
		      struct err *err)
{
	int ret;

	if (map->type != CONF_MAP)
		return conf_err(map, err, -EINVAL, "an entry of %s is a group of keys, as in "
				"- prefix: [198.19.0.0/24]", key);
	ret = scenario_bind_fields(map, table, base, err);
	return ret ? ret : scenario_set_read(s, map, "prefix", prefix, &scenario_set_add, err);
}

static int bind_rules(struct scenario *s, const struct conf *map, struct err *err)
{
	struct scenario_rule *r;
	int ret = scenario_bind_list(map, "rules", sizeof(*r), LIST_MAX, (void **)&s->rules,
				     &s->nr_rules, err);

	if (ret || !s->nr_rules)
		return ret;
	r = s->rules;
	conf_each(it, conf_get(map, "rules")) {
		*r = (struct scenario_rule){ .answer_ratio = s->answer_ratio, .delay_ms = s->delay_ms,
					     .answer_probe = s->answer_probe, .copies = 1 };
		ret = bind_entry(s, it, "rules", rule_fields, r, &r->prefix, err);
		if (ret)
			return ret;
		r++;
	}
	return 0;
}

static int bind_storms(struct scenario *s, const struct conf *map, struct err *err)
{
	struct scenario_storm *t;
	int ret = scenario_bind_list(map, "storms", sizeof(*t), LIST_MAX, (void **)&s->storms,
				     &s->nr_storms, err);

	if (ret || !s->nr_storms)
		return ret;
	t = s->storms;
	conf_each(it, conf_get(map, "storms")) {
		ret = bind_entry(s, it, "storms", storm_fields, t, &t->prefix, err);
		if (!ret)
			ret = scenario_frame_bind_vlans(it, t->vlans, &t->nr_vlans, err);
		if (ret)
			return ret;
		t++;
	}
	return 0;
}

int scenario_responder_bind(struct scenario *s, struct err *err)
{
	struct conf *map;
	int ret = conf_node(s->conf, "responder", CONF_MAP, &map, err);

	if (ret || !map)
		return ret;
	ret = scenario_bind_fields(map, fields, s, err);
	if (!ret)
		ret = bind_rules(s, map, err);
	return ret ? ret : bind_storms(s, map, err);
}

/* --- check ------------------------------------------------------------------------------------- */

static int check_storm(const struct scenario *s, const struct scenario_storm *t,
		       const struct conf *map, struct err *err)
{
	if (!t->rate_pps)
		return scenario_missing(map, err, "rate_pps",
					"say how many a second, as in rate_pps: 1k");
	if (t->duration_s <= 0)
		return scenario_missing(map, err, "duration_s", "a storm needs an end, as in "
					"duration_s: 5");
	/* In whole nanoseconds: 0.1 + 0.2 is no more than 0.3. */
	if (llround(t->start_s * 1e9) + llround(t->duration_s * 1e9) > llround(s->duration_s * 1e9))
		return conf_err(scenario_at(map, "duration_s"), err, -EINVAL,
				"the storm ends at %.10g s, "
				"after the scenario's duration_s %.10g; shorten one or lengthen the other",
				t->start_s + t->duration_s, s->duration_s);
	return 0;
}

int scenario_responder_check(struct scenario *s, const struct scenario_allow *allow,
			     struct err *err)
{
	const struct conf *map = scenario_at(s->conf, "responder"), *it;
	int ret = 0;

	it = s->nr_rules ? conf_get(map, "rules")->child : NULL;
	for (struct scenario_rule *r = s->rules; it && !ret; it = it->next, r++)
		ret = scenario_set_check(s, it, "prefix", &r->prefix, addrset_seal_filter, allow,
					 err);
	it = s->nr_storms ? conf_get(map, "storms")->child : NULL;
	for (struct scenario_storm *t = s->storms; it && !ret; it = it->next, t++) {
		ret = check_storm(s, t, it, err);
		if (!ret)
			ret = scenario_set_check(s, it, "prefix", &t->prefix, addrset_seal, allow,
						 err);
	}
	return ret;
}

void scenario_responder_free(struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_rules; i++)
		addrset_free(&s->rules[i].prefix);
	free(s->rules);
	for (uint32_t i = 0; i < s->nr_storms; i++)
		addrset_free(&s->storms[i].prefix);
	free(s->storms);
}
