/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What makes one kind of port different from the others: one table entry each. */
#ifndef DPDK_PORT_KIND_H
#define DPDK_PORT_KIND_H

#include "dpdk/port.h"

enum { PORT_KIND_ARGS = 512 };

struct port_kind {
	const char *prefix; /* with its colon */
	const char *usage;  /* what follows it, in capitals; "" : nothing may */
	bool no_rx;
	uint32_t rx_mbufs; /* of a receive queue; 0: PORT_RX_MBUFS */
	uint16_t descriptors; /* of a queue; 0: PORT_DESCRIPTORS */

	/* Each may be NULL, and returns 0 or negative errno with the whole sentence. */

	/* Is the text after the colon possible at all? */
	int (*parse)(const struct port_name *name, struct err *err);
	/* As port_rx_queues(), which says 1 without. */
	uint16_t (*rx_queues)(const struct port_name *name);
	/* Before DPDK starts. */
	int (*prepare)(const struct port_name *name, struct eal_options *o, struct err *err);
	/* Can it work, and what are the DPDK device and its arguments (both to be filled in)? */
	int (*describe)(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			struct err *err);
	/* Its queues are set up; it starts next. */
	int (*configured)(struct port *p, struct err *err);
	void (*stopping)(struct port *p);
	bool (*ready)(struct port *p);
	void (*waits_for)(struct port *p, char *buf, size_t size);
	uint32_t (*max_frame)(const struct port *p);
	int (*check)(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err);

	bool umem; /* the driver gives the receive pools' memory to the kernel */
	/* Bytes of frame that a receive buffer has to hold, whatever the frames are; NULL: no more. */
	unsigned int (*rx_bytes)(const struct port_conf *conf);
	bool paired; /* as many queues one way as the other */
	bool on_bus; /* DPDK found the device when it started */
};

extern const struct port_kind port_null, port_pcap, port_ring, port_vhost, port_af_packet,
	port_af_xdp, port_pci, port_vdev;

/* For describe(): refuse an argument that DPDK would split. Else 0. */
int port_plain(const struct port_name *name, struct err *err);

bool port_link_up(const struct port *p);

#endif
