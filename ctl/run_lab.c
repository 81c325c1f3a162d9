// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing a lab up: sink, generator, DUT, in the order in which each needs the other. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/jpath.h"
#include "ctl/run.h"

#define CALL_MS	    5000
#define CONNECT_MS  10000
#define LINK_MS	    15000
#define BOOT_MS	    60000
#define MON_CALL_MS 20000 /* the guest may be slow under load */

const struct lab_ops *const lab_all[] = {&lab_vm, &lab_netns, NULL};

static int run_log_path(struct run *run, struct role *r, struct err *err)
{
	if (snprintf(r->log, sizeof(r->log), "%s/%s.log", run->results.dir, r->name) <
	    (int)sizeof(r->log))
		return 0;
	return err_set(err, -ENAMETOOLONG, "%s: the path is too long", run->results.dir);
}

int lab_spawn(struct run *run, struct role *r, char *const argv[], int death_signal, bool piped,
	      struct err *err)
{
	int ret = run_log_path(run, r, err);

	if (!ret)
		ret = (piped ? role_spawn_piped : role_spawn)(r, argv, death_signal, err);
	if (!ret)
		rundir_guard(&run->rundir, r->pid);
	return ret;
}

static bool run_mon_up(void *arg)
{
	return ((struct run *)arg)->mon_up;
}

int lab_await_mon(struct run *run, uint64_t timeout_ms, struct err *err)
{
	int ret = loop_wait(&run->loop, run_mon_up, run, timeout_ms);

	if (ret == -ETIMEDOUT)
		return err_set(err, ret, "%s said nothing within %.0f s; see %s", run->lab.ops->dut,
			       (double)timeout_ms / 1000,
			       run->lab.console ? run->lab.console : run->mon.log);
	if (ret == -ECANCELED)
		return err_set(err, ret, "%s", run->loop.err.text);
	return ret;
}

/* Start gen or sink, and say hello. */
static int run_program(struct run *run, struct role *r, const char *flag, const char *port,
		       struct err *err)
{
	char program[32], path[PATH_MAX], control[128];
	char *argv[] = {path, (char *)flag, (char *)port, (char *)"--control", control,
			NULL, NULL, NULL, NULL};
	unsigned int n = 5;
	json_t *hello;
	int ret, code;

	snprintf(program, sizeof(program), "dststorm-%s", r->name);
	snprintf(control, sizeof(control), "%s/%s.ctl", run->rundir.path, r->name);
	if (run->opt.huge)
		argv[n++] = (char *)"--huge";
	if (run->opt.sink_buffer && r == &run->sink) {
		argv[n++] = (char *)"--buffer";
		argv[n] = (char *)run->opt.sink_buffer;
	}
	ret = ctl_find(program, path, err);
	if (!ret)
		ret = lab_spawn(run, r, argv, SIGTERM, false, err);
	if (!ret)
		ret = role_connect(r, control, CONNECT_MS, err);
	if (ret)
		return ret;
	hello = role_call(r, "hello", json_object(), CALL_MS, &code, err);
	run->code = code;
	json_decref(hello);
	return hello ? 0 : -EIO;
}

/* role_call whose answer does not matter beyond its being none. */
static int run_call(struct run *run, struct role *r, const char *method, json_t *params,
		    uint64_t timeout_ms, struct err *err)
{
	json_t *result = role_call(r, method, params, timeout_ms, &run->code, err);

	json_decref(result);
	return result ? 0 : -EIO;
}

/* The part of `configure' that gen and sink have in common. */
static json_t *run_config(const struct run *run)
{
	json_t *sets = json_array(), *allow = json_array();

	for (unsigned int i = 0; i < run->opt.nr_sets; i++)
		json_array_append_new(sets, json_string(run->opt.sets[i]));
	for (unsigned int i = 0; i < run->opt.nr_allow; i++)
		json_array_append_new(allow, json_string(run->opt.allow[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:i, s:i}", "scenario", run->text, "name",
			 run->opt.scenario, "set", sets, "allow", allow, "shard", 0, "nr_shards", 1);
}

/* "198.18.0.1/16" without the prefix length. */
static json_t *run_bare_address(const char *address)
{
	return json_stringn(address, strcspn(address, "/"));
}

static int run_configure_programs(struct run *run, struct err *err)
{
	json_t *gen = run_config(run), *sink = run_config(run), *own = json_array();
	const struct scenario *s = &run->scenario;
	char hist[PATH_MAX + 8];
	int ret;

	snprintf(hist, sizeof(hist), "%s/hist", run->results.dir);
	for (uint32_t i = 0; i < s->nr_in; i++)
		json_array_append_new(own, run_bare_address(s->in[i].text));
	for (uint32_t i = 0; i < s->nr_out; i++)
		json_array_append_new(own, run_bare_address(s->out[i].text));
	json_object_set_new(gen, "dst_mac", json_string(LAB_IN_MAC));
	json_object_set_new(sink, "dut_addresses", own);
	json_object_set_new(sink, "hist_dir", json_string(hist));
	ret = run_call(run, &run->sink, "configure", sink, CALL_MS, err);
	if (ret) {
		json_decref(gen);
		return ret;
	}
	return run_call(run, &run->gen, "configure", gen, CALL_MS, err);
}

static int run_start_dut(struct run *run, struct err *err)
{
	int ret = run->lab.ops->start(run, err);

	if (ret)
		return ret;
	run->hello_mon = role_call(&run->mon, "hello", json_object(), MON_CALL_MS, &run->code, err);
	return run->hello_mon ? 0 : -EIO;
}

/* One of the DUT's two interfaces, as dststorm-mon wants it. */
static json_t *run_interface(const char *name, const char *mac, const struct scenario_host *hosts,
			     uint32_t n)
{
	json_t *addresses = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(addresses, json_string(hosts[i].text));
	return json_pack("{s:s, s:s, s:o}", "mac", mac, "name", name, "addresses", addresses);
}

static json_t *run_routes(const struct scenario *s)
{
	static const char *const types[] = {
		[ROUTE_VIA] = "via",
		[ROUTE_BLACKHOLE] = "blackhole",
		[ROUTE_UNREACHABLE] = "unreachable",
		[ROUTE_PROHIBIT] = "prohibit",
	};
	json_t *list = json_array();
	char buf[INET6_ADDRSTRLEN];

	for (uint32_t i = 0; i < s->nr_routes; i++) {
		const struct scenario_route *r = &s->routes[i];
		json_t *one = json_pack("{s:s, s:o}", "type", types[r->type], "prefix",
					json_sprintf("%s/%u", addr_text(r->family, r->prefix, buf), r->len));

		if (r->type == ROUTE_VIA)
			json_object_set_new(one, "via", json_string(addr_text(r->family, r->via, buf)));
		json_array_append_new(list, one);
	}
	return list;
}

static int run_configure_dut(struct run *run, struct err *err)
{
	const struct scenario *s = &run->scenario;
	json_t *sysctls = json_array(), *params, *configured;

	for (uint32_t i = 0; i < s->nr_sysctls; i++)
		json_array_append_new(sysctls, json_pack("[ss]", s->sysctls[i].key,
							 s->sysctls[i].value));
	params = json_pack("{s:[o, o], s:o, s:o, s:b}", "interfaces",
			   run_interface("in", LAB_IN_MAC, s->in, s->nr_in),
			   run_interface("out", LAB_OUT_MAC, s->out, s->nr_out), "routes",
			   run_routes(s), "sysctls", sysctls, "neigh_events", s->neigh_events);
	if (run->opt.hide_cause)
		json_object_set_new(params, "hide_cause", json_string(run->opt.hide_cause));
	configured = role_call(&run->mon, "configure", params, MON_CALL_MS, &run->code, err);
	if (!configured)
		return -EIO;
	run->settings = json_incref(json_object_get(configured, "settings"));
	json_decref(configured);
	return 0;
}

/* Let gen and sink open their ports. A DUT that connects to them wants to find the sockets. */
static int run_open_ports(struct run *run, struct err *err)
{
	const char *socks[] = {run->lab.sink_sock, run->lab.gen_sock};
	struct role *roles[] = {&run->sink, &run->gen};

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t end = ctl_now_ns() + CONNECT_MS * NS_PER_MS;

		role_ask(roles[i], "arm", json_pack("{s:i}", "timeout_ms", BOOT_MS + LINK_MS));
		if (!socks[i])
			continue;
		while (access(socks[i], F_OK) && !roles[i]->reply && ctl_now_ns() < end)
			if (loop_sleep(&run->loop, 10) < 0)
				return err_set(err, -ECANCELED, "%s", run->loop.err.text);
		if (!access(socks[i], F_OK))
			continue;
		json_decref(role_answer(roles[i], 0, &run->code, err)); /* why not */
		return -EIO;
	}
	return 0;
}

/* Links up, and the DUT's counters before the flood. */
static int run_arm(struct run *run, struct err *err)
{
	struct role *roles[] = {&run->sink, &run->gen};
	json_t *armed;

	for (unsigned int i = 0; i < 2; i++) {
		armed = role_answer(roles[i], LINK_MS, &run->code, err);
		json_decref(armed);
		if (!armed)
			return -EIO;
	}
	armed = role_call(&run->mon, "arm", json_object(), MON_CALL_MS, &run->code, err);
	if (!armed)
		return -EIO;
	run_log(run, "baseline",
		json_pack("{s:s, s:O}", "role", "mon", "stats", json_object_get(armed, "baseline")));
	json_decref(armed);
	return 0;
}

int run_lab_up(struct run *run, struct err *err)
{
	int ret;

	ret = run_program(run, &run->sink, "--source", run->lab.sink_source, err);
	if (!ret)
		ret = run_program(run, &run->gen, "--port", run->lab.gen_port, err);
	if (!ret)
		ret = run_configure_programs(run, err);
	if (!ret)
		ret = run_open_ports(run, err);
	if (!ret)
		ret = run_start_dut(run, err);
	if (!ret)
		ret = run_configure_dut(run, err);
	if (!ret)
		ret = run_arm(run, err);
	return ret;
}

void run_lab_down(struct run *run)
{
	run->lab.ops->stop(run);
}
