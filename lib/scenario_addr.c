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

typedef unsigned __int128 u128;

struct span {
	int family;
	struct addr first, last;
	const char *what;
};

#define V4(a, b)	{ 0, (a) }, { 0, (b) }
#define V6(a, b, c, d)	{ (a), (b) }, { (c), (d) }
#define ONES		UINT64_MAX

/* RFC 2544, and RFC 5180 with its erratum: the ranges for benchmarks of devices. */
static const struct span lab[] = {
	{ AF_INET, V4(0xc6120000u, 0xc613ffffu), "lab" },
	{ AF_INET6, V6(0x2001000200000000u, 0, 0x200100020000ffffu, ONES), "lab" },
};

/* No host answers there, every host does, or another on each link. */
static const struct span never[] = {
	{ AF_INET, V4(0x00000000u, 0x00ffffffu), "unspecified" },
	{ AF_INET, V4(0x7f000000u, 0x7fffffffu), "loopback" },
	{ AF_INET, V4(0xa9fe0000u, 0xa9feffffu), "link-local" },
	{ AF_INET, V4(0xe0000000u, 0xefffffffu), "multicast" },
	{ AF_INET, V4(0xf0000000u, 0xfffffffeu), "reserved (class E)" },
	{ AF_INET, V4(0xffffffffu, 0xffffffffu), "broadcast" },
	{ AF_INET6, V6(0, 0, 0, 0), "unspecified" },
	{ AF_INET6, V6(0, 1, 0, 1), "loopback" },
	{ AF_INET6, V6(0, 0xffff00000000u, 0, 0xffffffffffffu), "IPv4-mapped" },
	{ AF_INET6, V6(0xfe80000000000000u, 0, 0xfebfffffffffffffu, ONES), "link-local" },
	{ AF_INET6, V6(0xff00000000000000u, 0, ONES, ONES), "multicast" },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static u128 num(struct addr a)
{
	return (u128)a.hi << 64 | a.lo;
}

static struct addr addr(u128 n)
{
	return (struct addr){ .hi = (uint64_t)(n >> 64), .lo = (uint64_t)n };
}

static bool same(struct addr a, struct addr b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

/* --- rules ------------------------------------------------------------------------------------- */

const char *scenario_addr_never(int family, struct addr first, struct addr last, struct addr *a)
{
	for (size_t i = 0; i < NR(never); i++) {
		if (never[i].family != family || num(last) < num(never[i].first) ||
		    num(first) > num(never[i].last))
			continue;
		*a = num(first) > num(never[i].first) ? first : never[i].first;
		return never[i].what;
	}
	return NULL;
}

/* If @a may be sent to, *@last: up to where, at least. */
static bool allowed_to(const struct scenario_allow *allow, int family, u128 a, u128 *last)
{
	const struct addrset *set = family == AF_INET6 ? &allow->ipv6 : &allow->ipv4;

	for (size_t i = 0; i < NR(lab); i++) {
		*last = num(lab[i].last);
		if (lab[i].family == family && a >= num(lab[i].first) && a <= *last)
			return true;
	}
	for (size_t i = 0; i < set->nr_ranges; i++) {
		*last = num(set->ranges[i].last);
		if (a >= num(set->ranges[i].first) && a <= *last)
			return true;
	}
	return false;
}

bool scenario_addr_outside(const struct scenario_allow *allow, int family, struct addr first,
			   struct addr last, struct addr *a)
{
	u128 at = num(first), to;

	while (allowed_to(allow, family, at, &to)) {
		if (to >= num(last))
			return false;
		at = to + 1;
	}
	*a = addr(at);
	return true;
}

int scenario_addr_check(const struct conf *c, const char *key, int family, struct addr a,
			const char *named, const struct scenario_allow *allow, struct err *err)
{
	const char *what = scenario_addr_never(family, a, a, &a);
	char buf[INET6_ADDRSTRLEN];

	if (what)
		return conf_err(c, err, -EINVAL, "%s: %s is %s; exclude it", key,
				addr_text(family, a, buf), what);
	if (!scenario_addr_outside(allow, family, a, a, &a))
		return 0;
	addr_text(family, a, buf);
	return conf_err(c, err, -EINVAL, "%s: %s is outside the lab ranges " LAB_TEXT
			"; if that network is yours, add --allow %s", key, buf, named ? named : buf);
}

/* --- hosts ------------------------------------------------------------------------------------- */

/* The addresses that share the first @len bits with @a. */
static struct span prefix_of(int family, struct addr a, unsigned int len)
{
	unsigned int host = (family == AF_INET6 ? 128 : 32) - len;
	u128 mask = host ? ~(u128)0 >> (128 - host) : 0;

	return (struct span){ family, addr(num(a) & ~mask), addr(num(a) | mask), "prefix" };
}

/* Split "A/LEN" with LEN from 1 to 30 (IPv6: 126). */
static bool parse_host(struct scenario_host *h)
{
	const char *slash = strchr(h->text, '/');
	struct addrset one;
	unsigned long n;
	char *text, *end;
	bool good;

	if (!slash || slash[1] < '1' || slash[1] > '9')
		return false;
	n = strtoul(slash + 1, &end, 10);
	text = strndup(h->text, (size_t)(slash - h->text));
	addrset_init(&one);
	good = text && !addrset_add(&one, text, NULL) && same(one.ranges[0].first,
							      one.ranges[0].last) &&
	       !*end && n <= (one.family == AF_INET6 ? 126 : 30);
	if (good) {
		h->family = one.family;
		h->a = one.ranges[0].first;
		h->len = (uint8_t)n;
	}
	addrset_free(&one);
	free(text);
	return good;
}

int scenario_addr_host(const struct conf *c, const char *key, struct scenario_host *h,
		       const struct scenario_allow *allow, struct err *err)
{
	struct span prefix;

	if (!parse_host(h))
		return conf_err(c, err, -EINVAL,
				"%s is \"%.60s\"; it must be an address and a prefix "
				"length up to 30 (IPv6: 126), as in 198.18.0.1/16 or 2001:2:0:1::1/64",
				key, h->text);
	prefix = prefix_of(h->family, h->a, h->len);
	if (same(h->a, prefix.first) || (h->family == AF_INET && same(h->a, prefix.last)))
		return conf_err(c, err, -EINVAL, "%s: %s is the %s of its prefix; take a host's",
				key,
				h->text, same(h->a, prefix.first) ? "first address" :
								    "broadcast address");
	return scenario_addr_check(c, key, h->family, h->a, NULL, allow, err);
}

bool scenario_addr_on_link(const struct scenario_host *h, int family, struct addr a)
{
	struct span prefix = prefix_of(h->family, h->a, h->len);

	return h->family == family && num(a) >= num(prefix.first) && num(a) <= num(prefix.last);
}

bool scenario_addr_is_dut(const struct scenario *s, int family, struct addr a, const char **key)
{
	*key = "in_address";
	for (uint32_t i = 0; i < s->nr_in; i++)
		if (s->in[i].family == family && same(s->in[i].a, a))
			return true;
	*key = "out_address";
	for (uint32_t i = 0; i < s->nr_out; i++)
		if (s->out[i].family == family && same(s->out[i].a, a))
			return true;
	return false;
}
