// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the netns lab refuses. The kernel has one neighbour table a family, not one a namespace: a
 * flood of neighbours in a namespace garbage-collects those of the host.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/netns.h"

typedef unsigned __int128 u128;

static u128 netns_u128(struct addr a)
{
	return (u128)a.hi << 64 | a.lo;
}

/* The addresses from @a with prefix length @len: first and last. */
static void netns_span(int family, struct addr a, unsigned int len, u128 *first, u128 *last)
{
	unsigned int host = (family == AF_INET ? 32 : 128) - len;
	u128 mask = host >= 128 ? ~(u128)0 : ((u128)1 << host) - 1;

	*first = netns_u128(a) & ~mask;
	*last = *first | mask;
}

static int netns_put(struct addrset *set, int family, u128 first, u128 last,
		     int (*put)(struct addrset *, const char *, struct err *), struct err *err)
{
	struct addr a = {(uint64_t)(first >> 64), (uint64_t)first};
	struct addr b = {(uint64_t)(last >> 64), (uint64_t)last};
	char text[100], one[INET6_ADDRSTRLEN], other[INET6_ADDRSTRLEN];

	snprintf(text, sizeof(text), "%s-%s", addr_text(family, a, one), addr_text(family, b, other));
	return put(set, text, err);
}

/* Add what of @from lies in [first, last]. */
static int netns_add_common(struct addrset *set, const struct addrset *from, u128 first, u128 last,
			    struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < from->nr_ranges && !ret; i++) {
		u128 a = netns_u128(from->ranges[i].first), b = netns_u128(from->ranges[i].last);

		if (b >= first && a <= last)
			ret = netns_put(set, from->family, a > first ? a : first,
					b < last ? b : last, addrset_add, err);
	}
	return ret;
}

/*
 * Neighbours that the DUT will have: destinations that are on-link and that no route takes elsewhere,
 * and the next hops of the routes.
 */
static int netns_neighbours(const struct scenario *s, int family, uint64_t *count, struct err *err)
{
	struct addrset set;
	u128 first, last;
	int ret = 0;

	addrset_init(&set);
	for (uint32_t i = 0; i < s->nr_out; i++) {
		netns_span(s->out[i].family, s->out[i].a, s->out[i].len, &first, &last);
		for (uint32_t k = 0; k < s->nr_streams && !ret && s->out[i].family == family; k++)
			if (s->streams[k].destinations.family == family)
				ret = netns_add_common(&set, &s->streams[k].destinations, first, last, err);
	}
	*count = 0;
	for (uint32_t i = 0; i < s->nr_routes && !ret; i++) {
		if (s->routes[i].family != family)
			continue;
		netns_span(family, s->routes[i].prefix, s->routes[i].len, &first, &last);
		*count += s->routes[i].type == ROUTE_VIA;
		ret = netns_put(&set, family, first, last, addrset_exclude, err);
	}
	/* With nothing left nothing is on-link: that is no error. */
	if (!ret && !addrset_seal(&set, NULL))
		*count += addrset_count(&set);
	addrset_free(&set);
	return ret;
}

/* The number behind the first line of @path (@hex: "entries" of /proc/net/stat), or in it. */
static bool netns_number(const char *path, bool hex, unsigned long *n)
{
	FILE *f = fopen(path, "re");
	bool found = f && (hex ? fscanf(f, "%*[^\n] %lx", n) : fscanf(f, "%lu", n)) == 1;

	if (f)
		fclose(f);
	return found;
}

static int netns_check_family(const struct scenario *s, int family, struct err *err)
{
	const char *name = family == AF_INET ? "ipv4" : "ipv6";
	unsigned long have, most;
	char path[96];
	uint64_t want;
	int ret = netns_neighbours(s, family, &want, err);

	if (ret || !want)
		return ret;
	snprintf(path, sizeof(path), "/proc/net/stat/%s", family == AF_INET ? "arp_cache" : "ndisc_cache");
	if (!netns_number(path, true, &have))
		return err_set(err, -ENODEV,
			       "%s cannot be read: lab netns has to see how full the host's neighbour table is: start it in the first network namespace",
			       path);
	snprintf(path, sizeof(path), "/proc/sys/net/%s/neigh/default/gc_thresh2", name);
	if (!netns_number(path, false, &most))
		return err_set(err, -ENODEV, "%s cannot be read", path);
	if (want + have <= most)
		return 0;
	return err_set(err, -EINVAL,
		       "lab netns shares the host's neighbour table: %llu neighbours and the %lu that it has do not fit under net.%s.neigh.default.gc_thresh2 = %lu: use fewer destinations, a route to them via one next hop, or lab: vm",
		       (unsigned long long)want, have, name, most);
}

static int netns_check_sysctls(const struct scenario *s, struct err *err)
{
	for (uint32_t i = 0; i < s->nr_sysctls; i++) {
		const char *key = s->sysctls[i].key;

		if (strstr(key, ".gc_thresh") || strstr(key, ".gc_interval"))
			return err_set(err, -EINVAL,
				       "dut.sysctl.%s: lab netns cannot set it: there is one for the whole kernel, and it is the host's: use lab: vm",
				       key);
		if (strncmp(key, "net.", 4))
			return err_set(err, -EINVAL,
				       "dut.sysctl.%s: lab netns would change the host itself: use lab: vm", key);
	}
	return 0;
}

int netns_check(const struct scenario *s, struct err *err)
{
	int ret;

	if (geteuid())
		return err_set(err, -EPERM, "lab netns makes network namespaces, which needs root: use sudo, or lab: vm");
	ret = netns_check_sysctls(s, err);
	if (!ret)
		ret = netns_check_family(s, AF_INET, err);
	return ret ? ret : netns_check_family(s, AF_INET6, err);
}
