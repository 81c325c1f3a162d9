/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link layers of captures: where the network layer begins. Pure. */
#ifndef CAPTURE_LINK_H
#define CAPTURE_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct link_l3 {
	uint16_t type; /* as in Ethernet: 0x0800, 0x86dd */
	uint32_t at;   /* offset of its first byte */
};

/* @dlt: libpcap's number of a link layer. Whether link_l3() can read it. */
bool link_known(int dlt);

/* VLAN tags are passed over. False if the packet ends before. */
bool link_find_l3(int dlt, const uint8_t *bytes, uint32_t len, struct link_l3 *l3);

#endif
