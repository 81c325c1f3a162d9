// SPDX-License-Identifier: GPL-2.0-or-later
/* What the controller may ask: docs/protocol.md. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/err.h"
#include "mon/agent.h"
#include "mon/file.h"
#include "mon/json.h"
#include "mon/power.h"

static const char *const agent_states[] = {
	[AGENT_IDLE] = "idle",	     [AGENT_CONFIGURED] = "configured", [AGENT_ARMED] = "armed",
	[AGENT_RUNNING] = "running", [AGENT_DRAINING] = "draining",	[AGENT_DONE] = "done",
};

const char *agent_state_name(enum agent_state s)
{
	return agent_states[s];
}

void agent_links_down(struct agent *a)
{
	for (unsigned i = 0; i < a->sampler.nr_ifs; i++)
		rtnl_set_up(&a->sampler.rtnl, a->links[i].index, false, NULL);
}

static json_t *agent_capabilities(const struct agent *a)
{
	json_t *c =
		json_pack("{s:b,s:b,s:b,s:b}", "drops", a->trace.usable, "drop_origin",
			  a->trace.origin, "settings", geteuid() == 0, "test_hooks", a->test_hooks);

	if (a->trace_why[0])
		json_object_set_new(c, "drops_why", json_string(a->trace_why));
	return c;
}

static int agent_hello(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	struct file_buf cmdline = {};
	struct utsname u;

	(void)params;
	uname(&u);
	if (!file_read(&cmdline, "/proc/cmdline", err))
		cmdline.text[strcspn(cmdline.text, "\n")] = '\0';
	*result = json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:i,s:I,s:i,s:s}", "role", "mon", "version",
			    a->version, "pid", (int)getpid(), "kernel", u.release, "kernel_build",
			    u.version, "cmdline", cmdline.text ? cmdline.text : "", "cpus",
			    (int)sysconf(_SC_NPROCESSORS_ONLN), "memory_bytes",
			    (json_int_t)sysconf(_SC_PHYS_PAGES) * (json_int_t)sysconf(_SC_PAGESIZE),
			    "restored", a->restored, "state", agent_states[a->state]);
	json_object_set_new(*result, "capabilities", agent_capabilities(a));
	file_buf_free(&cmdline);
	return 0;
}

_Static_assert(TRACE_IFS_MAX == SAMPLE_IFS_MAX, "each interface that is sampled is told apart");

static int agent_arm(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	json_t *sample;
	int ret = 0;

	(void)params;
	sampler_reset(&a->sampler);
	nevents_close(&a->events);
	a->events = (struct nevents){.fd = -1};
	a->trace.nr_ifs = a->sampler.nr_ifs;
	memcpy(a->trace.ifindex, a->sampler.ifindex, sizeof(a->trace.ifindex));
	if (a->trace.usable)
		ret = trace_arm(&a->trace, err);
	if (!ret && a->want_events)
		ret = nevents_open(&a->events, a->events_rcvbuf, err);
	if (ret)
		return ret;
	a->state = AGENT_ARMED;
	ret = agent_sample(a, true, &sample, err);
	if (ret)
		return ret;
	json_decref(a->baseline);
	a->baseline = sample;
	*result = json_pack("{s:O}", "baseline", sample);
	return 0;
}

static int agent_start(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)result;
	(void)err;
	a->state = AGENT_RUNNING;
	return 0;
}

static int agent_ping(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)err;
	*result = json_pack("{s:I,s:s}", "t_ns", (json_int_t)sample_now_ns(), "state",
			    agent_states[a->state]);
	return 0;
}

static int agent_stats(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	return agent_sample(a, json_is_true(json_object_get(params, "full")), result, err);
}

static int agent_stop(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)result;
	(void)err;
	if (a->state == AGENT_RUNNING)
		a->state = AGENT_DRAINING;
	return 0;
}

static int agent_finish(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	json_t *final;
	int ret = agent_sample(a, true, &final, err);

	(void)params;
	if (!ret && a->trace.armed)
		ret = trace_disarm(&a->trace, err);
	if (ret)
		return ret;
	if (a->events.fd >= 0)
		nevents_close(&a->events);
	a->state = AGENT_DONE;
	json_object_set_new(final, "state", json_string(agent_states[a->state]));
	*result = json_pack("{s:o,s:o}", "difference", json_difference(a->baseline, final), "final",
			    final);
	return 0;
}

static int agent_quit(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)result;
	(void)err;
	a->then = AGENT_QUITS;
	return 0;
}

static int agent_panic(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)result;
	if (!a->test_hooks)
		return err_set(err, -EINVAL,
			       "panic is for tests: start dststorm-mon with --test-hooks");
	a->then = AGENT_PANICS;
	return 0;
}

static int agent_hang_later(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	(void)params;
	(void)result;
	if (!a->test_hooks)
		return err_set(err, -EINVAL,
			       "hang is for tests: start dststorm-mon with --test-hooks");
	a->then = AGENT_HANGS;
	return 0;
}

#define AGENT_IN(s)  (1u << AGENT_##s)
#define AGENT_ANY    (~0u)
#define AGENT_MOVING (AGENT_IN(ARMED) | AGENT_IN(RUNNING) | AGENT_IN(DRAINING))

static const struct agent_verb {
	const char *name;
	unsigned states; /* in which it is allowed */
	agent_verb_fn *fn;
} agent_verbs[] = {
	{"hello", AGENT_ANY, agent_hello},
	{"configure", AGENT_IN(IDLE) | AGENT_IN(CONFIGURED) | AGENT_IN(DONE), agent_configure},
	{"arm", AGENT_IN(CONFIGURED) | AGENT_IN(DONE), agent_arm},
	{"start", AGENT_IN(ARMED), agent_start},
	{"ping", AGENT_ANY, agent_ping},
	{"stats", AGENT_ANY, agent_stats},
	{"stop", AGENT_ANY, agent_stop},
	{"finish", AGENT_MOVING, agent_finish},
	{"quit", AGENT_ANY, agent_quit},
	{"panic", AGENT_ANY, agent_panic},
	{"hang", AGENT_ANY, agent_hang_later},
};

static int agent_dispatch(struct agent *a, const char *method, const json_t *params,
			  json_t **result, struct err *err)
{
	for (unsigned i = 0; i < sizeof(agent_verbs) / sizeof(*agent_verbs); i++) {
		const struct agent_verb *v = &agent_verbs[i];

		if (strcmp(v->name, method) != 0)
			continue;
		if (!(v->states & 1u << a->state))
			return err_set(err, -EINVAL, "%s is not possible in the state %s", method,
				       agent_states[a->state]);
		return v->fn(a, params, result, err);
	}
	return err_set(err, -EINVAL, "dststorm-mon knows no method \"%.40s\"", method);
}

void agent_message(void *agent, json_t *msg)
{
	const char *method = json_string_value(json_object_get(msg, "method"));
	json_int_t id = json_integer_value(json_object_get(msg, "id"));
	struct agent *a = agent;
	json_t *result = NULL;
	struct err err = {};
	int ret;

	ret = method ? agent_dispatch(a, method, json_object_get(msg, "params"), &result, &err)
		     : err_set(&err, -EINVAL, "a request needs a \"method\"");
	if (ret) {
		json_decref(result);
		port_send(&a->port,
			  wire_error(id, ret == -EINVAL ? EXIT_USAGE : EXIT_RIG, err.text), false);
	} else if (port_send(&a->port, wire_result(id, result ? result : json_object()), false)) {
		port_send(&a->port,
			  wire_error(id, EXIT_RIG, "the answer is too long for a message"), false);
	}
	if (a->then != AGENT_STAYS)
		event_base_loopbreak(a->base);
}
