// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several ports in one process: ports-open FRAME QUEUES vlan|plain PORT...
 *
 * Sends 2,000 frames of FRAME bytes from each port over all its queues; they must come in at the next
 * port given, the last one's at the first, byte for byte. Prints a line for each port:
 * "PORT max_frame=N sent=N got=N wrong=N". Exit status 0, or that of a port that cannot be opened, 2
 * or 3, with its sentence on standard error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dpdk/eal.h"
#include "dpdk/port.h"
#include "lib/err.h"

enum { PORTS = 4, FRAMES = 2000, BURST = 20, PATIENCE_MS = 2000 };

static struct port_conf conf = { .rx = true, .tx = true };
static struct port ports[PORTS];
static unsigned int nr, got[PORTS], wrong[PORTS], sent[PORTS];

static int fail(int ret, const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
}

/* Frames of an experimental type that nothing else sends; byte 14 tells the sender. */
static void fill(uint8_t *frame, unsigned int from)
{
	memset(frame, (int)('a' + from), conf.frame_max);
	memcpy(frame, (uint8_t[]){ 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5 }, 14);
}

static void take(unsigned int to)
{
	unsigned int from = (to + nr - 1) % nr, n;
	uint8_t want[PORT_FRAME_MAX];
	struct rte_mbuf *m[BURST];

	fill(want, from);
	for (uint16_t q = 0; q < ports[to].nr_rx; q++) {
		n = rte_eth_rx_burst(ports[to].id, q, m, BURST);
		for (unsigned int i = 0; i < n; i++) {
			const uint8_t *at = rte_pktmbuf_mtod(m[i], const uint8_t *);

			if (m[i]->data_len > 14 && at[12] == 0x88 && at[13] == 0xb5) {
				got[to]++;
				wrong[to] += m[i]->data_len != conf.frame_max ||
					     memcmp(at, want, conf.frame_max);
			}
		}
		rte_pktmbuf_free_bulk(m, n);
	}
}

static void give(unsigned int from, unsigned int burst)
{
	struct port *p = &ports[from];
	uint16_t q = (uint16_t)(burst % p->nr_tx);
	struct rte_mbuf *m[BURST];
	unsigned int n;

	if (rte_pktmbuf_alloc_bulk(p->tx_pools[q], m, BURST))
		return;
	for (unsigned int i = 0; i < BURST; i++)
		fill((uint8_t *)rte_pktmbuf_append(m[i], conf.frame_max), from);
	n = rte_eth_tx_burst(p->id, q, m, BURST);
	rte_pktmbuf_free_bulk(m + n, BURST - n);
	sent[from] += n;
}

static void exchange(void)
{
	for (unsigned int burst = 0; burst < FRAMES / BURST; burst++) {
		for (unsigned int i = 0; i < nr; i++)
			give(i, burst);
		for (unsigned int i = 0; i < nr; i++)
			take(i);
	}
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		unsigned int missing = 0;

		for (unsigned int i = 0; i < nr; i++) {
			take(i);
			missing += got[i] < sent[(i + nr - 1) % nr];
		}
		if (!missing)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static int open_all(char **texts)
{
	struct eal_options eal = { .name = "ports-open", .memory_mb = PORT_MEMORY_BASE_MB };
	struct port_name names[PORTS];
	struct err err;
	int ret = 0;

	for (unsigned int i = 0; i < nr; i++) {
		ret = port_parse(texts[i], &names[i], &err);
		if (ret)
			return fail(ret, &err);
		eal.memory_mb += port_memory_mb(&names[i], &conf);
	}
	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = port_prepare(&names[i], &eal, &err);
	if (!ret)
		ret = eal_start(&eal, &err);
	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = port_open(&ports[i], &names[i], &conf, &err);
	return ret ? fail(ret, &err) : 0;
}

int main(int argc, char **argv)
{
	int ret;

	if (argc < 5 || argc > 4 + PORTS)
		return EXIT_USAGE;
	conf.frame_max = conf.rx_frame_max = (uint16_t)atoi(argv[1]);
	conf.nr_queues = (uint16_t)atoi(argv[2]);
	conf.vlan = !strcmp(argv[3], "vlan");
	nr = (unsigned int)argc - 4;
	ret = open_all(argv + 4);
	if (!ret)
		exchange();
	for (unsigned int i = 0; i < nr && !ret; i++)
		printf("%s max_frame=%u sent=%u got=%u wrong=%u\n", ports[i].name.text,
		       port_max_frame(&ports[i]), sent[i], got[i], wrong[i]);
	for (unsigned int i = 0; i < nr; i++)
		port_close(&ports[i]);
	eal_stop();
	return ret;
}
