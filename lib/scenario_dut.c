// SPDX-License-Identifier: GPL-2.0-or-later
/* dut: the host under test, its kernel, its settings and its addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

static const char *const kernels[] = { "debian-6.1", "debian-6.12", NULL };

static const struct scenario_field fields[] = {
	FIELD_PLAIN("kernel", TEXT, struct scenario, kernel),
	FIELD_INT("memory_mb", U32, struct scenario, memory_mb, 64, 1048576),
	FIELD_INT("cpus", U32, struct scenario, cpus, 1, 64),
	FIELD_PLAIN("cmdline", TEXT, struct scenario, cmdline),
	FIELD_PLAIN("neigh_events", BOOL, struct scenario, neigh_events),
	{ 0 },
};

/* Of each side its key, and what it is when the scenario says nothing. */
static const struct side {
	const char *key, *ipv4, *ipv6;
} in_side = { "in_address", "198.18.0.1/16", "2001:2:0:1::1/64" },
  out_side = { "out_address", "198.19.0.1/16", "2001:2:0:2::1/64" };

/* --- bind -------------------------------------------------------------------------------------- */

static int add_sysctl(struct scenario *s, const char *key, const char *value, int line)
{
	struct scenario_pair *more = realloc(s->sysctls, (s->nr_sysctls + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->sysctls = more;
	more += s->nr_sysctls;
	*more = (struct scenario_pair){ strdup(key), strdup(value), line };
	s->nr_sysctls++; /* scenario_free() sees it also when half of it is missing */
	return more->key && more->value ? 0 : -ENOMEM;
}

/* A sysctl's name becomes a path below /proc/sys: nothing else may be named. */
static bool is_sysctl_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-/:@+";

	return name[strspn(name, allowed)] == '\0' && !strstr(name, "..") && *name != '/' &&
	       *name != '.';
}

/* Maps may be nested where the name has dots: "net: {ipv4: {ip_forward: 1}}". */
static int bind_sysctls(struct scenario *s, const struct conf *map, const char *prefix,
			struct err *err)
{
	char name[256];
	const char *value;
	int ret = 0;

	conf_each(it, map) {
		it->used = true;
		if ((size_t)snprintf(name, sizeof(name), "%s%s", prefix, it->key) >=
			    sizeof(name) - 1 || !is_sysctl_name(name))
			return conf_err(it, err, -EINVAL, "%.60s is no name of a sysctl", it->key);
		if (it->type == CONF_MAP) {
			strcat(name, ".");
			ret = bind_sysctls(s, it, name, err);
		} else {
			ret = conf_text(it, &value, err);
			if (!ret && (!scenario_is_line(value) || !*value))
				ret = conf_err(it, err, -EINVAL, "%s needs a value of one line",
					       name);
			if (!ret && add_sysctl(s, name, value, it->line))
				ret = scenario_no_memory(err);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int add_host(struct scenario_host *hosts, uint32_t *nr, const char *text, struct err *err)
{
	hosts[*nr].text = strdup(text);
	if (!hosts[*nr].text)
		return scenario_no_memory(err);
	++*nr;
	return 0;
}

/* A text or a list of them. */
static int bind_hosts(const struct conf *dut, const char *key, struct scenario_host *hosts,
		      uint32_t *nr, struct err *err)
{
	const struct conf *list = conf_get(dut, key), *it;
	const char *text;
	int ret = 0;

	if (!list)
		return 0;
	if (list->type == CONF_SEQ && !list->child)
		return conf_err(list, err, -EINVAL, "%s is empty; give an address or leave it out",
				key);
	for (it = list->type == CONF_SEQ ? list->child : list; it && !ret;
	     it = list->type == CONF_SEQ ? it->next : NULL) {
		if (*nr == SCENARIO_HOSTS_MAX)
			return conf_err(it, err, -EINVAL, "%s holds more than %u; remove some", key,
					SCENARIO_HOSTS_MAX);
		ret = conf_text(it, &text, err);
		if (!ret)
			ret = add_host(hosts, nr, text, err);
	}
	return ret;
}

int scenario_dut_bind(struct scenario *s, struct err *err)
{
	struct conf *dut, *sysctl = NULL;
	int ret = conf_node(s->conf, "dut", CONF_MAP, &dut, err);

	if (ret || !dut)
		return ret;
	ret = scenario_bind_fields(dut, fields, s, err);
	if (!ret)
		ret = bind_hosts(dut, in_side.key, s->in, &s->nr_in, err);
	if (!ret)
		ret = bind_hosts(dut, out_side.key, s->out, &s->nr_out, err);
	if (!ret)
		ret = scenario_route_bind(s, dut, err);
	if (!ret)
		ret = conf_node(dut, "sysctl", CONF_MAP, &sysctl, err);
	return ret || !sysctl ? ret : bind_sysctls(s, sysctl, "", err);
}

/* --- check ------------------------------------------------------------------------------------- */

static int check_kernel(const struct conf *dut, const char *kernel, struct err *err)
{
	const char *near = conf_nearest(kernel, kernels);

	if (strchr(kernel, '/'))
		return 0;
	for (int i = 0; kernels[i]; i++)
		if (strcmp(kernel, kernels[i]) == 0)
			return 0;
	return conf_err(scenario_at(dut, "kernel"), err, -EINVAL,
			"kernel is \"%.60s\"; it must be debian-6.1, debian-6.12 or the path of a "
			"bzImage with a / in it%s%s%s", kernel, near ? "; did you mean " : "",
			near ? near : "", near ? "?" : "");
}

/* Without addresses the scenario gets one of each family that its streams need, IPv4 always. */
static int default_hosts(const struct scenario *s, const struct side *side,
			 struct scenario_host *hosts, uint32_t *nr, struct err *err)
{
	bool ipv6 = false;
	int ret;

	if (*nr)
		return 0;
	for (uint32_t i = 0; i < s->nr_streams; i++)
		ipv6 |= s->streams[i].shape.family == AF_INET6;
	ret = add_host(hosts, nr, side->ipv4, err);
	return ret || !ipv6 ? ret : add_host(hosts, nr, side->ipv6, err);
}

/* The text that gave address @i of a side. */
static const struct conf *host_at(const struct conf *dut, const char *key, uint32_t i)
{
	const struct conf *c = scenario_at(dut, key);

	if (c != dut && c->type == CONF_SEQ)
		for (c = c->child; i; i--)
			c = c->next;
	return c;
}

static int check_side(struct scenario *s, const struct conf *dut, const struct side *side,
		      struct scenario_host *hosts, uint32_t *nr, const struct scenario_allow *allow,
		      struct err *err)
{
	int ret = default_hosts(s, side, hosts, nr, err);

	for (uint32_t i = 0; i < *nr && !ret; i++)
		ret = scenario_addr_host(host_at(dut, side->key, i), side->key, &hosts[i], allow,
					 err);
	for (uint32_t i = 0; i < s->nr_streams && !ret; i++) {
		int family = s->streams[i].shape.family;
		uint32_t k = 0;

		while (k < *nr && hosts[k].family != family)
			k++;
		if (k == *nr)
			ret = conf_err(scenario_at(dut, side->key), err, -EINVAL,
				       "%s has no IPv%d address, which stream %u needs; add one, as in "
				       "[%s, %s]", side->key, family == AF_INET6 ? 6 : 4, i, side->ipv4,
				       side->ipv6);
	}
	return ret;
}

/* The kernel takes an address once. */
static int check_twice(const struct conf *dut, const char *key, const struct scenario_host *hosts,
		       uint32_t nr, struct err *err)
{
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < i; k++)
			if (hosts[i].family == hosts[k].family && hosts[i].a.hi == hosts[k].a.hi &&
			    hosts[i].a.lo == hosts[k].a.lo)
				return conf_err(host_at(dut, key, i), err, -EINVAL,
						"%s: %s has the same address as %s; remove one", key,
						hosts[i].text, hosts[k].text);
	return 0;
}

/* What is on-link at both sides would be forwarded by luck, if at all. */
static int check_apart(const struct scenario *s, const struct conf *dut, struct err *err)
{
	for (uint32_t i = 0; i < s->nr_in; i++) {
		for (uint32_t k = 0; k < s->nr_out; k++) {
			const struct scenario_host *in = &s->in[i], *out = &s->out[k];

			if (scenario_addr_on_link(in, out->family, out->a) ||
			    scenario_addr_on_link(out, in->family, in->a))
				return conf_err(host_at(dut, out_side.key, k), err, -EINVAL,
						"out_address %s and in_address %s share a prefix; nothing "
						"would be forwarded between them", out->text, in->text);
		}
	}
	return 0;
}

int scenario_dut_check(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	const struct conf *dut = scenario_at(s->conf, "dut");
	int ret = check_kernel(dut, s->kernel, err);

	if (!ret)
		ret = check_side(s, dut, &in_side, s->in, &s->nr_in, allow, err);
	if (!ret)
		ret = check_side(s, dut, &out_side, s->out, &s->nr_out, allow, err);
	if (!ret)
		ret = check_twice(dut, in_side.key, s->in, s->nr_in, err);
	if (!ret)
		ret = check_twice(dut, out_side.key, s->out, s->nr_out, err);
	if (!ret)
		ret = check_apart(s, dut, err);
	return ret ? ret : scenario_route_check(s, allow, err);
}

const struct scenario_host *scenario_in(const struct scenario *s, int family)
{
	for (uint32_t i = 0; i < s->nr_in; i++)
		if (s->in[i].family == family)
			return &s->in[i];
	return NULL;
}

void scenario_dut_free(struct scenario *s)
{
	for (uint32_t i = 0; i < SCENARIO_HOSTS_MAX; i++) {
		free(s->in[i].text);
		free(s->out[i].text);
	}
	for (uint32_t i = 0; i < s->nr_routes; i++)
		free(s->routes[i].text);
	free(s->routes);
	for (uint32_t i = 0; i < s->nr_sysctls; i++) {
		free(s->sysctls[i].key);
		free(s->sysctls[i].value);
	}
	free(s->sysctls);
	free(s->kernel);
	free(s->cmdline);
}
