// SPDX-License-Identifier: GPL-2.0-or-later
#include "arp.h"

#include <string.h>

/* Offsets behind the Ethernet type. */
enum {
	ARP_OP = 6,
	ARP_SENDER_MAC = 8,
	ARP_SENDER_IP = 14,
	ARP_TARGET_MAC = 18,
	ARP_TARGET_IP = 24,
	ARP_END = 28,
};

/* Hardware and protocol: Ethernet and IPv4, and how long their addresses are. */
static const uint8_t arp_spaces[ARP_OP] = {0, 1, 0x08, 0x00, 6, 4};

void arp_mac_of(uint32_t ip, uint8_t mac[6])
{
	mac[0] = 0x02;
	mac[1] = 0xd5;
	mac[2] = (uint8_t)(ip >> 24);
	mac[3] = (uint8_t)(ip >> 16);
	mac[4] = (uint8_t)(ip >> 8);
	mac[5] = (uint8_t)ip;
}

size_t arp_reply(const uint8_t *request, uint8_t *reply, const uint8_t mac[6])
{
	static const uint8_t unspecified[4];
	size_t tags = ether_tags(request);
	const uint8_t *ask = request + ETHER_LEN + tags;
	uint8_t asker[10], target[4], *arp = reply + ETHER_LEN + tags;

	memcpy(asker, ask + ARP_SENDER_MAC, 10); /* MAC and address are neighbours */
	memcpy(target, ask + ARP_TARGET_IP, 4);
	if (!memcmp(asker + 6, unspecified, 4) || !memcmp(asker + 6, target, 4))
		return 0;
	memmove(reply, request, ETHER_LEN + tags);
	memcpy(reply, asker, 6);
	memcpy(reply + 6, mac, 6);
	memcpy(arp, arp_spaces, ARP_OP);
	ether_put16(arp + ARP_OP, 2);
	memcpy(arp + ARP_SENDER_MAC, mac, 6);
	memcpy(arp + ARP_SENDER_IP, target, 4);
	memcpy(arp + ARP_TARGET_MAC, asker, 10);
	memset(arp + ARP_END, 0, ARP_FRAME_LEN - ETHER_LEN - ARP_END);
	return ARP_FRAME_LEN + tags;
}

size_t arp_announce(uint8_t *frame, uint32_t ip, const uint8_t mac[6], const uint16_t *vlans,
		    unsigned int nr_vlans)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	size_t at = ether_put(frame, everybody, mac, vlans, nr_vlans, ETHER_ARP);
	uint8_t *arp = frame + at;

	memset(arp, 0, ARP_FRAME_LEN - ETHER_LEN);
	memcpy(arp, arp_spaces, ARP_OP);
	ether_put16(arp + ARP_OP, 1);
	memcpy(arp + ARP_SENDER_MAC, mac, 6);
	ether_put16(arp + ARP_SENDER_IP, ip >> 16);
	ether_put16(arp + ARP_SENDER_IP + 2, ip & 0xffff);
	memcpy(arp + ARP_TARGET_IP, arp + ARP_SENDER_IP, 4);
	return at + ARP_FRAME_LEN - ETHER_LEN;
}
