// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of addresses: from texts, files and captures, under the rules of scenario_addr.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

scenario_pcap_fn *scenario_pcap;

static int exclude_addr(struct addrset *set, int family, struct addr a, struct err *err)
{
	char buf[INET6_ADDRSTRLEN];

	return addrset_exclude(set, addr_text(family, a, buf), err);
}

const struct scenario_set_way scenario_set_add = { addrset_add, addrset_add_addr };
const struct scenario_set_way scenario_set_exclude = { addrset_exclude, exclude_addr };

/* --- read -------------------------------------------------------------------------------------- */

char *scenario_path(const struct scenario *s, const char *path)
{
	const char *from = s->conf->file, *slash = strrchr(from, '/');
	char *out = NULL;

	if (*path == '/' || !slash)
		return strdup(path);
	return asprintf(&out, "%.*s/%s", (int)(slash - from), from, path) < 0 ? NULL : out;
}

/* Every program reads the scenario: what can be read only once is no file here. */
static int read_path(const char *path, bool pcap, struct addrset *set,
		     const struct scenario_set_way *way, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(err, -errno, "%.200s: %s; give the path of a file", path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%.200s is no regular file; give one that can be read "
			       "again", path);
	if (!pcap)
		return addrset_add_file(set, path, way->text, err);
	if (!scenario_pcap)
		return err_set(err, -ENOTSUP, "%.200s: this program reads no captures; list the "
			       "addresses in a {file:}", path);
	return scenario_pcap(path, set->family, set, way->addr, err);
}

/* {file: PATH} or {pcap: PATH}. */
static int read_map(const struct scenario *s, const struct conf *c, const char *key,
		    struct addrset *set, const struct scenario_set_way *way, struct err *err)
{
	const struct conf *file = conf_get(c, "file"), *pcap = conf_get(c, "pcap");
	struct err why = { "" };
	const char *text;
	char *path;
	int ret = conf_reject_unused(c, err);

	if (ret)
		return ret;
	if (!file == !pcap)
		return conf_err(c, err, -EINVAL, "%s: a group of keys must be {file: PATH} or "
				"{pcap: PATH}", key);
	ret = conf_text(file ? file : pcap, &text, err);
	if (ret)
		return ret;
	path = scenario_path(s, text);
	if (!path)
		return scenario_no_memory(err);
	ret = read_path(path, pcap, set, way, &why);
	free(path);
	return ret ? conf_err(c, err, ret, "%s: %s", key, why.text) : 0;
}

static int read_one(const struct scenario *s, const struct conf *c, const char *key,
		    struct addrset *set, const struct scenario_set_way *way, struct err *err)
{
	struct err why = { "" };
	const char *text;
	int ret;

	if (c->type == CONF_MAP)
		return read_map(s, c, key, set, way, err);
	ret = conf_text(c, &text, err);
	if (ret)
		return ret;
	ret = way->text(set, text, &why);
	return ret ? conf_err(c, err, ret, "%s", why.text) : 0;
}

int scenario_set_read(const struct scenario *s, const struct conf *map, const char *key,
		      struct addrset *set, const struct scenario_set_way *way, struct err *err)
{
	const struct conf *list = conf_get(map, key);
	int ret = 0;

	if (!list)
		return 0;
	if (list->type != CONF_SEQ)
		return read_one(s, list, key, set, way, err);
	for (const struct conf *it = list->child; it && !ret; it = it->next)
		ret = read_one(s, it, key, set, way, err);
	return ret;
}

/* --- check ------------------------------------------------------------------------------------- */

static bool holds(const struct scenario *s, const struct conf *c, const char *key, struct addr a)
{
	struct addrset one;
	bool yes;

	addrset_init(&one);
	yes = !read_one(s, c, key, &one, &scenario_set_add, NULL) && !addrset_seal_filter(&one,
											  NULL) &&
	      addrset_has(&one, a);
	addrset_free(&one);
	return yes;
}

/* The entry that named @a: where the error points. */
static const struct conf *origin(const struct scenario *s, const struct conf *list,
				 const char *key, struct addr a)
{
	if (list->type == CONF_SEQ)
		conf_each(it, list)
			if (holds(s, it, key, a))
				return it;
	return list;
}

static int check_range(const struct scenario *s, const struct conf *list, const char *key,
		       int family, const struct addrset_range *r,
		       const struct scenario_allow *allow, struct err *err)
{
	const struct conf *c;
	struct addr a;

	if (!scenario_addr_never(family, r->first, r->last, &a) &&
	    !scenario_addr_outside(allow, family, r->first, r->last, &a))
		return 0;
	c = origin(s, list, key, a);
	return scenario_addr_check(c, key, family, a, c->type == CONF_SCALAR ? c->value : NULL,
				   allow,
				   err);
}

int scenario_set_check(const struct scenario *s, const struct conf *map, const char *key,
		       struct addrset *set, int (*seal)(struct addrset *, struct err *),
		       const struct scenario_allow *allow, struct err *err)
{
	const struct conf *list = conf_get(map, key);
	struct err why = { "" };
	int ret;

	if (!list)
		return conf_err(map, err, -EINVAL, "%s is missing; list addresses, prefixes or "
				"ranges, as in [198.19.0.0/24]", key);
	ret = seal(set, &why);
	if (ret)
		return conf_err(list, err, ret, "%s: %s", key, why.text);
	for (size_t i = 0; i < set->nr_ranges && !ret; i++)
		ret = check_range(s, list, key, set->family, &set->ranges[i], allow, err);
	return ret;
}

static int not_these(const struct scenario *s, const struct conf *map, const char *key,
		     const struct addrset *set, const struct scenario_host *hosts, uint32_t nr,
		     const char *dut_key, struct err *err)
{
	char buf[INET6_ADDRSTRLEN];

	for (uint32_t i = 0; i < nr; i++)
		if (set->family == hosts[i].family && addrset_has(set, hosts[i].a))
			return conf_err(origin(s, conf_get(map, key), key, hosts[i].a), err,
					-EINVAL,
					"%s: %s is the host under test itself (dut.%s); take another "
					"address", key, addr_text(set->family, hosts[i].a,
								  buf), dut_key);
	return 0;
}

int scenario_set_not_dut(const struct scenario *s, const struct conf *map, const char *key,
			 const struct addrset *set, struct err *err)
{
	int ret = not_these(s, map, key, set, s->in, s->nr_in, "in_address", err);

	return ret ? ret : not_these(s, map, key, set, s->out, s->nr_out, "out_address", err);
}
