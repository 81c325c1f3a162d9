// SPDX-License-Identifier: GPL-2.0-or-later
/* The `netns` lab: gen, DUT and sink in namespaces of the running kernel; mon over a socket pair. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "ctl/ctl.h"
#include "ctl/jpath.h"
#include "ctl/netns.h"
#include "ctl/run.h"

#define MON_START_MS 10000

static const char lab_netns_warning[] =
	"lab netns: neighbour tables, their thresholds and their locks are one per kernel, so the host's are in the figures, too";

static int netns_lab_prepare(struct run *run, struct err *err)
{
	struct utsname host;
	int ret = netns_check(&run->scenario, err);

	if (ret)
		run->code = ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
	uname(&host);
	snprintf(run->lab.release, sizeof(run->lab.release), "%s", host.release);
	return ret;
}

static int netns_lab_open(struct run *run, struct err *err)
{
	struct lab *lab = &run->lab;

	fprintf(stderr, "dststorm: %s\n", lab_netns_warning);
	snprintf(lab->gen_port, sizeof(lab->gen_port), "%s:gen",
		 run->opt.gen_port ? run->opt.gen_port : "af_packet");
	strcpy(lab->sink_source, "live:sink");
	run->gen.netns = run->sink.netns = run->mon.netns = -1;
	if (netns_make(lab->ns, &run->scenario, err) < 0)
		return -EIO;
	run->gen.netns = lab->ns[LAB_NS_GEN];
	run->mon.netns = lab->ns[LAB_NS_DUT];
	run->sink.netns = lab->ns[LAB_NS_SINK];
	return 0;
}

static int netns_lab_start(struct run *run, struct err *err)
{
	char path[PATH_MAX], state[128];
	char *argv[] = {path, (char *)"--stdio", (char *)"--state", state, NULL};
	int ret = ctl_find("dststorm-mon", path, err);

	snprintf(state, sizeof(state), "%s/mon.json", run->rundir.path);
	if (!ret)
		ret = lab_spawn(run, &run->mon, argv, SIGTERM, true, err);
	return ret ? ret : lab_await_mon(run, MON_START_MS, err);
}

static void netns_lab_stop(struct run *run)
{
	run->gen.ending = run->sink.ending = true;
	role_end(&run->mon, 1500);
	role_end(&run->gen, 700);
	role_end(&run->sink, 700);
	netns_free(run->lab.ns);
}

static bool netns_lab_exited(struct run *run, pid_t pid, int status)
{
	(void)run, (void)pid, (void)status;
	return false;
}

static void netns_lab_manifest(const struct run *run, json_t *doc)
{
	(void)run;
	jpath_set(doc, "dut.accel", json_string("none"));
	jpath_set(doc, "dut.warning", json_string(lab_netns_warning));
}

static void netns_lab_free(struct run *run)
{
	netns_free(run->lab.ns);
}

const struct lab_ops lab_netns = {
	.name = "netns",
	.about = "namespaces of the running kernel; needs root; for function and speed of the programs",
	.dut = "a namespace",
	.prepare = netns_lab_prepare,
	.open = netns_lab_open,
	.start = netns_lab_start,
	.stop = netns_lab_stop,
	.exited = netns_lab_exited,
	.manifest = netns_lab_manifest,
	.free = netns_lab_free,
};
