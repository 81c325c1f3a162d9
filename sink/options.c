// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "sink/source_live.h"

enum {
	OPT_SET = 256,
	OPT_ALLOW,
	OPT_SHARDS,
	OPT_HIST,
	OPT_JSON,
	OPT_DEST,
	OPT_CONTROL,
	OPT_SENT,
	OPT_ALIGN,
	OPT_HUGE,
	OPT_TELEMETRY,
	OPT_MEMORY,
	OPT_BUFFER,
	OPT_PASSIVE,
	OPT_WRITE,
	OPT_HELP,
	OPT_VERSION
};

static const struct argp_option option_table[] = {
	{"source", 's', "SOURCE", 0,
	 "where packets come from: live:INTERFACE, pcap:FILE (pcap:- is standard input) "
	 "or a port of DPDK's, as vhost:SOCKET",
	 1},
	{"control", OPT_CONTROL, "PATH", 0,
	 "be driven through a control socket at PATH (not with pcap)", 1},
	{"set", OPT_SET, "KEY=VALUE", 0, "override a key of the scenario", 2},
	{"allow", OPT_ALLOW, "PREFIX", 0, "allow destinations in PREFIX beside the lab ranges", 2},
	{"shard-count", OPT_SHARDS, "N", 0, "generators that share the work (default 1)", 2},
	{"sent", OPT_SENT, "N", 0,
	 "packets really sent, if not all of the schedule; one stream, "
	 "one shard",
	 2},
	{"align", OPT_ALIGN, NULL, 0,
	 "pcap: shift the times of the file so that the first probe "
	 "has no delay",
	 3},
	{"huge", OPT_HUGE, NULL, 0, "ports: use hugepages", 3},
	{"memory", OPT_MEMORY, "MB", 0, "ports: memory for packets (default: what it takes)", 3},
	{"telemetry", OPT_TELEMETRY, NULL, 0,
	 "ports: show the statistics to dpdk-telemetry.py, as /dststorm/sink/stats", 3},
	{"buffer", OPT_BUFFER, "MB", 0,
	 "live: room in the kernel for packets that wait to be seen (default 64)", 3},
	{"passive", OPT_PASSIVE, NULL, 0, "answer no ARP and no neighbour solicitation", 3},
	{"write", OPT_WRITE, "FILE", 0, "write all frames to FILE: pcap with nanoseconds", 4},
	{"json", OPT_JSON, "FILE", 0,
	 "write the statistics to FILE (default: standard output, or "
	 "nowhere with --control)",
	 4},
	{"destinations", OPT_DEST, "FILE", 0, "write one line of JSON a destination to FILE", 4},
	{"hist-dir", OPT_HIST, "DIR", 0, "write histograms to DIR/*.hlog", 4},
	{"help", OPT_HELP, NULL, 0, "print this and end", 5},
	{"version", OPT_VERSION, NULL, 0, "print the version and end", 5},
	{0},
};

struct parsing {
	struct options *o;
	struct err *err;
};

static int option_number(const char *text, const char *name, uint64_t min, uint64_t max,
			 uint64_t *out, struct err *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || *out < min || *out > max)
		return err_set(err, -EINVAL, "%s needs a number from %llu to %llu, not \"%.64s\"",
			       name, (unsigned long long)min, (unsigned long long)max, text);
	return 0;
}

static int option_u32(const char *text, const char *name, uint32_t min, uint32_t max, uint32_t *out,
		      struct err *err)
{
	uint64_t v;
	int ret = option_number(text, name, min, max, &v, err);

	if (!ret)
		*out = (uint32_t)v;
	return ret;
}

static int option_source(struct options *o, const char *text, struct err *err)
{
	o->source = !strncmp(text, "pcap:", 5)	 ? SOURCE_PCAP
		    : !strncmp(text, "live:", 5) ? SOURCE_LIVE
						 : SOURCE_PORT;
	if (o->source == SOURCE_PORT && port_parse(text, &o->port, err))
		return err_wrap(err, -EINVAL, "--source is live:INTERFACE or a port");
	if (o->source == SOURCE_PORT)
		return 0;
	o->where = text + 5;
	if (!*o->where)
		return err_set(err, -EINVAL, "%s lacks a name: give live:INTERFACE or pcap:FILE",
			       text);
	return 0;
}

static int option_scenario(struct options *o, const char *text, struct err *err)
{
	struct options other = {0};
	struct err ignored;

	if (!option_source(&other, text, &ignored))
		return err_set(err, -EINVAL, "\"%.128s\" is a source, not a scenario: give -s %.128s",
			       text, text);
	if (o->scenario)
		return err_set(err, -EINVAL, "one scenario is enough: \"%.128s\" is too much", text);
	o->scenario = text;
	return 0;
}

static int option(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	struct options *o = p->o;

	switch (key) {
	case 's':
		return option_source(o, arg, p->err);
	case OPT_CONTROL:
		o->control = arg;
		return 0;
	case OPT_SET:
		o->sets[o->nr_sets++] = arg;
		return 0;
	case OPT_ALLOW:
		o->allow[o->nr_allow++] = arg;
		return 0;
	case OPT_SHARDS:
		return option_u32(arg, "--shard-count", 1, 255, &o->nr_shards, p->err);
	case OPT_SENT:
		o->sent_given = true;
		return option_number(arg, "--sent", 0, UINT64_MAX, &o->sent_pkts, p->err);
	case OPT_ALIGN:
		o->align = true;
		return 0;
	case OPT_TELEMETRY:
		o->telemetry = true;
		return 0;
	case OPT_HUGE:
		o->huge = true;
		return 0;
	case OPT_MEMORY:
		return option_u32(arg, "--memory", 1, 1u << 20, &o->memory_mb, p->err);
	case OPT_BUFFER:
		return option_u32(arg, "--buffer", 1, LIVE_BUFFER_MAX_MB, &o->buffer_mb, p->err);
	case OPT_PASSIVE:
		o->passive = true;
		return 0;
	case OPT_WRITE:
		o->files.write = arg;
		return 0;
	case OPT_JSON:
		o->files.json = arg;
		return 0;
	case OPT_DEST:
		o->files.destinations = arg;
		return 0;
	case OPT_HIST:
		o->files.hist_dir = arg;
		return 0;
	case OPT_HELP:
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
			  state->name);
		exit(0);
	case OPT_VERSION:
		puts(argp_program_version);
		exit(0);
	case ARGP_KEY_ERROR:
		if (!p->err->text[0] && state->next > 0)
			err_set(p->err, -EINVAL,
				"the command line is wrong at \"%.128s\": see "
				"--help",
				state->argv[state->next - 1]);
		return 0;
	case ARGP_KEY_ARG:
		return option_scenario(o, arg, p->err);
	}
	return ARGP_ERR_UNKNOWN;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Options that contradict each other. */
static int options_check(const struct options *o, struct err *err)
{
	if (o->source == SOURCE_NONE)
		return err_set(err, -EINVAL,
			       "where from? Give --source vhost:SOCKET, live:INTERFACE "
			       "or pcap:FILE");
	if (o->control && o->source == SOURCE_PCAP)
		return err_set(err, -EINVAL,
			       "--control goes with ports and live:INTERFACE, not with "
			       "--source pcap:FILE");
	if (o->control && (o->scenario || o->nr_sets || o->nr_allow || o->sent_given))
		return err_set(err, -EINVAL,
			       "with --control the controller gives the scenario, its "
			       "overrides and what was sent: leave them out here");
	if (!o->scenario && (o->nr_sets || o->nr_allow || o->sent_given || o->nr_shards > 1))
		return err_set(err, -EINVAL,
			       "--set, --allow, --sent and --shard-count need a "
			       "scenario");
	if (o->source == SOURCE_PORT && !o->control && !o->scenario)
		return err_set(err, -EINVAL, "--source %s needs a scenario, or --control",
			       o->port.text);
	if (o->sent_given && o->nr_shards > 1)
		return err_set(err, -EINVAL, "--sent is for one shard");
	if (o->files.write && o->source == SOURCE_PCAP && is_same_file(o->files.write, o->where))
		return err_set(err, -EINVAL, "--write would overwrite %.128s, which is read",
			       o->where);
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = option,
		.args_doc = "[SCENARIO.yaml]",
		.doc = "Receive, account and answer what dststorm-gen sent through a host.",
	};
	struct parsing p = {.o = o, .err = err};
	int ret;

	*o = (struct options){.nr_shards = 1, .buffer_mb = LIVE_BUFFER_MB};
	o->sets = calloc((size_t)argc + 1, sizeof(*o->sets));
	o->allow = calloc((size_t)argc + 1, sizeof(*o->allow));
	if (!o->sets || !o->allow)
		ret = err_set(err, -ENOMEM, "no memory for the command line");
	else
		ret = argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p);
	if (ret > 0) /* argp's own; ours are negative */
		ret = -EINVAL;
	if (!ret)
		ret = options_check(o, err);
	if (ret)
		options_free(o);
	return ret;
}

void options_free(struct options *o)
{
	free(o->sets);
	free(o->allow);
}
