// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a capture of requests for a MAC, the answers to them, and announcements nobody asked for:
 * both families, without, with one and with two VLAN tags. All but the requests is from the library.
 *
 *	neighbours-mkpcap >FILE
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/arp.h"
#include "lib/nd.h"

#define TARGET4 0xc6130c22u

static const uint16_t vlans[2] = {100, 10};
static const uint8_t asker[6] = {0x52, 0x54, 0, 0xaa, 0xbb, 0xcc};
static const struct addr target6 = {0x2001000200000002, 0x10022};

static void emit(const uint8_t *f, size_t len)
{
	static uint32_t seconds;
	const uint32_t h[4] = {++seconds, 0, (uint32_t)len, (uint32_t)len};

	fwrite(h, sizeof(h), 1, stdout);
	fwrite(f, len, 1, stdout);
}

static void arp(unsigned int nr_vlans)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t who_has[28] = {0,	  1,	8,    0,    6,	4,   0, 1, 0x52, 0x54,
					    0,	  0xaa, 0xbb, 0xcc, 198, 19, 0, 1, 0,	 0,
					    0,	  0,	0,    0,    198, 19, 12, 34};
	uint8_t f[ARP_FRAME_MAX] = {0}, reply[ARP_FRAME_MAX], mac[6];
	size_t at = ether_put(f, everybody, asker, vlans + 2 - nr_vlans, nr_vlans, ETHER_ARP);

	memcpy(f + at, who_has, sizeof(who_has));
	emit(f, at + ETHER_LEAST - ETHER_LEN);
	arp_mac_of(TARGET4, mac);
	emit(reply, arp_reply(f, reply, mac));
	emit(f, arp_announce(f, TARGET4, mac, vlans + 2 - nr_vlans, nr_vlans));
}

static void nd(unsigned int nr_vlans)
{
	static const uint8_t group[6] = {0x33, 0x33, 0xff, 1, 0, 0x22};
	static const uint8_t solicit[72] = {
		0x60, 0, 0, 0, 0, 32, 58, 255, 0x20, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1,
		0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 1, 0, 0x22, 135, 0, 0x2a, 0x83, 0, 0, 0, 0,
		0x20, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0x22, 1, 1, 0x52, 0x54, 0, 0xaa, 0xbb,
		0xcc};
	uint8_t f[ND_FRAME_MAX], reply[ND_FRAME_MAX], mac[6];
	size_t at = ether_put(f, group, asker, vlans + 2 - nr_vlans, nr_vlans, ETHER_IPV6);

	memcpy(f + at, solicit, sizeof(solicit));
	emit(f, at + sizeof(solicit));
	nd_mac_of(target6, mac);
	emit(reply, nd_reply(f, reply, mac));
	emit(f, nd_announce(f, target6, mac, vlans + 2 - nr_vlans, nr_vlans));
}

int main(void)
{
	const uint32_t head[6] = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1};

	fwrite(head, sizeof(head), 1, stdout);
	for (unsigned int nr_vlans = 0; nr_vlans <= 2; nr_vlans++) {
		arp(nr_vlans);
		nd(nr_vlans);
	}
	return fflush(stdout) ? 3 : 0;
}
