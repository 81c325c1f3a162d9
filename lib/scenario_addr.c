// SPDX-License-Identifier: GPL-2.0-or-later
/* Which addresses a scenario may name: the lab ranges, what the user allowed, and never a few. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define LAB_TEXT "198.18.0.0/15 and 2001:2::/48"

struct span {
	uint32_t first, last;
	const char *what;
};

/* RFC 2544 and RFC 6815: the range for benchmarks of devices. */
static const struct span lab = { 0xc6120000u, 0xc613ffffu, "lab" };

/* RFC 1122 3.2.1.3, RFC 1112: no host answers there, or every host does. */
static const struct span never[] = {
	{ 0x00000000u, 0x00ffffffu, "unspecified" },
	{ 0x7f000000u, 0x7fffffffu, "loopback" },
	{ 0xe0000000u, 0xefffffffu, "multicast" },
	{ 0xf0000000u, 0xfffffffeu, "reserved (class E)" },
	{ 0xffffffffu, 0xffffffffu, "broadcast" },
};

static int read_one(const struct conf *c, struct addrset *set,
		    int (*add)(struct addrset *, const char *, struct err *), struct err *err)
{
	struct err why = { "" };
	const char *text;
	int ret = conf_text(c, &text, err);

	if (ret)
		return ret;
	ret = add(set, text, &why);
	return ret ? conf_err(c, err, ret, "%s", why.text) : 0;
}

int scenario_addr_read(const struct conf *map, const char *key, struct addrset *set,
		       int (*add)(struct addrset *, const char *, struct err *), struct err *err)
{
	const struct conf *list = conf_get(map, key);
	int ret = 0;

	if (!list)
		return 0;
	if (list->type == CONF_SCALAR)
		return read_one(list, set, add, err);
	if (list->type != CONF_SEQ)
		return conf_err(list, err, -EINVAL,
				"%s must be a list of addresses, as in [198.19.0.0/24]", key);
	for (const struct conf *it = list->child; it && !ret; it = it->next)
		ret = read_one(it, set, add, err);
	return ret;
}

/* True if the text of @c holds @a. */
static bool holds(const struct conf *c, struct addr a)
{
	struct addrset one;
	bool yes;

	if (c->type != CONF_SCALAR)
		return false;
	addrset_init(&one);
	yes = !addrset_add(&one, c->value, NULL) && !addrset_seal(&one, NULL) &&
	      addrset_has(&one, a);
	addrset_free(&one);
	return yes;
}

/* The text that named @a: where the error points. */
static const struct conf *origin(const struct conf *list, struct addr a)
{
	if (list->type == CONF_SCALAR)
		return list;
	conf_each(it, list)
		if (holds(it, a))
			return it;
	return list;
}

static const struct span *never_in(uint64_t first, uint64_t last, uint64_t *a)
{
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		if (last < never[i].first || first > never[i].last)
			continue;
		*a = first > never[i].first ? first : never[i].first;
		return &never[i];
	}
	return NULL;
}

/* If @a may be sent to, *@last: up to where, at least. */
static bool allowed_to(const struct addrset *allow, uint64_t a, uint64_t *last)
{
	if (a >= lab.first && a <= lab.last) {
		*last = lab.last;
		return true;
	}
	for (size_t i = 0; i < allow->nr_ranges; i++) {
		if (a < allow->ranges[i].first.lo || a > allow->ranges[i].last.lo)
			continue;
		*last = allow->ranges[i].last.lo;
		return true;
	}
	return false;
}

/* The first address of [@first, @last] that may not be sent to, in *@a. */
static bool outside(const struct addrset *allow, uint64_t first, uint64_t last, uint64_t *a)
{
	uint64_t to;

	for (*a = first; *a <= last; *a = to + 1)
		if (!allowed_to(allow, *a, &to))
			return true;
	return false;
}

/* The rules for one run of addresses that @list, or a text in it, named. */
static int check_span(const struct conf *list, const char *key, struct addr first,
		      struct addr last, const struct scenario_allow *allow, struct err *err)
{
	struct addr a = { 0 };
	const struct span *bad = never_in(first.lo, last.lo, &a.lo);
	const struct conf *at;
	char buf[INET6_ADDRSTRLEN];

	if (!bad && !outside(&allow->ipv4, first.lo, last.lo, &a.lo))
		return 0;
	addr_text(AF_INET, a, buf);
	at = origin(list, a);
	if (bad)
		return conf_err(at, err, -EINVAL, "%s: %s is %s; exclude it", key, buf, bad->what);
	return conf_err(at, err, -EINVAL, "%s: %s is outside the lab ranges " LAB_TEXT
			"; if that network is yours, add --allow %s", key, buf,
			holds(at, a) ? at->value : buf);
}

int scenario_addr_check(const struct conf *map, const char *key, struct addrset *set,
			const struct scenario_allow *allow, struct err *err)
{
	const struct conf *list = conf_get(map, key);
	struct err why = { "" };
	int ret;

	if (!list)
		return conf_err(map, err, -EINVAL, "%s is missing; list addresses, prefixes or "
				"ranges, as in [198.19.0.0/24]", key);
	ret = addrset_seal(set, &why);
	if (ret)
		return conf_err(list, err, ret, "%s: %s", key, why.text);
	if (set->family != AF_INET)
		return conf_err(list, err, -EAFNOSUPPORT, "%s: IPv6 is not sent yet; give IPv4", key);
	for (size_t i = 0; i < set->nr_ranges && !ret; i++)
		ret = check_span(list, key, set->ranges[i].first, set->ranges[i].last, allow, err);
	return ret;
}

int scenario_addr_not_dut(const struct conf *map, const char *key, const struct addrset *set,
			  struct addr a, const char *dut_key, struct err *err)
{
	char buf[INET6_ADDRSTRLEN];

	if (set->family != AF_INET || !addrset_has(set, a))
		return 0;
	return conf_err(origin(conf_get(map, key), a), err, -EINVAL,
			"%s: %s is the host under test itself (dut.%s); take another address", key,
			addr_text(AF_INET, a, buf), dut_key);
}

/* Split "A.B.C.D/LEN". */
static bool parse_host(const char *text, uint32_t *ip, uint8_t *len)
{
	const char *slash = strchr(text, '/');
	char buf[INET_ADDRSTRLEN];
	struct in_addr in;
	unsigned long n;
	char *end;

	if (!slash || (size_t)(slash - text) >= sizeof(buf))
		return false;
	memcpy(buf, text, (size_t)(slash - text));
	buf[slash - text] = '\0';
	if (inet_pton(AF_INET, buf, &in) != 1 || slash[1] < '1' || slash[1] > '9')
		return false;
	n = strtoul(slash + 1, &end, 10);
	if (*end || n > 30)
		return false;
	*ip = ntohl(in.s_addr);
	*len = (uint8_t)n;
	return true;
}

int scenario_addr_host(const struct conf *at, const char *key, const char *text,
		       const struct scenario_allow *allow, struct addr *a, uint8_t *len, struct err *err)
{
	uint32_t ip, hosts;

	if (!parse_host(text, &ip, len))
		return conf_err(at, err, -EINVAL, "%s is \"%.60s\"; it must be an IPv4 address and a "
				"prefix length up to 30, as in 198.18.0.1/16", key, text);
	hosts = (1u << (32 - *len)) - 1;
	if ((ip & hosts) == 0 || (ip & hosts) == hosts)
		return conf_err(at, err, -EINVAL, "%s: %s is the %s of its prefix; take a host's",
				key, text, ip & hosts ? "broadcast address" : "first address");
	*a = (struct addr){ .lo = ip };
	return check_span(at, key, *a, *a, allow, err);
}
