// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `dststorm run`: idle, configured, armed, running, draining, done; failed from anywhere. Each state
 * is one function here; what happens meanwhile is in run_watch.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "ctl/ctl.h"
#include "ctl/jpath.h"
#include "ctl/judge.h"
#include "ctl/run.h"
#include "ctl/summary.h"
#include "lib/conf.h"
#include "lib/huge.h"

#define START_MS	200  /* between the order to start and the first packet */
#define DONE_SLACK_S	15.0 /* the generator may take that much longer than asked */
#define DRAIN_MARGIN_S	1.0
#define DRAIN_MAX_S	40.0
#define DRAIN_STEP_MS	500
#define FINAL_MS	10000
#define FINAL_FAILED_MS 800 /* after a failure: whoever is still there */

static void run_state(struct run *run, const char *state)
{
	run_log(run, "state", json_pack("{s:s}", "state", state));
}

/* The machine that figures depend on: CPU, how many, memory, and QEMU's version. */
static void run_manifest_host(json_t *doc)
{
	char line[256], model[256] = "unknown", qemu[256] = "";
	char *argv[] = {(char *)"qemu-system-x86_64", (char *)"--version", NULL};
	FILE *f = fopen("/proc/cpuinfo", "re");
	struct err err;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "model name : %255[^\n]", model) == 1)
			break;
	if (f)
		fclose(f);
	ctl_capture(argv, qemu, sizeof(qemu), &err);
	jpath_set(doc, "host.cpu", json_string(model));
	jpath_set_int(doc, "host.cpus", get_nprocs());
	jpath_set_int(doc, "host.available_mb", (json_int_t)ctl_available_mb());
	jpath_set(doc, "host.qemu", json_string(qemu));
}

static int run_manifest(struct run *run, struct err *err)
{
	json_t *sets = json_array();
	struct utsname host;
	json_t *doc;

	for (unsigned int i = 0; i < run->opt.nr_sets; i++)
		json_array_append_new(sets, json_string(run->opt.sets[i]));
	uname(&host);
	doc = json_pack("{s:i, s:s, s:s, s:s, s:o, s:{s:s, s:s}, s:{s:s, s:s, s:s}, s:{s:s, s:s}}",
			"v", 1, "scenario", run->scenario.name, "config_file", run->opt.scenario,
			"config", run->text, "set", sets, "version", "dststorm", ctl_version, "git",
			ctl_git_id, "host", "kernel", host.release, "build", host.version, "machine",
			host.machine, "dut", "lab", run->lab.ops->name, "kernel", run->lab.release);
	if (!doc)
		return err_set(err, -ENOMEM, "no manifest: out of memory");
	run->lab.ops->manifest(run, doc);
	run_manifest_host(doc);
	if (run->hello_mon)
		jpath_set(doc, "dut.hello", json_incref(run->hello_mon));
	if (run->settings)
		jpath_set(doc, "dut.settings", json_incref(run->settings));
	return results_put(&run->results, "manifest.json", doc, err);
}

static int run_begin(struct run *run, struct err *err)
{
	json_t *at;
	/* It needs no time, and may take some: the schedule begins when it has answered. */
	json_t *mon = role_call(&run->mon, "start", json_object(), 5000, &run->code, err);
	int ret = mon ? 0 : -EIO;

	json_decref(mon);
	if (ret)
		return ret;
	run->t0_ns = ctl_now_ns() + START_MS * NS_PER_MS;
	run->forward_ns = run->t0_ns;
	at = json_pack("{s:I}", "at_ns", (json_int_t)run->t0_ns);
	struct role *roles[] = {&run->sink, &run->gen};

	for (unsigned int i = 0; i < 2; i++) {
		json_t *r = role_call(roles[i], "start", json_deep_copy(at), 5000, &run->code, err);

		ret = r ? 0 : -EIO;
		json_decref(r);
		if (ret)
			break;
	}
	json_decref(at);
	return ret;
}

static bool run_gen_done(void *arg)
{
	return ((struct run *)arg)->gen_done;
}

/* The greatest of @least and the values of the scenario's sysctls whose key ends in @name. */
static double run_sysctl_max(const struct run *run, const char *name, double least)
{
	const struct scenario *s = &run->scenario;
	size_t len = strlen(name);

	for (uint32_t i = 0; i < s->nr_sysctls; i++) {
		const char *key = s->sysctls[i].key;
		double v = strtod(s->sysctls[i].value, NULL);

		if (strlen(key) > len && !strcmp(key + strlen(key) - len, name) && v > least)
			least = v;
	}
	return least;
}

/* Milliseconds from a neighbour's first solicitation until it is given up, in table @family. */
static double run_giving_up_ms(const struct run *run, const char *family)
{
	const json_t *n = json_object_get(json_object_get(run->last_mon, "neigh"), family);
	double solicits = (double)jpath_int(n, "mcast_probes");
	double retrans_ms = (double)jpath_int(n, "retrans_time_ms");

	solicits = run_sysctl_max(run, ".mcast_solicit", solicits > 0 ? solicits : 3);
	return solicits * run_sysctl_max(run, ".retrans_time_ms", retrans_ms > 0 ? retrans_ms : 1000);
}

/* Seconds after which whatever the DUT's neighbours hold is delivered or dropped: every solicitation
 * unanswered, the responder's delay, and a margin. */
static double run_drain_s(const struct run *run)
{
	const struct scenario *s = &run->scenario;
	double v4 = run_giving_up_ms(run, "ipv4"), v6 = run_giving_up_ms(run, "ipv6");
	double delay_ms = s->delay_ms;

	if (s->drain_s > 0)
		return s->drain_s;
	for (uint32_t i = 0; i < s->nr_rules; i++)
		delay_ms = s->rules[i].delay_ms > delay_ms ? s->rules[i].delay_ms : delay_ms;
	return ((v4 > v6 ? v4 : v6) + delay_ms) / 1000 + DRAIN_MARGIN_S;
}

#define PULSE 7

/* What must stand still, as one number a counter. */
static void run_pulse(json_t *sink, json_t *mon, json_int_t v[PULSE])
{
	v[0] = jpath_int(sink, "rx_pkts");
	v[1] = jpath_int(mon, "ip.forwarded_pkts");
	v[2] = jpath_int(mon, "neigh.ipv4.allocs");
	v[3] = jpath_int(mon, "neigh.ipv4.res_failed");
	v[4] = jpath_int(mon, "ifs.out.tx_pkts");
	v[5] = jpath_int(mon, "neigh.ipv6.allocs");
	v[6] = jpath_int(mon, "neigh.ipv6.res_failed");
}

static int run_drain(struct run *run, struct err *err)
{
	double wait_s = run_drain_s(run);
	uint64_t end;
	json_int_t was[PULSE] = {-1}, is[PULSE];
	int still = 0;

	if (!run->opt.quiet)
		printf("draining: %.0f s, and until the counters stand still\n", wait_s);
	fflush(stdout);
	if (loop_sleep(&run->loop, (uint64_t)(wait_s * 1000)) < 0)
		return err_set(err, -ECANCELED, "%s", run->loop.err.text);
	end = ctl_now_ns() + (uint64_t)(DRAIN_MAX_S * 1e9);
	while (still < 2 && ctl_now_ns() < end) {
		json_t *sink = role_call(&run->sink, "stats", json_object(), FINAL_MS, &run->code, err);
		json_t *mon = sink ? role_call(&run->mon, "stats", json_object(), FINAL_MS,
					       &run->code, err) : NULL;

		if (mon)
			run_pulse(sink, mon, is);
		json_decref(sink);
		json_decref(mon);
		if (!mon)
			return -EIO;
		still = memcmp(was, is, sizeof(is)) ? 0 : still + 1;
		memcpy(was, is, sizeof(is));
		if (loop_sleep(&run->loop, DRAIN_STEP_MS) < 0)
			return err_set(err, -ECANCELED, "%s", run->loop.err.text);
	}
	if (still < 2)
		return err_set(err, -ETIMEDOUT, "the counters did not stand still within %.0f s",
			       DRAIN_MAX_S);
	return 0;
}

/* Ask for final statistics and log them. Returns them, borrowed from *@result, or NULL. */
static json_t *run_final(struct run *run, struct role *r, const char *method, json_t *params,
			 uint64_t ms, json_t **result, struct err *err)
{
	json_t *stats;
	int code;

	*result = NULL;
	if (run->failed)
		run->loop.failed = false; /* whoever still lives is asked, whatever else fails */
	if (r->bev)
		*result = role_call(r, method, params, ms, &code, err);
	else
		json_decref(params);
	if (!*result)
		return NULL;
	stats = json_object_get(*result, "final"); /* the monitor's has the difference beside it */
	if (!stats)
		stats = *result;
	run_log(run, "final", json_pack("{s:s, s:O}", "role", r->name, "stats", stats));
	return stats;
}

/* What the sink has to know of the generator's last words: how many packets of which numbers there
 * were to lose. */
static json_t *run_sent(const json_t *gen)
{
	const json_t *streams = json_object_get(gen, "streams"), *one;
	json_t *list = json_array();
	size_t i;

	json_array_foreach(streams, i, one)
		json_array_append_new(list, json_pack("{s:I, s:i, s:O}", "stream", (json_int_t)i,
						      "shard", 0, "lanes",
						      json_object_get(one, "lanes")));
	return json_pack("{s:o}", "sent", list);
}

/* Everybody's last words. The generator's first: the sink is told them. */
static int run_finals(struct run *run, uint64_t ms, struct err *err)
{
	json_t *gen, *mon, *sink;
	const json_t *stats;
	int bad;

	stats = run_final(run, &run->gen, "stop", json_object(), ms, &gen, err);
	bad = !stats;
	if (!stats)
		stats = run->last_gen;
	bad |= !run_final(run, &run->mon, "finish", json_object(), ms, &mon, err);
	bad |= !run_final(run, &run->sink, "finish", run_sent(stats), ms, &sink, err);
	json_decref(gen);
	json_decref(mon);
	json_decref(sink);
	return bad ? -EIO : 0;
}

static int run_flood(struct run *run, struct err *err)
{
	double s = run->scenario.duration_s + DONE_SLACK_S + START_MS / 1000.0;
	int ret = run_begin(run, err);

	if (ret)
		return ret;
	run_state(run, "running");
	ret = loop_wait(&run->loop, run_gen_done, run, (uint64_t)(s * 1000));
	if (ret == -ECANCELED)
		return err_set(err, ret, "%s", run->loop.err.text);
	if (ret)
		return err_set(err, ret, "dststorm-gen is not done %.0f s after it should be",
			       DONE_SLACK_S);
	run_state(run, "draining");
	ret = run_drain(run, err);
	return ret ? ret : run_finals(run, FINAL_MS, err);
}

/* The last lines of the guest's console, for whoever reads the verdict. */
static void run_console(struct run *run)
{
	char line[400], last[6][400] = {{0}};
	unsigned int n = 0;
	json_t *lines = json_array();
	FILE *f = run->lab.console ? fopen(run->lab.console, "re") : NULL;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			memcpy(last[n++ % 6], line, sizeof(line));
	}
	if (f)
		fclose(f);
	for (unsigned int i = n > 6 ? n - 6 : 0; i < n; i++) {
		if (run->loop.dut_died)
			fprintf(stderr, "  console: %s\n", last[i % 6]);
		json_array_append_new(lines, wire_text(last[i % 6]));
	}
	run_log(run, "console", json_pack("{s:o}", "lines", lines));
}

static void run_failed(struct run *run, const struct err *why)
{
	struct loop *l = &run->loop;
	struct err first, ignored;
	bool died;

	/* A cause that the loop saw explains more than the call that it broke. */
	loop_fail(l, "%s", why->text);
	first = l->err;
	died = l->dut_died;
	if (run->t0_ns)
		run_finals(run, FINAL_FAILED_MS, &ignored);
	l->failed = true;
	/* What else fails meanwhile follows from it, unless it is the guest whose end comes out. */
	if (died || !l->dut_died)
		l->err = first;
	run_log(run, "failed", json_pack("{s:o, s:b}", "text", wire_text(l->err.text), "dut_died",
				       l->dut_died));
	run_console(run);
}

static void run_init(struct run *run)
{
	run->lab.ops = lab_all[run->scenario.lab];
	role_init(&run->gen, "gen", &run->loop, run_on_event, run);
	role_init(&run->sink, "sink", &run->loop, run_on_event, run);
	role_init(&run->mon, "mon", &run->loop, run_on_event, run);
	role_init(&run->lab.guest, "qemu", &run->loop, run_on_event, run);
	for (unsigned int i = 0; i < LAB_NR_NS; i++)
		run->lab.ns[i] = -1;
}

static json_t *run_summary(const struct run *run)
{
	json_t *streams = json_array(), *summary;

	for (uint32_t i = 0; i < run->scenario.nr_streams; i++)
		json_array_append_new(streams, json_pack("{s:s}", "name", run->scenario.streams[i].name));
	summary = summary_empty(run->scenario.name, streams);
	json_decref(streams);
	return summary;
}

static int run_prepare(struct run *run, struct err *err)
{
	int ret;

	/* How many generator and sink need they tell themselves. */
	if (run->opt.huge && !huge_free_mb())
		return err_set(err, -ENOMEM, "no hugepages are free: sysctl vm.nr_hugepages=256, or "
			       "leave out --huge");
	/* Before there is a loop, so that a signal ends it and what it waits for. */
	ret = run->lab.ops->prepare(run, err);
	if (!ret)
		ret = loop_init(&run->loop, run_on_exit, run, err);
	if (!ret)
		ret = results_open(&run->results, run->opt.results, run->scenario.name,
				   run_summary(run), err);
	if (!ret)
		ret = rundir_open(&run->rundir, err);
	if (ret)
		return ret;
	ret = run->lab.ops->open(run, err);
	return ret ? ret : run_manifest(run, err);
}

/* From here on there is a results directory, and every failure goes into it. */
static int run_execute(struct run *run)
{
	struct err err;
	int ret;

	if (run_watch_start(run) < 0)
		return err_set(&err, -ENOMEM, "out of memory");
	run_state(run, "configuring");
	ret = run_lab_up(run, &err);
	if (!ret)
		ret = run_manifest(run, &err);
	if (!ret) {
		run_state(run, "armed");
		ret = run_flood(run, &err);
	}
	run->failed = ret;
	if (ret)
		run_failed(run, &err);
	else
		run_state(run, "done");
	run_watch_stop(run);
	run_lab_down(run);
	return ret;
}

static void run_free(struct run *run)
{
	json_decref(run->hello_mon);
	json_decref(run->settings);
	json_decref(run->last_gen);
	json_decref(run->last_sink);
	json_decref(run->last_mon);
	role_free(&run->gen);
	role_free(&run->sink);
	role_free(&run->mon);
	role_free(&run->lab.guest);
	results_close(&run->results);
	run->lab.ops->free(run);
	loop_free(&run->loop);
	scenario_free(&run->scenario);
	free(run->text);
}

static int run_load(struct run *run, struct err *err)
{
	struct scenario_source from = {.path = run->opt.scenario,
				       .overrides = run->opt.sets,
				       .nr_overrides = run->opt.nr_sets,
				       .allow = run->opt.allow,
				       .nr_allow = run->opt.nr_allow};
	json_t *summary;
	size_t len;
	int ret;

	run->text = conf_file(run->opt.scenario, &len, err);
	if (!run->text)
		return -ENOENT;
	if (strlen(run->text) != len)
		return err_set(err, -EINVAL, "%s: not a text: give a scenario file", run->opt.scenario);
	from.text = run->text;
	ret = scenario_load(&run->scenario, &from, err);
	if (ret)
		return ret;
	summary = run_summary(run);
	ret = judge_check_requires(&run->scenario, summary, err);
	json_decref(summary);
	return ret;
}

int run_scenario(struct run *run)
{
	struct err err;
	int code;

	if (run_load(run, &err) < 0) {
		fprintf(stderr, "dststorm: %s\n", err.text);
		return EXIT_USAGE;
	}
	run->code = EXIT_RIG;
	run_init(run);
	if (run_prepare(run, &err) < 0) {
		fprintf(stderr, "dststorm: %s\n", err.text);
		run_free(run);
		return run->code;
	}
	if (!run->opt.quiet)
		printf("%s: %s, %s with kernel %s, results in %s\n", run->opt.scenario,
		       run->scenario.name, run->lab.ops->dut, run->lab.release, run->results.dir);
	fflush(stdout);
	run_execute(run);
	if (run->results.failed)
		fprintf(stderr, "dststorm: %s: cannot be written: %s\n", run->results.dir,
			strerror(-run->results.failed));
	code = run_judge(run);
	rundir_close(&run->rundir);
	run_free(run);
	return code;
}
