// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/wire.h"
#include "sink/agent_private.h"
#include "sink/source.h"
#include "sink/stats.h"

#define ARM_TIMEOUT_MS 30000

typedef enum agent_reply agent_fn(struct agent *a, json_int_t id, json_t *params, json_t **result,
				  struct err *err);

static const char *const agent_states[] = {
	[AGENT_IDLE] = "idle",	     [AGENT_CONFIGURED] = "configured", [AGENT_ARMED] = "armed",
	[AGENT_RUNNING] = "running", [AGENT_DRAINING] = "draining",	[AGENT_DONE] = "done",
	[AGENT_FAILED] = "failed",
};

json_t *agent_stats(struct agent *a)
{
	json_t *stats;

	pthread_mutex_lock(&a->lock);
	stats = stats_json(&a->sink, agent_states[a->state], sink_now_ns());
	pthread_mutex_unlock(&a->lock);
	return stats;
}

int agent_finish(struct agent *a, struct err *err)
{
	struct sink_files files = a->conf->files;
	json_t *stats;
	int ret;

	source_stop(a->conf->source);
	if (!a->sink.configured || a->sink.account.track.finished)
		return 0;
	sink_finish(&a->sink);
	if (a->hist_dir)
		files.hist_dir = a->hist_dir;
	stats = agent_stats(a);
	ret = sink_write(&a->sink, &files, stats, err);
	json_decref(stats);
	return ret;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* The strings of an array, for as long as @params lives. NULL array: none. */
static int param_strings(json_t *params, const char *name, const char ***out, unsigned int *nr,
			 struct err *err)
{
	json_t *array = json_object_get(params, name), *item;
	size_t i;

	*nr = 0;
	*out = calloc(json_array_size(array) + 1, sizeof(**out));
	if (!*out)
		return err_set(err, -ENOMEM, "no memory for %s", name);
	if (array && !json_is_array(array))
		return err_set(err, -EINVAL, "%s must be an array of strings", name);
	json_array_foreach(array, i, item)
	{
		if (!json_is_string(item))
			return err_set(err, -EINVAL, "%s must be an array of strings", name);
		(*out)[(*nr)++] = json_string_value(item);
	}
	return 0;
}

/* An integer from @min to @max; absent: *out stays. */
static int param_int(json_t *params, const char *name, json_int_t min, json_int_t max,
		     json_int_t *out, struct err *err)
{
	json_t *v = json_object_get(params, name);

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return err_set(err, -EINVAL,
			       "%s must be an integer of at least %" JSON_INTEGER_FORMAT
			       " and at most %" JSON_INTEGER_FORMAT,
			       name, min, max);
	*out = json_integer_value(v);
	return 0;
}

/* --- methods ---------------------------------------------------------------------------------- */

static enum agent_reply method_hello(struct agent *a, json_int_t id, json_t *params,
				     json_t **result, struct err *err)
{
	(void)id, (void)params, (void)err;
	*result = json_pack("{s:s, s:s, s:i}", "role", "sink", "version", a->conf->version, "pid",
			    (int)getpid());
	return AGENT_RESULT;
}

static enum agent_reply method_ping(struct agent *a, json_int_t id, json_t *params, json_t **result,
				    struct err *err)
{
	(void)a, (void)id, (void)params, (void)err;
	*result = json_pack("{s:I}", "t_ns", (json_int_t)sink_now_ns());
	return AGENT_RESULT;
}

static int configure_hist_dir(struct agent *a, json_t *params, struct err *err)
{
	const char *dir = json_string_value(json_object_get(params, "hist_dir"));

	free(a->hist_dir);
	a->hist_dir = NULL;
	if (!dir)
		return 0;
	a->hist_dir = strdup(dir);
	if (!a->hist_dir)
		return err_set(err, -ENOMEM, "no memory for a path");
	return stats_check_dir(dir, err);
}

static int configure_sink(struct agent *a, json_t *params, struct err *err)
{
	struct sink_conf conf = {.answers_arp = !a->conf->passive,
				 .write = a->conf->files.write};
	const char **sets = NULL, **allow = NULL, **dut = NULL;
	json_int_t nr_shards = 1;
	int ret;

	conf.text = json_string_value(json_object_get(params, "scenario"));
	conf.path = json_string_value(json_object_get(params, "name"));
	if (!conf.text)
		return err_set(err, -EINVAL, "configure needs the text of the scenario");
	if (!conf.path)
		conf.path = "scenario";
	ret = param_int(params, "nr_shards", 1, 255, &nr_shards, err);
	if (!ret)
		ret = param_strings(params, "set", &sets, &conf.nr_sets, err);
	if (!ret)
		ret = param_strings(params, "allow", &allow, &conf.nr_allow, err);
	if (!ret)
		ret = param_strings(params, "dut_addresses", &dut, &conf.nr_dut, err);
	conf.sets = sets;
	conf.allow = allow;
	conf.dut = dut;
	conf.nr_shards = (uint32_t)nr_shards;
	sink_free(&a->sink);
	a->state = AGENT_IDLE;
	if (!ret)
		ret = sink_configure(&a->sink, &conf, err);
	free(sets);
	free(allow);
	free(dut);
	return ret;
}

static enum agent_reply method_configure(struct agent *a, json_int_t id, json_t *params,
					 json_t **result, struct err *err)
{
	int ret = configure_sink(a, params, err);

	(void)id;
	if (!ret)
		ret = configure_hist_dir(a, params, err);
	if (ret)
		return ret == -ENOMEM ? AGENT_RIG : AGENT_USAGE;
	a->state = AGENT_CONFIGURED;
	*result = json_object();
	return AGENT_RESULT;
}

static enum agent_reply method_arm(struct agent *a, json_int_t id, json_t *params, json_t **result,
				   struct err *err)
{
	json_int_t timeout_ms = ARM_TIMEOUT_MS;

	(void)result;
	if (param_int(params, "timeout_ms", 0, 3600000, &timeout_ms, err))
		return AGENT_USAGE;
	if (a->arming) {
		err_set(err, -EALREADY, "an arm is waiting already");
		return AGENT_USAGE;
	}
	if (source_start(a->conf->source, &a->sink, &a->lock, err))
		return AGENT_RIG;
	a->arming = true;
	a->arm_id = id;
	a->arm_until_ns = sink_now_ns() + (uint64_t)timeout_ms * 1000000u;
	agent_arm_poll(a);
	return AGENT_DEFERRED;
}

void agent_arm_poll(struct agent *a)
{
	char waits_for[128], text[256];

	if (!a->arming)
		return;
	if (source_ready(a->conf->source)) {
		a->arming = false;
		a->state = AGENT_ARMED;
		agent_send(a, wire_result(a->arm_id, json_pack("{s:b}", "link", 1)));
	} else if (sink_now_ns() >= a->arm_until_ns) {
		a->arming = false;
		source_stop(a->conf->source);
		source_waits_for(a->conf->source, waits_for, sizeof(waits_for));
		snprintf(text, sizeof(text), "waited in vain for %s: see to it, or give arm a "
			 "longer timeout_ms", waits_for);
		agent_send(a, wire_error(a->arm_id, EXIT_RIG, text));
	}
}

static enum agent_reply method_start(struct agent *a, json_int_t id, json_t *params,
				     json_t **result, struct err *err)
{
	json_int_t at_ns = (json_int_t)sink_now_ns();

	(void)id;
	if (param_int(params, "at_ns", 0, INT64_MAX, &at_ns, err))
		return AGENT_USAGE;
	pthread_mutex_lock(&a->lock);
	account_start(&a->sink.account, (uint64_t)at_ns);
	a->next_sample_ns = (uint64_t)at_ns + UINT64_C(1000000000);
	pthread_mutex_unlock(&a->lock);
	a->state = AGENT_RUNNING;
	*result = json_object();
	return AGENT_RESULT;
}

static enum agent_reply method_stats(struct agent *a, json_int_t id, json_t *params,
				     json_t **result, struct err *err)
{
	(void)id, (void)params, (void)err;
	*result = agent_stats(a);
	return AGENT_RESULT;
}

static enum agent_reply method_stop(struct agent *a, json_int_t id, json_t *params, json_t **result,
				    struct err *err)
{
	(void)id, (void)params, (void)err;
	a->state = AGENT_DRAINING;
	*result = agent_stats(a);
	return AGENT_RESULT;
}

/* What one flow sent: {stream, shard, lanes:[n, ...]}, or {sent_pkts}, both with defaults of 0. */
static int finish_flow(struct agent *a, json_t *o, struct err *err)
{
	json_t *lanes = json_object_get(o, "lanes"), *item;
	json_int_t stream = 0, shard = 0, sent = -1;
	uint64_t pkts[256];
	uint32_t nr = 0;
	size_t i;

	if (param_int(o, "stream", 0, 255, &stream, err) ||
	    param_int(o, "shard", 0, 254, &shard, err) ||
	    param_int(o, "sent_pkts", 0, INT64_MAX, &sent, err))
		return -EINVAL;
	if (lanes && (!json_is_array(lanes) || json_array_size(lanes) > 256))
		return err_set(err, -EINVAL, "lanes must be an array of at most 256 numbers");
	json_array_foreach(lanes, i, item)
	{
		/* As in the generator's statistics, or bare. */
		if (json_is_object(item))
			item = json_object_get(item, "sent_pkts");
		if (!json_is_integer(item) || json_integer_value(item) < 0)
			return err_set(err, -EINVAL, "lanes must be an array of numbers");
		pkts[nr++] = (uint64_t)json_integer_value(item);
	}
	if (!nr && sent >= 0)
		pkts[nr++] = (uint64_t)sent;
	return nr ? track_sent(&a->sink.account.track, (uint32_t)stream, (uint32_t)shard, pkts, nr,
			       err)
		  : 0;
}

static int finish_sent(struct agent *a, json_t *params, struct err *err)
{
	json_t *flows = json_object_get(params, "sent"), *flow;
	int ret = 0;
	size_t i;

	if (!flows)
		return finish_flow(a, params, err);
	if (!json_is_array(flows))
		return err_set(err, -EINVAL, "sent must be an array of {stream, shard, lanes}");
	json_array_foreach(flows, i, flow) ret = ret ? ret : finish_flow(a, flow, err);
	return ret;
}

static enum agent_reply method_finish(struct agent *a, json_int_t id, json_t *params,
				      json_t **result, struct err *err)
{
	struct err lost;

	(void)id;
	source_stop(a->conf->source);
	if (finish_sent(a, params, err))
		return AGENT_USAGE;
	a->state = AGENT_DONE;
	/* The numbers are worth more than their files: tell both. */
	if (agent_finish(a, &lost))
		agent_send(a, wire_event("error", json_pack("{s:s}", "text", lost.text)));
	*result = agent_stats(a);
	return AGENT_RESULT;
}

static enum agent_reply method_quit(struct agent *a, json_int_t id, json_t *params, json_t **result,
				    struct err *err)
{
	(void)id, (void)params, (void)err;
	a->quitting = true;
	a->quit_ns = sink_now_ns();
	*result = json_object();
	return AGENT_RESULT;
}

#define IN(state) (1u << AGENT_##state)
#define ANY	  (~0u)
#define HAS_SINK  (IN(CONFIGURED) | IN(ARMED) | IN(RUNNING) | IN(DRAINING) | IN(DONE))

static const struct agent_method {
	const char *name;
	unsigned int states; /* in which it is allowed */
	agent_fn *fn;
} agent_methods[] = {
	{"hello", ANY, method_hello},
	{"ping", ANY, method_ping},
	{"configure", IN(IDLE) | IN(CONFIGURED), method_configure},
	{"arm", IN(CONFIGURED), method_arm},
	{"start", IN(ARMED), method_start},
	{"stats", HAS_SINK, method_stats},
	{"stop", IN(RUNNING), method_stop},
	{"finish", IN(ARMED) | IN(RUNNING) | IN(DRAINING), method_finish},
	{"quit", ANY, method_quit},
};

enum agent_reply agent_call(struct agent *a, const char *method, json_int_t id, json_t *params,
			    json_t **result, struct err *err)
{
	for (size_t i = 0; i < sizeof(agent_methods) / sizeof(agent_methods[0]); i++) {
		const struct agent_method *m = &agent_methods[i];

		if (strcmp(m->name, method))
			continue;
		if (m->states & 1u << a->state && !(a->arming && m->fn == method_configure))
			return m->fn(a, id, params, result, err);
		err_set(err, -EPROTO, "%s is not possible while %s%s", method,
			agent_states[a->state], a->arming ? " and arming" : "");
		return AGENT_USAGE;
	}
	err_set(err, -EPROTO, "there is no method \"%.64s\"", method);
	return AGENT_USAGE;
}
