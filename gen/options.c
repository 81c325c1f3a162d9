// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/dryrun.h"
#include "lib/err.h"

enum { MEMORY_MAX_MB = 65536 };

/* Without a scenario this is one; what it lacks must come from options. */
static const char base[] =
	"name: flood\n"
	"streams:\n"
	"  - name: flood\n"
	"    sources: [198.18.0.2]\n";
#define BASE_SOURCE6 "streams.0.sources=[\"2001:2:0:1::2\"]"

enum {
	O_DST = 0x100, O_EXCLUDE, O_SRC, O_ORDER, O_SEED, O_RATE, O_NEW, O_DURATION, O_COUNT, O_LANES,
	O_BURST, O_PROTOCOL, O_SIZE, O_VLAN, O_REPLAY, O_SET, O_SHARD, O_PORT, O_DST_MAC, O_ALLOW,
	O_DRY_RUN, O_CONTROL, O_HUGE, O_MEMORY,
	O_TELEMETRY, O_TRACE, O_JSON, O_USAGE, O_HELP = '?', O_VERSION = 'V',
};

static const struct argp_option table[] = {
	{ 0, 0, 0, 0, "Traffic (each overrides a key of the scenario):", 1 },
	{ "dst", O_DST, "SET", 0, "Destinations: address, prefix or range; may be repeated", 0 },
	{ "exclude", O_EXCLUDE, "SET", 0, "Destinations to leave out; may be repeated", 0 },
	{ "src", O_SRC, "SET", 0, "Sources (198.18.0.2, or 2001:2:0:1::2); may be repeated", 0 },
	{ "protocol", O_PROTOCOL, "PROTOCOL", 0, "udp, tcp-syn or icmp-echo (udp)", 0 },
	{ "size", O_SIZE, "SIZE", 0, "Bytes of a frame with FCS, imix, or {BYTES: WEIGHT, ...} (the least)",
	  0 },
	{ "vlan", O_VLAN, "TAG", 0, "VLAN tag, or [OUTER, INNER] (none)", 0 },
	{ "replay", O_REPLAY, "FILE", 0, "Send what looks like the packets of a capture", 0 },
	{ "order", O_ORDER, "ORDER", 0,
	  "permute, sequential, stride, window, uniform, zipf or hot (permute)", 0 },
	{ "seed", O_SEED, "N", 0, "Seed of the permutation (1)", 0 },
	{ "rate", O_RATE, "PPS", 0, "Packets/s, or max where the port sets the pace", 0 },
	{ "new-destinations", O_NEW, "N", 0, "New destinations/s (as many as packets/s)", 0 },
	{ "duration", O_DURATION, "S", 0, "Seconds", 0 },
	{ "count", O_COUNT, "N", 0, "Packets (rate times duration)", 0 },
	{ "lanes", O_LANES, "N", 0, "Sending threads (1)", 0 },
	{ "burst", O_BURST, "N", 0, "Packets offered to the port at once, at most (64)", 0 },
	{ "set", O_SET, "KEY=VALUE", 0, "Override any key of the scenario; may be repeated", 0 },
	{ "shard", O_SHARD, "I/N", 0, "Be the I-th (from 0) of N generators that share the work", 0 },
	{ "allow", O_ALLOW, "PREFIX", 0,
	  "Allow addresses outside 198.18.0.0/15 and 2001:2::/48; may be repeated", 0 },

	{ 0, 0, 0, 0, "Where to:", 2 },
	{ "port", O_PORT, "PORT", 0,
	  "null:, pcap:FILE, vhost:SOCKET, af_packet:IF, af_xdp:IF and more, see dststorm-ports(7); may be "
	  "repeated: lanes take turns", 0 },
	{ "dst-mac", O_DST_MAC, "MAC", 0,
	  "MAC of the host under test (derived from dut.in_address)", 0 },
	{ "dry-run", O_DRY_RUN, "FILE", 0,
	  "Send nothing, write it down: FILE.pcap, FILE.txt (destinations) or - (stdout)", 0 },

	{ 0, 0, 0, 0, "Control and results:", 3 },
	{ "control", O_CONTROL, "SOCKET", 0,
	  "Take scenario and commands from a controller on this Unix socket", 0 },
	{ "json", O_JSON, "FILE", 0, "Write the statistics there too, not only to stdout", 0 },
	{ "telemetry", O_TELEMETRY, 0, 0,
	  "Show the statistics to dpdk-telemetry.py, as /dststorm/gen/stats", 0 },
	{ "trace-bursts", O_TRACE, "FILE", 0, "Write each burst: t_ns,lane,packets", 0 },

	{ 0, 0, 0, 0, "Memory:", 4 },
	{ "huge", O_HUGE, 0, 0, "Use hugepages", 0 },
	{ "memory", O_MEMORY, "MB", 0, "Memory for packets (what ports and lanes take)", 0 },

	{ 0, 0, 0, 0, "Help:", -1 },
	{ "help", O_HELP, 0, 0, "Print this", 0 },
	{ "usage", O_USAGE, 0, 0, "Print the options in short", 0 },
	{ "version", O_VERSION, 0, 0, "Print the version", 0 },
	{ 0 },
};

/* The options that are sugar for one scalar. */
static const struct sugar {
	int key;
	const char *name, *path;
} sugars[] = {
	{ O_ORDER, "--order", "streams.0.order" },
	{ O_SEED, "--seed", "seed" },
	{ O_RATE, "--rate", "streams.0.rate_pps" },
	{ O_NEW, "--new-destinations", "streams.0.new_destinations_per_s" },
	{ O_DURATION, "--duration", "duration_s" },
	{ O_COUNT, "--count", "streams.0.count" },
	{ O_LANES, "--lanes", "gen.lanes" },
	{ O_BURST, "--burst", "gen.burst" },
	{ O_PROTOCOL, "--protocol", "streams.0.protocol" },
	{ O_SIZE, "--size", "streams.0.size" },
	{ O_VLAN, "--vlan", "streams.0.vlan" },
	{ O_REPLAY, "--replay", "streams.0.replay" },
};

/* Those that collect a list. */
enum { LIST_DST, LIST_EXCLUDE, LIST_SRC };
static const struct sugar lists[] = {
	{ O_DST, "--dst", "streams.0.destinations" },
	{ O_EXCLUDE, "--exclude", "streams.0.exclude" },
	{ O_SRC, "--src", "streams.0.sources" },
};
#define NR_LISTS (sizeof(lists) / sizeof(*lists))

struct parse {
	struct options *o;
	struct err *err;
	char *items[NR_LISTS]; /* YAML so far, without brackets */
	int next;	       /* argument that is looked at next */
	bool rate, duration;
};

/* --- overrides -------------------------------------------------------------------------------- */

/* @text, which may be NULL for want of memory, becomes the option's. */
static int add_override(struct parse *p, char *text, const char *name)
{
	struct options *o = p->o;
	unsigned int nr = o->request.nr_overrides;
	char **overrides = reallocarray(o->overrides, nr + 1, sizeof(*overrides));

	if (overrides)
		o->overrides = overrides;
	const char **names = reallocarray(o->names, nr + 1, sizeof(*names));

	if (names)
		o->names = names;
	if (!text || !overrides || !names) {
		free(text);
		return err_set(p->err, -ENOMEM, "no memory for the command line");
	}
	overrides[nr] = text;
	names[nr] = name;
	o->request.overrides = (const char *const *)overrides;
	o->request.nr_overrides = nr + 1;
	return 0;
}

static char *join(const char *a, const char *sep, const char *b, const char *end)
{
	char *text = NULL;

	return asprintf(&text, "%s%s%s%s", a, sep, b, end) < 0 ? NULL : text;
}

/* Quoted, so that it is text and nothing else, whatever it contains. */
static int add_item(struct parse *p, size_t list, const char *item)
{
	char *old = p->items[list], *quoted = malloc(2 * strlen(item) + 3), *to = quoted;

	if (!quoted)
		return err_set(p->err, -ENOMEM, "no memory for the command line");
	*to++ = '\'';
	for (; *item; *to++ = *item++)
		if (*item == '\'')
			*to++ = '\'';
	strcpy(to, "'");
	p->items[list] = join(old ? old : "", old ? ", " : "", quoted, "");
	free(old);
	free(quoted);
	return p->items[list] ? 0 : err_set(p->err, -ENOMEM, "no memory for the command line");
}

static int add_lists(struct parse *p)
{
	int ret = 0;

	for (size_t i = 0; i < NR_LISTS && !ret; i++)
		if (p->items[i])
			ret = add_override(p, join(lists[i].path, "=[", p->items[i], "]"),
					   lists[i].name);
	return ret;
}

void options_name_culprit(const struct options *o, struct err *err)
{
	struct err old = *err;

	for (unsigned int i = 0; i < o->request.nr_overrides; i++) {
		const char *eq = strchr(o->overrides[i], '=');
		char begin[128];
		int len;

		if (!o->names[i] || !eq)
			continue;
		len = snprintf(begin, sizeof(begin), "--set %.*s:", (int)(eq - o->overrides[i]),
			       o->overrides[i]);
		if (!strncmp(old.text, begin, (size_t)len)) {
			err_set(err, 0, "%s:%s", o->names[i], old.text + len);
			return;
		}
	}
}

/* --- values ----------------------------------------------------------------------------------- */

static int set_shard(struct parse *p, const char *arg)
{
	unsigned int i, n;
	int len = 0;

	if (sscanf(arg, "%3u/%3u%n", &i, &n, &len) != 2 || arg[len] || *arg == '-' || i >= n || n > 255)
		return err_set(p->err, -EINVAL, "--shard %.40s: write I/N with I below N and N at most "
			       "255, as in 0/2", arg);
	p->o->request.shard = i;
	p->o->request.nr_shards = n;
	return 0;
}

static int set_memory(struct parse *p, const char *arg)
{
	char *end;
	unsigned long mb = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || !mb || mb > MEMORY_MAX_MB)
		return err_set(p->err, -EINVAL, "--memory %.40s: give megabytes, 1 to %d", arg,
			       MEMORY_MAX_MB);
	p->o->eal.memory_mb = (unsigned int)mb;
	return 0;
}

static int add_allow(struct parse *p, const char *arg)
{
	struct plan_request *r = &p->o->request;
	const char **allow = reallocarray(p->o->allow, r->nr_allow + 1, sizeof(*allow));

	if (!allow)
		return err_set(p->err, -ENOMEM, "no memory for the command line");
	allow[r->nr_allow++] = arg;
	p->o->allow = allow;
	r->allow = allow;
	return 0;
}

static int set_port(struct parse *p, const char *arg)
{
	struct ports *ports = &p->o->ports;

	if (ports->nr == PORTS_MAX)
		return err_set(p->err, -EINVAL, "--port %.80s: %u ports at most", arg, PORTS_MAX);
	return port_parse(arg, &ports->name[ports->nr++], p->err);
}

static int set_mac(struct parse *p, const char *arg)
{
	p->o->request.dst_mac_given = true;
	return plan_parse_mac(arg, p->o->request.dst_mac, p->err);
}

static int set_scenario(struct parse *p, const char *arg)
{
	if (p->o->request.path)
		return err_set(p->err, -EINVAL, "'%.80s': one scenario at a time, and '%.80s' is given",
			       arg, p->o->request.path);
	p->o->request.path = arg;
	return 0;
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* 1 if @key is none of them. */
static int parse_sugar(struct parse *p, int key, const char *arg)
{
	p->rate |= key == O_RATE;
	p->duration |= key == O_DURATION;
	for (size_t i = 0; i < sizeof(sugars) / sizeof(*sugars); i++)
		if (sugars[i].key == key)
			return add_override(p, join(sugars[i].path, "=", arg, ""), sugars[i].name);
	for (size_t i = 0; i < NR_LISTS; i++)
		if (lists[i].key == key)
			return add_item(p, i, arg);
	return 1;
}

/* argp can do this itself, but only when it also prints errors, and then it prints two lines. */
static void print_and_exit(int key, const struct argp *argp)
{
	char name[] = "dststorm-gen";

	if (key == O_VERSION)
		puts(argp_program_version);
	else
		argp_help(argp, stdout, key == O_USAGE ? ARGP_HELP_USAGE :
			  ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
	exit(EXIT_OK);
}

static int parse_value(struct parse *p, int key, char *arg)
{
	struct options *o = p->o;

	switch (key) {
	case O_SET:
		return add_override(p, strdup(arg), NULL);
	case O_SHARD:
		return set_shard(p, arg);
	case O_ALLOW:
		return add_allow(p, arg);
	case O_PORT:
		return set_port(p, arg);
	case O_DST_MAC:
		return set_mac(p, arg);
	case O_MEMORY:
		return set_memory(p, arg);
	case O_HUGE:
		o->eal.huge = true;
		return 0;
	case O_TELEMETRY:
		o->eal.telemetry = true;
		return 0;
	case O_DRY_RUN:
		o->dry_run = arg;
		return dryrun_check(arg, p->err);
	case O_CONTROL:
		o->control = arg;
		return 0;
	case O_JSON:
		o->json = arg;
		return 0;
	case O_TRACE:
		o->trace = arg;
		return 0;
	case ARGP_KEY_ARG:
		return set_scenario(p, arg);
	default:
		return 1;
	}
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	int ret;

	if (key != ARGP_KEY_ERROR)
		p->next = state->next;
	if (key == O_HELP || key == O_USAGE || key == O_VERSION)
		print_and_exit(key, state->root_argp);
	ret = parse_sugar(p, key, arg);
	if (ret > 0)
		ret = parse_value(p, key, arg);
	return ret > 0 ? ARGP_ERR_UNKNOWN : -ret;
}

/* DPDK's arguments follow "--"; argp never sees them. */
static int split(int argc, char **argv, char ***eal)
{
	*eal = NULL;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		*eal = argv + i + 1;
		return i;
	}
	return argc;
}

/* What no option can say by itself. */
static int check(struct parse *p)
{
	struct options *o = p->o;
	const struct plan_request *r = &o->request;

	if (o->control && (r->path || r->nr_overrides || r->nr_allow || o->dry_run || r->dst_mac_given))
		return err_set(p->err, -EINVAL, "with --control the traffic comes from the controller: "
			       "leave out SCENARIO and the options about it");
	if (o->dry_run && (o->ports.nr || o->trace || o->json))
		return err_set(p->err, -EINVAL, "--dry-run sends nothing: leave out --port, --json and "
			       "--trace-bursts");
	if (!o->ports.nr && !o->dry_run)
		return err_set(p->err, -EINVAL, "where to? give --port (null:, pcap:FILE, vhost:SOCKET) "
			       "or --dry-run");
	if (o->control || r->path)
		return 0;
	if (!p->items[LIST_DST])
		return err_set(p->err, -EINVAL, "no destinations: give --dst SET or a scenario");
	if (!p->rate)
		return err_set(p->err, -EINVAL, "no rate: give --rate PPS or a scenario");
	if (!p->duration)
		return err_set(p->err, -EINVAL, "no duration: give --duration S or a scenario");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	static const struct argp argp = {
		.options = table, .parser = parse_one, .args_doc = "[SCENARIO.yaml] [-- DPDK-ARGUMENT...]",
		.doc = "Flood very many destinations with packets, and say exactly what was sent.\v"
		       "A scenario, or --dst with --rate and --duration, says what to send; both may be "
		       "combined. Exit status: 0 done, 2 usage or configuration, 3 the rig failed."
	};
	struct parse p = { .o = o, .err = err, .next = 1 };
	int ret;

	*o = (struct options){ .request.nr_shards = 1 };
	err->text[0] = '\0';
	argc = split(argc, argv, &o->eal.args);
	ret = argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, &p);
	if (ret && !err->text[0])
		err_set(err, -ret, "'%.80s': no such option, or a value is missing or too many: see "
			"--help", p.next < argc ? argv[p.next] : argv[argc - 1]);
	if (!ret)
		ret = -check(&p);
	/* The source has to be of the destinations' family. */
	if (!ret && !o->request.path && !p.items[LIST_SRC] && p.items[LIST_DST] &&
	    strchr(p.items[LIST_DST], ':'))
		ret = -add_override(&p, strdup(BASE_SOURCE6), "--dst");
	if (!ret)
		ret = -add_lists(&p);
	for (size_t i = 0; i < NR_LISTS; i++)
		free(p.items[i]);
	if (!o->request.path) {
		o->request.path = "command line";
		o->request.text = base;
	}
	return -ret;
}

void options_free(struct options *o)
{
	for (unsigned int i = 0; i < o->request.nr_overrides; i++)
		free(o->overrides[i]);
	free(o->overrides);
	free(o->names);
	free(o->allow);
}
