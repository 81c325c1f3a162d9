// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing the `vm` lab up: sink, generator, guest, in the order in which each needs the other. */
#include <errno.h>
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

static int run_spawn(struct run *run, struct role *r, char *const argv[], int sig, struct err *err)
{
	int ret;

	if (snprintf(r->log, sizeof(r->log), "%s/%s.log", run->results.dir, r->name) >=
	    (int)sizeof(r->log))
		return err_set(err, -ENAMETOOLONG, "%s: the path is too long", run->results.dir);
	ret = role_spawn(r, argv, sig, err);
	if (!ret)
		rundir_guard(&run->rundir, r->pid);
	return ret;
}

/* Start gen or sink, and say hello. */
static int run_program(struct run *run, struct role *r, const char *flag, const char *port,
		       struct err *err)
{
	char program[32], path[PATH_MAX], control[128], spec[PATH_MAX + 8];
	char *argv[] = {path, (char *)flag, spec, (char *)"--control", control,
			(char *)(run->opt.huge ? "--huge" : NULL), NULL};
	json_t *hello;
	int ret, code;

	snprintf(program, sizeof(program), "dststorm-%s", r->name);
	snprintf(control, sizeof(control), "%s/%s.ctl", run->rundir.path, r->name);
	snprintf(spec, sizeof(spec), "vhost:%s", port);
	ret = ctl_find(program, path, err);
	if (!ret)
		ret = run_spawn(run, r, argv, SIGTERM, err);
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
	char hist[PATH_MAX + 8];
	int ret;

	snprintf(hist, sizeof(hist), "%s/hist", run->results.dir);
	json_array_append_new(own, run_bare_address(run->scenario.in[0].text));
	json_array_append_new(own, run_bare_address(run->scenario.out[0].text));
	json_object_set_new(gen, "dst_mac", json_string(VM_IN_MAC));
	json_object_set_new(sink, "dut_addresses", own);
	json_object_set_new(sink, "hist_dir", json_string(hist));
	ret = run_call(run, &run->sink, "configure", sink, CALL_MS, err);
	if (ret) {
		json_decref(gen);
		return ret;
	}
	return run_call(run, &run->gen, "configure", gen, CALL_MS, err);
}

static bool run_mon_up(void *arg)
{
	return ((struct run *)arg)->mon_up;
}

static int run_guest(struct run *run, struct err *err)
{
	int ret = run_spawn(run, &run->qemu, run->vm.argv, SIGKILL, err);

	if (!ret)
		ret = role_connect(&run->mon, run->vm.mon_sock, CONNECT_MS, err);
	if (!ret)
		ret = loop_wait(&run->loop, run_mon_up, run, BOOT_MS);
	if (ret == -ETIMEDOUT)
		return err_set(err, ret, "the guest said nothing within %d s; see %s",
			       BOOT_MS / 1000, run->vm.console);
	if (ret == -ECANCELED)
		return err_set(err, ret, "%s", run->loop.err.text);
	if (ret)
		return ret;
	run->hello_mon = role_call(&run->mon, "hello", json_object(), MON_CALL_MS, &run->code, err);
	return run->hello_mon ? 0 : -EIO;
}

static int run_configure_guest(struct run *run, struct err *err)
{
	const struct scenario *s = &run->scenario;
	json_t *sysctls = json_array(), *params, *configured;

	for (uint32_t i = 0; i < s->nr_sysctls; i++)
		json_array_append_new(sysctls, json_pack("[ss]", s->sysctls[i].key,
							 s->sysctls[i].value));
	params = json_pack("{s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:o}", "interfaces", "mac",
			   VM_IN_MAC, "name", "in", "address", s->in[0].text, "mac", VM_OUT_MAC,
			   "name", "out", "address", s->out[0].text, "sysctls", sysctls);
	json_object_set_new(params, "neigh_events", json_boolean(s->neigh_events));
	if (run->opt.hide_cause)
		json_object_set_new(params, "hide_cause", json_string(run->opt.hide_cause));
	configured = role_call(&run->mon, "configure", params, MON_CALL_MS, &run->code, err);
	if (!configured)
		return -EIO;
	run->settings = json_incref(json_object_get(configured, "settings"));
	json_decref(configured);
	return 0;
}

/* Let gen and sink open their ports: QEMU, which connects to them, wants to find the sockets. */
static int run_open_ports(struct run *run, struct err *err)
{
	const char *socks[] = {run->vm.out_sock, run->vm.in_sock};
	struct role *roles[] = {&run->sink, &run->gen};

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t end = ctl_now_ns() + CONNECT_MS * NS_PER_MS;

		role_ask(roles[i], "arm", json_pack("{s:i}", "timeout_ms", BOOT_MS + LINK_MS));
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

	ret = run_program(run, &run->sink, "--source", run->vm.out_sock, err);
	if (!ret)
		ret = run_program(run, &run->gen, "--port", run->vm.in_sock, err);
	if (!ret)
		ret = run_configure_programs(run, err);
	if (!ret)
		ret = run_open_ports(run, err);
	if (!ret)
		ret = run_guest(run, err);
	if (!ret)
		ret = run_configure_guest(run, err);
	if (!ret)
		ret = run_arm(run, err);
	return ret;
}

void run_lab_down(struct run *run)
{
	/* Ports away first would leave the guest's drivers waiting; the guest is told first. */
	run->gen.ending = run->sink.ending = run->qemu.ending = true;
	if (run->qemu.pid && run->mon.bev && !run->loop.failed) {
		role_cast(&run->mon, "quit");
		for (int i = 0; i < 150 && run->qemu.pid; i++) {
			struct timeval tv = {0, 10000};

			event_base_loopexit(run->loop.base, &tv);
			event_base_dispatch(run->loop.base);
		}
	}
	role_end(&run->qemu, 300);
	role_end(&run->gen, 700);
	role_end(&run->sink, 700);
}
