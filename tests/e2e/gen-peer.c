// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other side of a vhost port without a guest: DPDK's virtio-user driver plays the guest's.
 *
 *	gen-peer SOCKET MS [ADDRESS...]
 *
 * For MS milliseconds it takes in what comes, and asks by ARP for the addresses every 100 ms, from
 * 198.18.0.1; each second of them it also sends an ICMP "host unreachable". For IPv6 addresses it asks
 * by neighbour solicitation, from 2001:2:0:1::1 in VLAN 7. It prints "receiving" at the first probe, and
 * in the end {"probes":N,"answers":N,"asked":N,"icmp":N,"wrong":N}; wrong: answers whose MAC is not
 * 02:d5 and the address (IPv6: 02:d6 and anything), or frames that are neither probes nor answers.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_bus_vdev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
static struct rte_mempool *pool;
static unsigned long probes, answers, asked, icmp, wrong;

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

static int send_frame(const uint8_t *frame, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (!m)
		return 0;
	memcpy(rte_pktmbuf_append(m, len), frame, len);
	if (rte_eth_tx_burst(0, 0, &m, 1) == 1)
		return 1;
	rte_pktmbuf_free(m);
	return 0;
}

static void ask(const char *address)
{
	uint8_t f[60] = { 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1 };

	memcpy(f + 22, mac, 6);
	inet_pton(AF_INET, "198.18.0.1", f + 28);
	inet_pton(AF_INET, address, f + 38);
	asked += (unsigned long)send_frame(f, sizeof(f));
}

static uint32_t sum(const uint8_t *at, int bytes)
{
	uint32_t s = 0;

	for (int i = 0; i < bytes; i += 2)
		s += (uint32_t)at[i] << 8 | at[i + 1];
	return s;
}

static uint32_t fold(uint32_t s)
{
	s = (s & 0xffff) + (s >> 16);
	return (s & 0xffff) + (s >> 16);
}

static void ask6(const char *address)
{
	uint8_t f[90] = { 0x33, 0x33, 0xff, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 7, 0x86, 0xdd, 0x60, 0,
			  0, 0, 0, 32, 58, 255 };
	uint32_t csum;

	inet_pton(AF_INET6, "2001:2:0:1::1", f + 26);
	inet_pton(AF_INET6, "ff02::1:ff00:0", f + 42);
	inet_pton(AF_INET6, address, f + 66);
	memcpy(f + 55, f + 79, 3);
	memcpy(f + 3, f + 79, 3);
	f[58] = 135;
	f[82] = f[83] = 1;
	memcpy(f + 84, mac, 6);
	csum = ~fold(sum(f + 26, 64) + 58 + 32);
	f[60] = (uint8_t)(csum >> 8);
	f[61] = (uint8_t)csum;
	asked += (unsigned long)send_frame(f, sizeof(f));
}

/* Solicited, to the asker, in the VLAN of the question, with the MAC that the frame came from. */
static int is_answer6(const uint8_t *f, unsigned int len)
{
	return len == 90 && !memcmp(f, mac, 6) && f[12] == 0x81 && f[15] == 7 && f[16] == 0x86 &&
	       f[25] == 255 && f[58] == 136 && f[62] == 0x60 && !memcmp(f + 26, f + 66, 16) && f[82] == 2 &&
	       f[84] == 2 && f[85] == 0xd6 && !memcmp(f + 6, f + 84, 6) &&
	       fold(sum(f + 26, 64) + 58 + 32) == 0xffff;
}

/* UDP: IPv4 without a tag, or IPv6 with one. */
static int is_probe(const uint8_t *f, unsigned int len)
{
	if (len == 60 && f[12] == 8 && f[13] == 0)
		return f[42] == 0xd5 && f[43] == 0x7a;
	return len == 84 && f[16] == 0x86 && f[24] == 17 && f[66] == 0xd5 && f[67] == 0x7a;
}

static void complain(const char *address)
{
	uint8_t f[70] = { 2, 0xd5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1 };
	uint32_t csum;

	inet_pton(AF_INET, "198.18.0.1", f + 26);
	inet_pton(AF_INET, address, f + 30);
	f[34] = 3;
	f[35] = 1;
	f[36] = 0xfc; /* the checksum of these two, and nothing else */
	f[37] = 0xfe;
	csum = ~fold(sum(f + 14, 20));
	f[24] = (uint8_t)(csum >> 8);
	f[25] = (uint8_t)csum;
	icmp += (unsigned long)send_frame(f, sizeof(f));
}

static void look_at(const uint8_t *f, unsigned int len)
{
	static const uint8_t prefix[2] = { 2, 0xd5 };

	if (is_probe(f, len)) {
		if (!probes++) {
			puts("receiving");
			fflush(stdout);
		}
	} else if (len == 60 && f[12] == 8 && f[13] == 6 && f[21] == 2 && !memcmp(f, mac, 6) &&
		 !memcmp(f + 22, prefix, 2) && !memcmp(f + 24, f + 28, 4) && !memcmp(f + 6, f + 22, 6))
		answers++;
	else if (is_answer6(f, len))
		answers++;
	else
		wrong++;
}

static void run(long long ms, char **addresses)
{
	long long end = now_ms() + ms, next = 0;
	struct rte_mbuf *pkts[64];

	while (now_ms() < end) {
		unsigned int n = rte_eth_rx_burst(0, 0, pkts, 64);

		for (unsigned int i = 0; i < n; i++) {
			look_at(rte_pktmbuf_mtod(pkts[i], uint8_t *), pkts[i]->data_len);
			rte_pktmbuf_free(pkts[i]);
		}
		if (!n)
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		if (now_ms() < next)
			continue;
		next = now_ms() + 100;
		for (char **a = addresses; *a; a++) {
			if (strchr(*a, ':')) {
				ask6(*a);
				continue;
			}
			ask(*a);
			if ((a - addresses) % 2)
				complain(*a);
		}
	}
}

/* The driver comes up as soon as it is made, so all else is ready before. */
static int open_port(const char *path)
{
	struct rte_eth_conf conf = { 0 };
	char args[256];

	pool = rte_pktmbuf_pool_create("peer", 4095, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	snprintf(args, sizeof(args), "path=%s,queues=1", path);
	return !pool || rte_vdev_init("net_virtio_user0", args) || rte_eth_dev_configure(0, 1, 1, &conf) ||
	       rte_eth_rx_queue_setup(0, 0, 256, 0, NULL, pool) ||
	       rte_eth_tx_queue_setup(0, 0, 256, 0, NULL) || rte_eth_dev_start(0);
}

int main(int argc, char **argv)
{
	char *args[] = { argv[0], "--no-huge", "--no-shconf", "--no-telemetry", "--no-pci", "-m", "64",
			 "-l", "0", "--file-prefix", "gen-peer", "--log-level", "1" };

	if (argc < 3)
		return 2;
	signal(SIGPIPE, SIG_IGN); /* gen may hang up first */
	setenv("RUNTIME_DIRECTORY", "/dev/null", 1); /* nothing to be left behind */
	if (rte_eal_init(sizeof(args) / sizeof(*args), args) < 0 || open_port(argv[1]))
		return 1;
	run(atoll(argv[2]), argv + 3);
	printf("{\"probes\":%lu,\"answers\":%lu,\"asked\":%lu,\"icmp\":%lu,\"wrong\":%lu}\n", probes,
	       answers, asked, icmp, wrong);
	fflush(stdout);
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	return 0;
}
