/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stateless ARP answers (RFC 826): the MAC is a function of the address, so that a million
 * neighbours cost nothing to hold. lib/nd.h is the same for IPv6.
 */
#ifndef LIB_ARP_H
#define LIB_ARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ether.h"

#define ARP_FRAME_LEN ETHER_LEAST /* without tags */
#define ARP_FRAME_MAX (ARP_FRAME_LEN + ETHER_TAGS_MAX * ETHER_TAG_LEN)

/* 02:d5 followed by the four bytes of @ip (host byte order): locally administered, unicast. */
void arp_mac_of(uint32_t ip, uint8_t mac[6]);

/*
 * Write the answer to @request (a frame that decode() called DECODE_ARP_REQUEST) into @reply,
 * ARP_FRAME_MAX bytes: unicast to the asker, with the tags of the request, zero-padded. @reply may
 * be @request if that has the room. Returns its length, ARP_FRAME_LEN and that of the tags, or 0 if
 * no answer may be given: sender address unspecified (duplicate address detection, RFC 5227), or
 * sender equal to target (announcement).
 */
size_t arp_reply(const uint8_t *request, uint8_t *reply, const uint8_t mac[6]);

/*
 * Gratuitous ARP: @ip (host byte order) is at @mac, to everybody in the VLANs @vlans (outer one
 * first). Returns the length, at most ARP_FRAME_MAX.
 *
 * In the form of a request for the own address, as RFC 5227 section 3 wants it: every host must
 * process the sender of a request, while some ignore replies that nobody asked for. Linux takes
 * both forms alike (it looks past locktime, and makes a new entry if arp_accept is 1), but a reply
 * only if its target MAC repeats the sender's.
 */
size_t arp_announce(uint8_t *frame, uint32_t ip, const uint8_t mac[6], const uint16_t *vlans,
		    unsigned int nr_vlans);

#endif
