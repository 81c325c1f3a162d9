// SPDX-License-Identifier: GPL-2.0-or-later
/* streams: which addresses each goes to and comes from; the rest is in the files that it calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

/* --- bind -------------------------------------------------------------------------------------- */

static int bind_sets(const struct scenario *s, struct scenario_stream *st, const struct conf *map,
		     struct err *err)
{
	int ret = scenario_set_read(s, map, "destinations", &st->destinations, &scenario_set_add,
				    err);

	if (!ret)
		ret = scenario_set_read(s, map, "exclude", &st->destinations, &scenario_set_exclude,
					err);
	if (!ret)
		ret = scenario_set_read(s, map, "sources", &st->sources, &scenario_set_add, err);
	st->shape.family = st->destinations.family == AF_INET6 ? AF_INET6 : AF_INET;
	return ret;
}

static int bind_stream(const struct scenario *s, struct scenario_stream *st,
		       const struct conf *map, struct err *err)
{
	static const struct scenario_field fields[] = {
		FIELD_PLAIN("name", TEXT, struct scenario_stream, name),
		FIELD_PLAIN("replay", TEXT, struct scenario_stream, replay),
		{ 0 },
	};
	int ret;

	if (map->type != CONF_MAP)
		return conf_err(map, err, -EINVAL,
				"a stream is a group of keys, as in - name: flood");
	ret = scenario_bind_fields(map, fields, st, err);
	if (!ret)
		ret = scenario_frame_bind(st, map, err);
	if (!ret)
		ret = scenario_rate_bind(st, map, err);
	if (!ret)
		ret = scenario_order_bind(st, map, err);
	return ret ? ret : bind_sets(s, st, map, err);
}

int scenario_stream_bind(struct scenario *s, struct err *err)
{
	struct scenario_stream *st;
	int ret = scenario_bind_list(s->conf, "streams", sizeof(*st), SCENARIO_STREAMS_MAX,
				     (void **)&s->streams, &s->nr_streams, err);

	if (ret || !s->nr_streams)
		return ret;
	st = s->streams;
	conf_each(it, conf_get(s->conf, "streams")) {
		ret = bind_stream(s, st++, it, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* --- check ------------------------------------------------------------------------------------- */

static int check_name(const struct scenario *s, uint32_t i, const struct conf *map,
		      struct err *err)
{
	const char *name = s->streams[i].name;
	int ret = scenario_check_name(map, name, err);

	for (uint32_t k = 0; k < i && !ret; k++)
		if (strcmp(s->streams[k].name, name) == 0)
			ret = conf_err(scenario_at(map, "name"), err, -EINVAL,
				       "streams %u and %u are both "
				       "called %s; rename one", k, i, name);
	return ret;
}

static int check_sets(const struct scenario *s, struct scenario_stream *st,
		      const struct conf *map, const struct scenario_allow *allow, struct err *err)
{
	int ret = scenario_set_check(s, map, "destinations", &st->destinations, addrset_seal, allow,
				     err);

	if (!ret)
		ret = scenario_set_check(s, map, "sources", &st->sources, addrset_seal, allow, err);
	if (ret)
		return ret;
	if (st->sources.family != st->destinations.family)
		return conf_err(conf_get(map, "sources"), err, -EINVAL, "sources are IPv%d and "
				"destinations IPv%d; a stream has one family",
				st->sources.family == AF_INET6 ? 6 : 4,
				st->destinations.family == AF_INET6 ? 6 : 4);
	return scenario_set_not_dut(s, map, "sources", &st->sources, err);
}

/* What only the schedule knows: the limits of its orders. */
static int check_schedule(const struct scenario *s, uint32_t i, const struct conf *map,
			  struct err *err)
{
	struct err why = { "" };
	struct sched sched;
	int ret = scenario_sched(s, i, 0, 1, &sched, &why);

	return ret ? conf_err(scenario_at(map, "order"), err, ret, "%s", why.text) : 0;
}

static int check_stream(struct scenario *s, uint32_t i, const struct conf *map,
			const struct scenario_allow *allow, struct err *err)
{
	struct scenario_stream *st = &s->streams[i];
	char *replay;
	int ret = check_name(s, i, map, err);

	if (!ret)
		ret = scenario_frame_check(st, map, err);
	if (!ret)
		ret = scenario_rate_check(s, st, map, err);
	if (!ret)
		ret = check_sets(s, st, map, allow, err);
	if (!ret)
		ret = scenario_order_check(st, map, err);
	if (!ret)
		ret = check_schedule(s, i, map, err);
	if (ret || !st->replay)
		return ret;
	replay = scenario_path(s, st->replay);
	free(st->replay);
	st->replay = replay;
	return replay ? 0 : scenario_no_memory(err);
}

int scenario_stream_check(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	uint32_t i = 0;
	int ret;

	conf_each(it, conf_get(s->conf, "streams")) {
		ret = check_stream(s, i++, it, allow, err);
		if (ret)
			return ret;
	}
	return 0;
}

void scenario_stream_free(struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_streams; i++) {
		free(s->streams[i].name);
		free(s->streams[i].replay);
		addrset_free(&s->streams[i].destinations);
		addrset_free(&s->streams[i].sources);
	}
	free(s->streams);
}
