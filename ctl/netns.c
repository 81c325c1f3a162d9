// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "ctl/ctl.h"
#include "ctl/netns.h"

#define NETNS_MTU_MIN	 1500u
#define NETNS_FIRST_INDEX 1000000

static int netns_enter(int ns, struct err *err)
{
	if (setns(ns, CLONE_NEWNET) < 0)
		return err_set(err, -errno, "no way into a network namespace: %s", strerror(errno));
	return 0;
}

/* Write a sysctl of the namespace that we are in. One that this kernel lacks needs no writing. */
static void netns_sysctl(const char *key, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", key);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		fprintf(stderr, "dststorm: %s: %s\n", path, strerror(errno));
	close(fd);
}

/*
 * No packets merged, cut or finished by hardware that is not there: who captures here sees what a
 * wire would carry.
 */
static void netns_plain(const char *ifname)
{
	static const uint32_t off[] = {ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO, ETHTOOL_SGSO,
				       ETHTOOL_SGRO};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (unsigned int i = 0; fd >= 0 && i < sizeof(off) / sizeof(*off); i++) {
		struct ethtool_value v = {.cmd = off[i]};
		struct ifreq ifr = {.ifr_data = (char *)&v};

		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
		ioctl(fd, SIOCETHTOOL, &ifr); /* what a kernel cannot switch is off, or no matter */
	}
	if (fd >= 0)
		close(fd);
}

static int netns_ip(struct err *err, char *const argv[])
{
	char out[64];
	int ret = ctl_capture(argv, out, sizeof(out), err);

	return ret ? err_wrap(err, ret, "ip %s", argv[1]) : 0;
}

/* The greatest MTU that a frame of the scenario needs. */
static unsigned int netns_mtu(const struct scenario *s)
{
	unsigned int mtu = NETNS_MTU_MIN;

	for (uint32_t i = 0; i < s->nr_streams; i++) {
		const struct scenario_stream *st = &s->streams[i];

		for (uint32_t k = 0; k < st->nr_sizes; k++) {
			unsigned int need = st->sizes[k].bytes - FRAME_FCS - frame_at_l3(&st->shape);

			mtu = need > mtu ? need : mtu;
		}
	}
	return mtu;
}

/* In the DUT's namespace: interface @name there, and its peer @peer in namespace @ns. Interface
 * numbers are ours alone on this kernel, so that a drop tells by its number where it happened. */
static int netns_pair(const char *name, const char *mac, const char *peer, int ns, int index,
		      unsigned int mtu, struct err *err)
{
	char number[2][16], bytes[16], where[48];
	char *argv[] = {(char *)"ip", (char *)"link", (char *)"add", (char *)name, (char *)"index",
			number[0], (char *)"address", (char *)mac, (char *)"mtu", bytes,
			(char *)"numtxqueues", (char *)"1", (char *)"numrxqueues", (char *)"1",
			(char *)"type", (char *)"veth", (char *)"peer", (char *)"name", (char *)peer,
			(char *)"index", number[1], (char *)"mtu", bytes, (char *)"numtxqueues",
			(char *)"1", (char *)"numrxqueues", (char *)"1", (char *)"netns", where, NULL};

	snprintf(number[0], sizeof(number[0]), "%d", index);
	snprintf(number[1], sizeof(number[1]), "%d", index + 1);
	snprintf(bytes, sizeof(bytes), "%u", mtu);
	snprintf(where, sizeof(where), "/proc/%d/fd/%d", getpid(), ns);
	return netns_ip(err, argv);
}

static int netns_up(const char *name, struct err *err)
{
	char *argv[] = {(char *)"ip", (char *)"link", (char *)"set", (char *)name, (char *)"up", NULL};

	return netns_ip(err, argv);
}

static void netns_without_ipv6(void)
{
	netns_sysctl("ipv6/conf/all/disable_ipv6", "1");
	netns_sysctl("ipv6/conf/default/disable_ipv6", "1");
}

/* Where gen and sink live nothing has an address, so that the kernel there neither answers nor asks. */
static void netns_mute(void)
{
	netns_without_ipv6();
	netns_sysctl("ipv4/ip_forward", "0");
}

static bool netns_has_ipv6(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_streams; i++)
		if (s->streams[i].destinations.family == AF_INET6)
			return true;
	return false;
}

/* An end of a pair, ready: a port that is opened wants to find its link up. */
static int netns_end(int ns, const char *name, struct err *err)
{
	int ret = netns_enter(ns, err);

	if (ret)
		return ret;
	netns_plain(name);
	return netns_up(name, err);
}

static int netns_join(const int ns[LAB_NR_NS], const struct scenario *s, struct err *err)
{
	int index = NETNS_FIRST_INDEX + 4 * getpid();
	unsigned int mtu = netns_mtu(s);
	int ret = netns_enter(ns[LAB_NS_GEN], err);

	if (ret)
		return ret;
	netns_mute();
	ret = netns_enter(ns[LAB_NS_SINK], err);
	if (ret)
		return ret;
	netns_mute();
	ret = netns_enter(ns[LAB_NS_DUT], err);
	/* What the DUT says of its own would be lost by a slow capture like a packet of the flood. */
	if (!ret && !netns_has_ipv6(s))
		netns_without_ipv6();
	if (!ret)
		ret = netns_pair("in", LAB_IN_MAC, "gen", ns[LAB_NS_GEN], index, mtu, err);
	if (!ret)
		ret = netns_pair("out", LAB_OUT_MAC, "sink", ns[LAB_NS_SINK], index + 2, mtu, err);
	if (!ret)
		ret = netns_up("lo", err);
	if (!ret)
		ret = netns_end(ns[LAB_NS_DUT], "in", err);
	if (!ret)
		ret = netns_end(ns[LAB_NS_DUT], "out", err);
	if (!ret)
		ret = netns_end(ns[LAB_NS_GEN], "gen", err);
	return ret ? ret : netns_end(ns[LAB_NS_SINK], "sink", err);
}

static int netns_unshare(int *ns, struct err *err)
{
	if (unshare(CLONE_NEWNET) < 0)
		return err_set(err, -errno, "no network namespace can be made: %s", strerror(errno));
	*ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns < 0 ? err_set(err, -errno, "/proc/self/ns/net: %s", strerror(errno)) : 0;
}

int netns_make(int ns[LAB_NR_NS], const struct scenario *s, struct err *err)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), ret = 0;
	struct err lost;

	if (home < 0)
		return err_set(err, -errno, "/proc/self/ns/net: %s", strerror(errno));
	for (unsigned int i = 0; i < LAB_NR_NS && !ret; i++)
		ret = netns_unshare(&ns[i], err);
	if (!ret)
		ret = netns_join(ns, s, err);
	if (netns_enter(home, &lost) < 0 && !ret)
		ret = err_set(err, -EIO, "%s", lost.text);
	close(home);
	if (ret)
		netns_free(ns);
	return ret;
}

void netns_free(int ns[LAB_NR_NS])
{
	for (unsigned int i = 0; i < LAB_NR_NS; i++) {
		if (ns[i] >= 0)
			close(ns[i]);
		ns[i] = -1;
	}
}
