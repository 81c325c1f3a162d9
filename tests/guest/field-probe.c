// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What people reported of the kernel's neighbour tables and routes, shown inside a guest: run in the
 * place of dststorm-mon, it says on the console "ok ITEM: ..." or "not ok ITEM: ..." and powers off.
 * The items are those of docs/field-reports.md. What differs from kernel to kernel is told as "kernel
 * ITEM: WORD" instead, and the test knows what each kernel should say.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#define OUT 0xc6130001u /* 198.19.0.1, ours; the /16 is on-link and nobody answers */

static int rtnl = -1;
static unsigned int ifindex;

static void check(bool good, const char *item, const char *what, long got)
{
	printf("%sok %s: %s (%ld)\n", good ? "" : "not ", item, what, got);
}

static void sysctl(const char *key, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", key);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		printf("not ok sysctl: %s: %s\n", path, strerror(errno));
	close(fd);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Column @n of /proc/net/stat/@file, of the first row (level: the same in each) or of all (counters). */
static long stat_column(const char *file, unsigned int n, bool sum)
{
	char path[64], line[512];
	long total = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/net/stat/%s", file);
	f = fopen(path, "r");
	for (int row = 0; f && fgets(line, sizeof(line), f); row++) {
		char *at = line;
		long v = 0;

		for (unsigned int i = 0; row && i <= n; i++)
			v = strtol(at, &at, 16);
		total += row == 1 || sum ? v : 0;
	}
	if (f)
		fclose(f);
	return total;
}

static long entries(void)
{
	return stat_column("arp_cache", 0, false);
}

static long table_fulls(void)
{
	return stat_column("arp_cache", 12, true);
}

/* --- netlink ------------------------------------------------------------------------------------- */

struct request {
	struct nlmsghdr h;
	union {
		struct ndmsg nd;
		struct rtmsg rt;
		struct ifinfomsg link;
		struct ifaddrmsg addr;
	} u;
	char attrs[128];
};

static void put(struct request *r, int type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((char *)r + NLMSG_ALIGN(r->h.nlmsg_len));

	a->rta_type = (unsigned short)type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static struct request request(int type, int flags, size_t body)
{
	struct request r = {0};

	r.h.nlmsg_type = (unsigned short)type;
	r.h.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags);
	r.h.nlmsg_len = (uint32_t)NLMSG_LENGTH(body);
	return r;
}

/* 0 or negative errno. */
static int ask(struct request *r)
{
	char buf[4096];
	struct nlmsghdr *h = (void *)buf;

	if (send(rtnl, r, r->h.nlmsg_len, 0) < 0 || recv(rtnl, buf, sizeof(buf), 0) < 0)
		return -errno;
	return h->nlmsg_type == NLMSG_ERROR ? ((struct nlmsgerr *)NLMSG_DATA(h))->error : -EPROTO;
}

static int link_set(unsigned int index, unsigned int flags)
{
	struct request r = request(RTM_NEWLINK, 0, sizeof(r.u.link));

	r.u.link.ifi_index = (int)index;
	r.u.link.ifi_flags = flags;
	r.u.link.ifi_change = IFF_UP;
	return ask(&r);
}

static int neigh_add(uint32_t addr, uint16_t state, uint8_t flags)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct request r = request(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof(r.u.nd));
	uint32_t net = htonl(addr);

	r.u.nd.ndm_family = AF_INET;
	r.u.nd.ndm_ifindex = (int)ifindex;
	r.u.nd.ndm_state = state;
	r.u.nd.ndm_flags = flags;
	put(&r, NDA_DST, &net, sizeof(net));
	put(&r, NDA_LLADDR, mac, sizeof(mac));
	return ask(&r);
}

/* 2001:2:0:N::1 on loopback, for good. */
static int neigh6_add(unsigned int n)
{
	static const uint8_t mac[6];
	struct request r = request(RTM_NEWNEIGH, NLM_F_CREATE, sizeof(r.u.nd));
	struct in6_addr dst = {{{0x20, 0x01, 0, 2, 0, 0, (uint8_t)(n >> 8), (uint8_t)n, [15] = 1}}};

	r.u.nd.ndm_family = AF_INET6;
	r.u.nd.ndm_ifindex = (int)if_nametoindex("lo");
	r.u.nd.ndm_state = NUD_PERMANENT;
	put(&r, NDA_DST, &dst, sizeof(dst));
	put(&r, NDA_LLADDR, mac, sizeof(mac));
	return ask(&r);
}

/* 2001:2:1:N::/64 dev lo. */
static int route6_add(unsigned int n)
{
	struct request r = request(RTM_NEWROUTE, NLM_F_CREATE, sizeof(r.u.rt));
	struct in6_addr dst = {{{0x20, 0x01, 0, 2, 0, 1, (uint8_t)(n >> 8), (uint8_t)n}}};
	uint32_t lo = if_nametoindex("lo");

	r.u.rt.rtm_family = AF_INET6;
	r.u.rt.rtm_dst_len = 64;
	r.u.rt.rtm_table = RT_TABLE_MAIN;
	r.u.rt.rtm_protocol = RTPROT_STATIC;
	r.u.rt.rtm_type = RTN_UNICAST;
	put(&r, RTA_DST, &dst, sizeof(dst));
	put(&r, RTA_OIF, &lo, sizeof(lo));
	return ask(&r);
}

static int rtnl_open(uint32_t groups)
{
	struct sockaddr_nl sa = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		printf("not ok netlink: %s\n", strerror(errno));
	return fd;
}

static void thresholds(const char *t1, const char *t2, const char *t3)
{
	sysctl("ipv4/neigh/default/gc_thresh1", t1);
	sysctl("ipv4/neigh/default/gc_thresh2", t2);
	sysctl("ipv4/neigh/default/gc_thresh3", t3);
}

/* All entries of the interface go when it goes down. */
static void flush(void)
{
	struct request r = request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, sizeof(r.u.addr));
	uint32_t net = htonl(OUT);

	link_set(ifindex, 0);
	link_set(ifindex, IFF_UP);
	r.u.addr.ifa_family = AF_INET;
	r.u.addr.ifa_prefixlen = 16;
	r.u.addr.ifa_index = ifindex;
	put(&r, IFA_LOCAL, &net, sizeof(net));
	ask(&r);
}

/* 0 or the errno of one datagram. */
static int udp_to(int fd, uint32_t addr)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(addr)}};

	return sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}

/* --- the items ----------------------------------------------------------------------------------- */

/* Add stale entries until one is refused; how many were added, @why: the refusal. */
static int fill(int *why)
{
	int n = 0;

	*why = 0;
	while (n < 5000 && !*why) {
		*why = -neigh_add(OUT + 1 + (uint32_t)n, NUD_STALE, 0);
		n += !*why;
	}
	return n;
}

/* A loopback TCP connection: 0, or what it failed of. */
static int loopback_connect(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(4000),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int err = 0, on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(listener, 1) < 0)
		err = errno;
	else if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 && errno != EINPROGRESS)
		err = errno;
	else if (poll(&p, 1, 1500) != 1)
		err = ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	close(fd);
	close(listener);
	return err;
}

/* 9, 25, 17: the first refusal comes exactly at gc_thresh3; what a socket is told; loopback. */
static void item_full(void)
{
	int why, added, on = 1, udp = socket(AF_INET, SOCK_DGRAM, 0);
	long before, fulls = table_fulls();

	/* Without it UDP keeps this error to itself. */
	setsockopt(udp, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	thresholds("128", "512", "1024");
	flush();
	before = entries();
	added = fill(&why);
	check(why == ENOBUFS, "9", "the refusal is ENOBUFS", why);
	check(entries() >= 1024 && entries() <= 1024 + before, "9",
	      "gc_thresh3 entries fit, young ones are not collected", entries());
	check(added >= 1024 - before && added <= 1024, "9", "the first refusal is gc_thresh3 less what was there",
	      added);
	check(table_fulls() > fulls, "9", "table_fulls counts it", table_fulls() - fulls);
	why = udp_to(udp, OUT + 9000);
	printf("kernel 25: %s\n", why == ENOBUFS ? "ENOBUFS" : why == EINVAL ? "EINVAL" : strerror(why));
	why = loopback_connect();
	printf("kernel 17: %s\n", why ? "refused" : "connected");
	sleep(6);
	check(!neigh_add(OUT + 9001, NUD_STALE, 0), "9", "5 s later they are collected", entries());
	close(udp);
}

/* 10: the table is one a kernel; each namespace sees only its own part of it. */
static void item_namespaces(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY), mine = rtnl, bad = 0;
	long before = stat_column("ndisc_cache", 0, false), more;

	for (unsigned int k = 0; k < 3; k++) {
		if (unshare(CLONE_NEWNET) < 0)
			printf("not ok 10: %s\n", strerror(errno));
		rtnl = rtnl_open(0); /* left open: it keeps the namespace */
		link_set(1, IFF_UP);
		for (unsigned int i = 0; i < 100; i++)
			bad += !!neigh6_add(i);
	}
	setns(home, CLONE_NEWNET);
	rtnl = mine;
	close(home);
	more = stat_column("ndisc_cache", 0, false) - before;
	check(!bad && more >= 300, "10", "entries of all namespaces are in one count", more);
}

/* 23: entries learned elsewhere are not held against the thresholds. */
static void item_ext_learned(void)
{
	long fulls = table_fulls();
	int bad = 0;

	flush();
	for (uint32_t i = 0; i < 3000; i++)
		bad += !!neigh_add(OUT + 1 + i, NUD_REACHABLE, NTF_EXT_LEARNED);
	check(!bad && table_fulls() == fulls, "23", "3,000 learned entries under a gc_thresh3 of 1,024", bad);
	check(!neigh_add(OUT + 5000, NUD_STALE, 0), "23", "and there is room beside them", entries());
}

/* 32: nothing is told of an entry that waits for its answer, only of its end. */
static void item_events(void)
{
	int events = rtnl_open(RTMGRP_NEIGH), udp = socket(AF_INET, SOCK_DGRAM, 0), n = 0;
	struct pollfd p = {.fd = events, .events = POLLIN};
	char buf[4096];
	long before;

	flush();
	while (poll(&p, 1, 200) > 0) /* of the flush */
		recv(events, buf, sizeof(buf), 0);
	before = entries();
	udp_to(udp, OUT + 77);
	while (poll(&p, 1, 1000) > 0 && recv(events, buf, sizeof(buf), 0) > 0)
		n++;
	check(n == 0 && entries() == before + 1, "32", "no event of an INCOMPLETE entry", n);
	n = poll(&p, 1, 5000);
	check(n == 1, "32", "one when it has failed", n);
	close(events);
	close(udp);
}

/* 36, 37, 35: the first packets of 9,999 routes at once, here and in a fresh namespace. */
static void item_routes6(const char *item)
{
	int fd = socket(AF_INET6, SOCK_DGRAM, 0), bad = 0, unreachable = 0;
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(9)};

	for (unsigned int i = 0; i < 9999; i++)
		bad += !!route6_add(i);
	for (unsigned int i = 0; i < 9999; i++) {
		to.sin6_addr = (struct in6_addr){{{0x20, 0x01, 0, 2, 0, 1, (uint8_t)(i >> 8), (uint8_t)i,
						   0, 0, 0, 0, 0, 0, 0, 1}}};
		if (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
			unreachable += errno == ENETUNREACH;
	}
	check(!bad, item, "9,999 routes are there", bad);
	check(!unreachable, item, "none of their first packets is ENETUNREACH", unreachable);
	close(fd);
}

static void item_routes6_namespace(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY), mine = rtnl;

	unshare(CLONE_NEWNET);
	rtnl = rtnl_open(0);
	link_set(1, IFF_UP);
	item_routes6("37");
	close(rtnl);
	setns(home, CLONE_NEWNET);
	close(home);
	rtnl = mine;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint16_t *p = data;
	uint32_t sum = 0;

	for (; len > 1; len -= 2)
		sum += *p++;
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~(sum + (sum >> 16));
}

/* "Fragmentation needed", from ourselves, about a datagram of port @port to @dst. */
static void frag_needed(uint16_t port, uint32_t dst, uint16_t mtu)
{
	struct {
		struct icmphdr icmp;
		struct iphdr ip;
		struct udphdr udp;
	} p = {.icmp = {.type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED},
	       .ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP},
	       .udp = {.dest = htons(9)}};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(OUT)}};
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);

	p.icmp.un.frag.mtu = htons(mtu);
	p.ip.tot_len = htons(1400);
	p.ip.frag_off = htons(IP_DF);
	p.ip.saddr = htonl(OUT);
	p.ip.daddr = htonl(dst);
	p.ip.check = checksum(&p.ip, sizeof(p.ip));
	p.udp.source = htons(port);
	p.icmp.checksum = checksum(&p, sizeof(p));
	sendto(raw, &p, sizeof(p), 0, (struct sockaddr *)&to, sizeof(to));
	close(raw);
}

static int path_mtu(uint32_t dst, uint16_t *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(dst)}}, own;
	static int fd = -1;
	socklen_t len = sizeof(own);
	int mtu = 0;

	if (port) { /* a socket that stays, for the error to find */
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		connect(fd, (struct sockaddr *)&to, sizeof(to));
		getsockname(fd, (struct sockaddr *)&own, &len);
		*port = ntohs(own.sin_port);
	}
	int probe = socket(AF_INET, SOCK_DGRAM, 0);

	connect(probe, (struct sockaddr *)&to, sizeof(to));
	len = sizeof(mtu);
	getsockopt(probe, IPPROTO_IP, IP_MTU, &mtu, &len);
	close(probe);
	if (!port)
		close(fd);
	return mtu;
}

/* 40: a learned path MTU stays until the cache is flushed. */
static void item_pmtu(void)
{
	uint32_t dst = OUT + 500;
	uint16_t port;
	int before, learned, after;

	flush();
	before = path_mtu(dst, &port);
	frag_needed(port, dst, 700);
	learned = path_mtu(dst, NULL);
	sysctl("ipv4/route/flush", "1");
	after = path_mtu(dst, NULL);
	check(before == 1500 && learned == 700, "40", "a path MTU is learned from an error", learned);
	check(after == 1500, "40", "and forgotten by a flush", after);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("field-probe begins\n");
	rtnl = rtnl_open(0);
	ifindex = if_nametoindex("eth0");
	if (!ifindex)
		printf("not ok interface: there is no eth0\n");
	item_full();
	item_ext_learned();
	item_namespaces();
	item_events();
	item_pmtu();
	item_routes6("36");
	item_routes6_namespace();
	printf("field-probe ends at %.1f s\n", now_s());
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
