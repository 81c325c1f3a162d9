// SPDX-License-Identifier: GPL-2.0-or-later
/* The controller's `configure`: interfaces, addresses, sysctls. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>

#include "lib/err.h"
#include "mon/agent.h"
#include "mon/file.h"
#include "mon/settings.h"
#include "mon/sysctl.h"

#define CONFIGURE_WAIT_MS 3000
#define CONFIGURE_STEP_MS 20

static int configure_mac(uint8_t mac[6], const char *text, struct err *err)
{
	unsigned b[6];
	char rest;

	if (!text || sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4],
			    &b[5], &rest) != 6)
		return err_set(err, -EINVAL, "an interface needs a \"mac\" like 02:00:00:00:00:01");
	for (unsigned i = 0; i < 6; i++)
		mac[i] = (uint8_t)b[i];
	return 0;
}

/*
 * Autoconfiguration would add addresses, routes and packets that nobody asked for. And while the
 * link-local address of an interface that comes up is checked for duplicates, for up to 2 s, the
 * kernel sends no solicitation there: all neighbours would be late. Kernels without IPv6 lack these
 * keys.
 */
static int configure_quiet(struct agent *a, const char *ifname, struct err *err)
{
	static const char *const names[] = {"accept_ra", "autoconf", "router_solicitations",
					    "accept_dad"};

	for (unsigned i = 0; i < 4; i++) {
		char key[96], path[SYSCTL_PATH_MAX];
		int ret;

		snprintf(key, sizeof(key), "net/ipv6/conf/%s/%s", ifname, names[i]);
		sysctl_path(path, key, NULL);
		if (access(path, F_OK))
			continue;
		ret = sysctl_set(&a->undo, key, "0", err);
		if (ret)
			return ret;
	}
	return 0;
}

static int configure_address(struct agent *a, const struct rtnl_link *l, const char *text,
			     struct err *err)
{
	struct rtnl_addr addr;
	int ret = rtnl_addr_parse(&addr, text ? text : "", err);

	if (!ret)
		ret = undo_address(&a->undo, l->name, l->index, text, err);
	if (!ret)
		ret = rtnl_addr_add(&a->sampler.rtnl, l->index, &addr, err);
	if (ret >= 0)
		a->has_ipv6[l - a->links] |= addr.family == AF_INET6;
	if (ret == 1) /* it was the host's own */
		ret = undo_forget_last(&a->undo, err);
	return ret;
}

static int configure_addresses(struct agent *a, const struct rtnl_link *l, const json_t *list,
			       struct err *err)
{
	const json_t *address;
	int ret = 0;
	size_t i;

	json_array_foreach(list, i, address)
	{
		if (ret)
			break;
		ret = configure_address(a, l, json_string_value(address), err);
	}
	return ret;
}

static int configure_up(struct agent *a, const struct rtnl_link *l, struct err *err)
{
	int ret;

	if (l->flags & IFF_UP)
		return 0;
	ret = undo_link_up(&a->undo, l->name, l->index, err);
	return ret ? ret : rtnl_set_up(&a->sampler.rtnl, l->index, true, err);
}

static int configure_if(struct agent *a, const json_t *one, struct err *err)
{
	const char *label = json_string_value(json_object_get(one, "name"));
	unsigned n = a->sampler.nr_ifs;
	struct rtnl_link *l = &a->links[n];
	uint8_t mac[6];
	int ret = configure_mac(mac, json_string_value(json_object_get(one, "mac")), err);

	if (!ret && (!label || !*label || strlen(label) >= sizeof(a->sampler.if_label[n])))
		ret = err_set(err, -EINVAL, "an interface needs a short \"name\", like in or out");
	if (!ret)
		ret = rtnl_find(&a->sampler.rtnl, mac, l, err);
	if (!ret)
		ret = rtnl_has_default_route(&a->sampler.rtnl, l->index, err);
	if (ret > 0)
		ret = err_set(err, -EINVAL,
			      "%s carries a default route: a flood there would cut this host off; "
			      "use another interface",
			      l->name);
	if (!ret)
		ret = configure_quiet(a, l->name, err);
	if (!ret)
		ret = configure_up(a, l, err);
	if (!ret)
		ret = configure_addresses(a, l, json_object_get(one, "addresses"), err);
	if (ret)
		return ret;
	a->sampler.ifindex[n] = l->index;
	strcpy(a->sampler.if_label[n], label);
	a->sampler.nr_ifs++;
	return 0;
}

static int configure_ifs(struct agent *a, const json_t *ifs, struct err *err)
{
	const json_t *one;
	size_t i;

	if (json_array_size(ifs) > SAMPLE_IFS_MAX)
		return err_set(err, -EINVAL, "at most %d interfaces", SAMPLE_IFS_MAX);
	json_array_foreach(ifs, i, one)
	{
		int ret = configure_if(a, one, err);

		if (ret)
			return ret;
	}
	return 0;
}

static int configure_sysctl(struct agent *a, const json_t *pair, struct err *err)
{
	const char *key = json_string_value(json_array_get(pair, 0));
	const json_t *value = json_array_get(pair, 1);
	char number[32];

	if (!key || !(json_is_string(value) || json_is_integer(value)))
		return err_set(err, -EINVAL,
			       "a sysctl is a pair of a name and a string or a whole number");
	if (json_is_string(value))
		return sysctl_set(&a->undo, key, json_string_value(value), err);
	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
	return sysctl_set(&a->undo, key, number, err);
}

/* Remember a setting that is on and that the switch below turns off when it is put back. */
static int configure_keep(struct agent *a, const char *family, const char *name,
			  const char *setting, char off, struct err *err)
{
	char key[96], path[SYSCTL_PATH_MAX];
	struct file_buf b = {};
	int ret;

	snprintf(key, sizeof(key), "net/%s/conf/%s/%s", family, name, setting);
	ret = sysctl_path(path, key, err);
	if (!ret && !file_read(&b, path, NULL) && b.text[0] != off) {
		b.text[strcspn(b.text, "\n")] = '\0';
		ret = undo_sysctl(&a->undo, key, b.text, err);
	}
	file_buf_free(&b);
	return ret;
}

/*
 * Switching forwarding for all interfaces sets that of each, and with IPv4 the acceptance of
 * redirects to the opposite: switching it off again would not give these their old values.
 */
static int configure_forwarding(struct agent *a, const char *family, struct err *err)
{
	char path[96], key[64];
	struct file_buf b = {};
	struct dirent *e;
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf", family);
	snprintf(key, sizeof(key), "net/%s/conf/all/forwarding", family);
	d = opendir(path);
	if (!d) /* a kernel without IPv6 */
		return 0;
	snprintf(path, sizeof(path), "/proc/sys/%s", key);
	if (!file_read(&b, path, NULL) && b.text[0] != '1') {
		ret = configure_keep(a, family, "all", "accept_redirects", '1', err);
		while (!ret && (e = readdir(d)))
			if (e->d_name[0] != '.' && strcmp(e->d_name, "all") != 0)
				ret = configure_keep(a, family, e->d_name, "forwarding", '0', err);
	}
	closedir(d);
	file_buf_free(&b);
	return ret ? ret : sysctl_set(&a->undo, key, "1", err);
}

static int configure_routes(struct agent *a, const json_t *list, struct err *err)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *prefix = json_string_value(json_object_get(one, "prefix"));
		const char *type = json_string_value(json_object_get(one, "type"));
		const char *via = json_string_value(json_object_get(one, "via"));
		struct rtnl_route route;
		int ret = rtnl_route_parse(&route, prefix, type, via, err);

		if (!ret)
			ret = undo_route(&a->undo, prefix, type, via, err);
		if (!ret) {
			ret = rtnl_route_add(&a->sampler.rtnl, &route, err);
			if (ret)
				undo_forget_last(&a->undo, NULL);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int configure_sysctls(struct agent *a, const json_t *list, struct err *err)
{
	const json_t *pair;
	size_t i;

	/* What the rig cannot do without comes first, so that the scenario may overrule it. */
	int ret = configure_forwarding(a, "ipv4", err);

	if (!ret)
		ret = configure_forwarding(a, "ipv6", err);
	json_array_foreach(list, i, pair)
	{
		if (ret)
			return ret;
		ret = configure_sysctl(a, pair, err);
	}
	return ret;
}

static int configure_options(struct agent *a, const json_t *params, struct err *err)
{
	const json_t *events = json_object_get(params, "neigh_events");
	const json_t *rcvbuf = json_object_get(params, "neigh_rcvbuf_bytes");
	const char *hide = json_string_value(json_object_get(params, "hide_cause"));

	a->want_events = !events || json_is_true(events);
	a->events_rcvbuf = (int)json_integer_value(rcvbuf);
	a->hide_cause = hide && *hide ? cause_parse(hide) : NR_CAUSES;
	if (hide && *hide && a->hide_cause == NR_CAUSES)
		return err_set(err, -EINVAL, "there is no cause \"%.40s\" to hide", hide);
	if ((events && !json_is_boolean(events)) ||
	    (rcvbuf && (!json_is_integer(rcvbuf) || a->events_rcvbuf < 0)))
		return err_set(err, -EINVAL,
			       "neigh_events is true or false, neigh_rcvbuf_bytes a number");
	return 0;
}

/*
 * Solicitations are sent from the link-local address, which the kernel gives an interface that came
 * up a moment ago in its own time. The one place where the agent waits, at most CONFIGURE_WAIT_MS.
 */
static void configure_wait6(struct agent *a)
{
	struct timespec step = {.tv_nsec = CONFIGURE_STEP_MS * 1000000l};
	struct file_buf b = {};
	unsigned i = 0;

	for (int ms = 0; i < a->sampler.nr_ifs && ms < CONFIGURE_WAIT_MS; ms += CONFIGURE_STEP_MS) {
		if (file_read(&b, "/proc/net/if_inet6", NULL))
			break;
		while (i < a->sampler.nr_ifs &&
		       (!a->has_ipv6[i] || proc_if_inet6_ready(b.text, b.len, a->links[i].index)))
			i++;
		if (i < a->sampler.nr_ifs)
			nanosleep(&step, NULL);
	}
	if (i < a->sampler.nr_ifs && b.text) {
		char text[160];

		snprintf(text, sizeof(text),
			 "%s has no link-local address after %d s, so no IPv6 neighbour can be "
			 "asked for there: is its carrier on?",
			 a->links[i].name, CONFIGURE_WAIT_MS / 1000);
		agent_warn(a, text);
	}
	file_buf_free(&b);
}

static json_t *configure_result(const struct agent *a)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < a->sampler.nr_ifs; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:i}", "name", a->sampler.if_label[i], "ifname",
					a->links[i].name, "ifindex", a->links[i].index));
	return json_pack("{s:o, s:o}", "interfaces", list, "settings",
			 settings_read(a->links, a->sampler.nr_ifs));
}

int agent_configure(struct agent *a, const json_t *params, json_t **result, struct err *err)
{
	/* A second configuration replaces the first: nothing of it stays. */
	int ret = undo_all(&a->undo, &a->sampler.rtnl, err);

	a->sampler.nr_ifs = 0;
	memset(a->has_ipv6, 0, sizeof(a->has_ipv6));
	a->state = AGENT_IDLE;
	if (!ret)
		ret = configure_options(a, params, err);
	if (!ret)
		ret = configure_ifs(a, json_object_get(params, "interfaces"), err);
	if (!ret)
		ret = configure_sysctls(a, json_object_get(params, "sysctls"), err);
	/* After the sysctls: one of them may switch IPv6 on. */
	if (!ret)
		ret = configure_routes(a, json_object_get(params, "routes"), err);
	if (ret)
		return ret;
	configure_wait6(a);
	a->state = AGENT_CONFIGURED;
	*result = configure_result(a);
	return 0;
}
