// SPDX-License-Identifier: GPL-2.0-or-later
/* From /proc/self/net: unlike /sys it always shows the namespace of whoever reads. */
#include "lib/netif.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/err.h"

#define NETIF_LINE 512

/* "  eth0: bytes packets errs drop fifo ..."; drop includes missed. */
uint64_t netif_dropped(const char *name)
{
	FILE *f = fopen("/proc/self/net/dev", "re");
	uint64_t errs, drop, sum = 0;
	char line[NETIF_LINE], *colon;

	while (f && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		if (!strcmp(line + strspn(line, " "), name) &&
		    sscanf(colon + 1, "%*u %*u %" SCNu64 " %" SCNu64, &errs, &drop) == 2)
			sum = errs + drop;
	}
	if (f)
		fclose(f);
	return sum;
}

static unsigned int netif_queues(int fd, struct ifreq *r)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	r->ifr_data = (char *)&channels;
	return !ioctl(fd, SIOCETHTOOL, r) && channels.combined_count ? channels.combined_count : 1;
}

static int netif_ask(int fd, struct ifreq *r, struct netif *n)
{
	if (ioctl(fd, SIOCGIFFLAGS, r))
		return -errno;
	n->up = r->ifr_flags & IFF_UP;
	n->carrier = r->ifr_flags & IFF_RUNNING;
	if (ioctl(fd, SIOCGIFMTU, r))
		return -errno;
	n->mtu = (unsigned int)r->ifr_mtu;
	if (ioctl(fd, SIOCGIFHWADDR, r))
		return -errno;
	n->ethernet = r->ifr_hwaddr.sa_family == ARPHRD_ETHER;
	n->queues = netif_queues(fd, r);
	return 0;
}

int netif_look(const char *name, struct netif *n)
{
	struct ifreq r = {0};
	int fd, ret;

	*n = (struct netif){0};
	if (strlen(name) >= sizeof(r.ifr_name))
		return -ENODEV;
	strcpy(r.ifr_name, name);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = netif_ask(fd, &r, n);
	close(fd);
	return ret;
}

/* Nothing but the flags: for the rest the kernel takes a lock for which it can be waited long. */
int netif_alive(const char *name, struct err *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;
	struct ifreq r = {0};

	if (fd < 0)
		return 0; /* nobody knows */
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &r))
		ret = err_set(err, -ENODEV, "the interface %.64s has gone", name);
	else if (!(r.ifr_flags & IFF_UP))
		ret = err_set(err, -ENETDOWN, "the interface %.64s is down: ip link set %.64s up", name,
			      name);
	close(fd);
	return ret;
}

bool netif_is_up(const char *name)
{
	struct netif n;

	return !netif_look(name, &n) && n.up && n.carrier;
}

/* True if a line of @path is a default route by interface @name. */
static bool netif_route_in(const char *path, const char *name,
			   bool (*is_default)(const char *line, char *name))
{
	FILE *f = fopen(path, "re");
	char line[NETIF_LINE], of[IFNAMSIZ];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = is_default(line, of) && !strcmp(of, name);
	if (f)
		fclose(f);
	return found;
}

/* "eth0 00000000 GATEWAY FLAGS REFCNT USE METRIC 00000000 ..." */
static bool netif_default4(const char *line, char *name)
{
	unsigned int dst, mask;

	return sscanf(line, "%15s %x %*x %*x %*u %*u %*u %x", name, &dst, &mask) == 3 && !dst &&
	       !mask;
}

/* "DST LEN SRC LEN GATEWAY METRIC REFCNT USE FLAGS eth0"; by a reject route nothing leaves. */
static bool netif_default6(const char *line, char *name)
{
	unsigned int len, flags;

	return sscanf(line, "%*32s %x %*32s %*x %*32s %*x %*x %*x %x %15s", &len, &flags, name) == 3 &&
	       !len && strspn(line, "0") == 32 && !(flags & RTF_REJECT);
}

bool netif_has_default_route(const char *name)
{
	return netif_route_in("/proc/self/net/route", name, netif_default4) ||
	       netif_route_in("/proc/self/net/ipv6_route", name, netif_default6);
}
