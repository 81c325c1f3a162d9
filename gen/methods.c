// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/agent_parts.h"
#include "gen/stats.h"
#include "lib/err.h"

/*
 * Handlers return the result, a new reference, or NULL with the sentence in *err; *code is then the
 * exit code that it stands for, EXIT_USAGE unless they say otherwise. One that answers later returns
 * NULL and leaves err->text empty.
 */
typedef json_t *handler(struct agent *a, json_t *params, int *code, struct err *err);

enum { ARM_TIMEOUT_MS = 30000, START_AHEAD_MAX_S = 60 };

static uint32_t bit(enum flood_state state)
{
	return 1u << state;
}

/* --- configure -------------------------------------------------------------------------------- */

/* The strings of the array @list (NULL: none) as a vector that points into it. */
static int strings(const json_t *list, const char *what, const char ***out, unsigned int *nr,
		   struct err *err)
{
	size_t n = json_array_size(list);

	*out = calloc(n + 1, sizeof(**out));
	if (!*out)
		return err_set(err, -ENOMEM, "no memory for the configuration");
	for (*nr = 0; *nr < n; ++*nr) {
		(*out)[*nr] = json_string_value(json_array_get(list, *nr));
		if (!(*out)[*nr])
			return err_set(err, -EINVAL, "configure: %s must be an array of strings", what);
	}
	return 0;
}

static int unpack_request(json_t *params, struct plan_request *r, json_t **set, json_t **allow,
			  struct err *err)
{
	const char *mac = NULL;
	int shard = 0, nr_shards = 1;
	json_error_t why;

	if (json_unpack_ex(params, &why, 0, "{ss s?s s?o s?i s?i s?s s?o}", "scenario", &r->text, "name",
			   &r->path, "set", set, "shard", &shard, "nr_shards", &nr_shards, "dst_mac",
			   &mac, "allow", allow))
		return err_set(err, -EINVAL, "configure: %s", why.text);
	if (nr_shards < 1 || nr_shards > 255 || shard < 0 || shard >= nr_shards)
		return err_set(err, -EINVAL, "configure: shard %d of %d: shards are numbered from 0, and "
			       "at most 255", shard, nr_shards);
	r->shard = (uint32_t)shard;
	r->nr_shards = (uint32_t)nr_shards;
	r->dst_mac_given = mac;
	return mac ? plan_parse_mac(mac, r->dst_mac, err) : 0;
}

static json_t *configure(struct agent *a, json_t *params, int *code, struct err *err)
{
	struct plan_request r = { .path = "scenario" };
	const char **overrides = NULL, **allow = NULL;
	json_t *set = NULL, *more = NULL, *result = NULL;
	int ret = unpack_request(params, &r, &set, &more, err);

	(void)code;
	if (!ret)
		ret = strings(set, "set", &overrides, &r.nr_overrides, err);
	if (!ret)
		ret = strings(more, "allow", &allow, &r.nr_allow, err);
	r.overrides = overrides;
	r.allow = allow;
	if (!ret)
		ret = flood_configure(&a->flood, &r, err);
	free(overrides);
	free(allow);
	if (!ret)
		result = json_pack("{sI sI sI}", "intended_pkts",
				   (json_int_t)(a->flood.plan.unlimited ? 0 : a->flood.plan.total),
				   "destinations_asked",
				   (json_int_t)a->flood.plan.asked, "lanes",
				   (json_int_t)a->flood.plan.scenario.lanes);
	return result;
}

/* --- the others ------------------------------------------------------------------------------- */

static json_t *hello(struct agent *a, json_t *params, int *code, struct err *err)
{
	const char *version = strchr(argp_program_version, ' ');

	(void)a;
	(void)params;
	(void)code;
	(void)err;
	return json_pack("{ss ss si}", "role", "gen", "version",
			 version ? version + 1 : argp_program_version, "pid", (int)getpid());
}

/* The answer is agent_arm_poll()'s. */
static json_t *arm(struct agent *a, json_t *params, int *code, struct err *err)
{
	json_int_t timeout_ms = ARM_TIMEOUT_MS;
	int ret;

	if (params && json_unpack(params, "{s?I}", "timeout_ms", &timeout_ms)) {
		err_set(err, -EINVAL, "arm: timeout_ms must be a whole number");
		return NULL;
	}
	ret = flood_arm(&a->flood, err);
	if (ret) {
		*code = ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
		return NULL;
	}
	a->arming = true;
	a->arm_until_ns = flood_clock_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000u;
	return NULL;
}

static json_t *start(struct agent *a, json_t *params, int *code, struct err *err)
{
	uint64_t now = flood_clock_ns();
	json_int_t at;

	if (!params || json_unpack(params, "{sI}", "at_ns", &at) || at < 0) {
		err_set(err, -EINVAL, "start: at_ns must be a time of CLOCK_MONOTONIC in ns");
		return NULL;
	}
	if ((uint64_t)at + 1000000000u < now ||
	    (uint64_t)at > now + START_AHEAD_MAX_S * UINT64_C(1000000000)) {
		err_set(err, -EINVAL, "start: at_ns is %+.1f s from now: give a time just ahead",
			((double)at - (double)now) / 1e9);
		return NULL;
	}
	*code = EXIT_RIG;
	if (!flood_ready(&a->flood)) {
		err_set(err, -ENOTCONN, "start: the peer that arm waited for is not there (any more)");
		return NULL;
	}
	if (flood_start(&a->flood, (uint64_t)at, err))
		return NULL;
	/* A moment after the sink's, so that what the controller sees side by side was sent first. */
	a->next_sample_ns = (uint64_t)at + UINT64_C(1050000000);
	return json_object();
}

static json_t *ping(struct agent *a, json_t *params, int *code, struct err *err)
{
	(void)a;
	(void)params;
	(void)code;
	(void)err;
	return json_pack("{sI}", "t_ns", (json_int_t)flood_clock_ns());
}

static json_t *stats(struct agent *a, json_t *params, int *code, struct err *err)
{
	(void)params;
	(void)code;
	(void)err;
	return flood_stats(&a->flood);
}

static json_t *stop(struct agent *a, json_t *params, int *code, struct err *err)
{
	bool ran = a->flood.state == FLOOD_RUNNING;

	flood_stop(&a->flood);
	if (ran && a->flood.state == FLOOD_FAILED) /* else it was told */
		agent_send(a, wire_event("error", json_pack("{ss}", "text", a->flood.err.text)));
	return stats(a, params, code, err);
}

static json_t *quit(struct agent *a, json_t *params, int *code, struct err *err)
{
	(void)params;
	(void)code;
	(void)err;
	a->quitting = true;
	a->quit_ns = flood_clock_ns();
	return json_object();
}

/* --- dispatch --------------------------------------------------------------------------------- */

#define ANY	 (~0u)
#define HAS_PLAN (ANY & ~(1u << FLOOD_IDLE))

static const struct method {
	const char *name;
	uint32_t states;
	handler *handle;
	const char *remedy;
} methods[] = {
	{ "hello", ANY, hello, "" },
	{ "configure", 1u << FLOOD_IDLE, configure, "it can be done once: start another gen" },
	{ "arm", 1u << FLOOD_CONFIGURED, arm, "it follows configure, once" },
	{ "start", 1u << FLOOD_ARMED, start, "it follows arm, once" },
	{ "ping", ANY, ping, "" },
	{ "stats", HAS_PLAN, stats, "configure first" },
	{ "stop", 1u << FLOOD_RUNNING | 1u << FLOOD_DONE | 1u << FLOOD_FAILED, stop, "it follows start" },
	{ "quit", ANY, quit, "" },
};

static const struct method *method_find(const char *name, struct err *err)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	err_set(err, -ENOSYS, "no method %.40s: gen has hello configure arm start ping stats stop quit",
		name);
	return NULL;
}

static bool method_allowed(const struct agent *a, const struct method *m, struct err *err)
{
	bool answered = !a->arming || (m->handle != arm && m->handle != start);

	if (m->states & bit(a->flood.state) && answered)
		return true;
	err_set(err, -EPROTO, "%s in state %s%s: %s", m->name, flood_state_name(a->flood.state),
		answered ? "" : " with arm not answered yet", m->remedy);
	return false;
}

void agent_request(struct agent *a, json_t *msg)
{
	struct err err = { "" };
	const struct method *m = NULL;
	json_t *params = NULL, *result = NULL;
	const char *name;
	json_int_t id = 0;
	int code = EXIT_USAGE;

	if (json_unpack(msg, "{sI ss s?o}", "id", &id, "method", &name, "params", &params))
		err_set(&err, -EPROTO, "a request has id, method and params");
	else
		m = method_find(name, &err);
	if (m && method_allowed(a, m, &err)) {
		if (m->handle == arm)
			a->arm_id = id;
		result = m->handle(a, params, &code, &err);
	}
	if (result)
		agent_send(a, wire_result(id, result));
	else if (err.text[0])
		agent_send(a, wire_error(id, code, err.text));
	else if (!a->arming)
		agent_send(a, wire_error(id, EXIT_RIG, "out of memory"));
}

void agent_arm_poll(struct agent *a, uint64_t now)
{
	char waits[160], text[256];

	if (!a->arming)
		return;
	if (flood_ready(&a->flood)) {
		a->arming = false;
		agent_send(a, wire_result(a->arm_id, json_pack("{sb}", "link", 1)));
	} else if (now >= a->arm_until_ns) {
		a->arming = false;
		ports_wait_for(&a->flood.ports, waits, sizeof(waits));
		snprintf(text, sizeof(text), "waited in vain for %s", waits);
		agent_send(a, wire_error(a->arm_id, EXIT_RIG, text));
	}
}
