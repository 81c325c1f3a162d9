// SPDX-License-Identifier: GPL-2.0-or-later
#include "arp.h"

#include <string.h>

/* Offsets in an Ethernet frame that carries ARP for IPv4. */
enum {
	ARP_ETH_DST = 0,
	ARP_ETH_SRC = 6,
	ARP_OP = 20,
	ARP_SENDER_MAC = 22,
	ARP_SENDER_IP = 28,
	ARP_TARGET_MAC = 32,
	ARP_TARGET_IP = 38,
	ARP_END = 42,
};

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
	/* Ethernet type, hardware and protocol spaces and lengths, operation 2. */
	static const uint8_t fixed[10] = { 0x08, 0x06, 0, 1, 0x08, 0x00, 6, 4, 0, 2 };
	uint8_t asker[10], target[4];

	memcpy(asker, request + ARP_SENDER_MAC, 10); /* MAC and address are neighbours */
	memcpy(target, request + ARP_TARGET_IP, 4);
	if (!memcmp(asker + 6, unspecified, 4) || !memcmp(asker + 6, target, 4))
		return 0;
	memcpy(reply + ARP_ETH_DST, asker, 6);
	memcpy(reply + ARP_ETH_SRC, mac, 6);
	memcpy(reply + ARP_OP - 8, fixed, sizeof(fixed));
	memcpy(reply + ARP_SENDER_MAC, mac, 6);
	memcpy(reply + ARP_SENDER_IP, target, 4);
	memcpy(reply + ARP_TARGET_MAC, asker, 10);
	memset(reply + ARP_END, 0, ARP_FRAME_LEN - ARP_END);
	return ARP_FRAME_LEN;
}
