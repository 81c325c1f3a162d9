/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stateless answers of neighbour discovery (RFC 4861), as lib/arp.h has them for IPv4. */
#ifndef LIB_ND_H
#define LIB_ND_H

#include <stddef.h>
#include <stdint.h>

#include "addrset.h"
#include "ether.h"

/* Ethernet, IPv6 header, advertisement, option with the MAC. */
#define ND_FRAME_LEN (ETHER_LEN + 40u + 24u + 8u) /* without tags */
#define ND_FRAME_MAX (ND_FRAME_LEN + ETHER_TAGS_MAX * ETHER_TAG_LEN)

/* 02:d6 and 32 bits that are a hash of @a: locally administered, unicast. Two of n addresses share
 * one with a chance of about n^2 / 2^33, which harms nobody: the sink judges by address. */
void nd_mac_of(struct addr a, uint8_t mac[6]);

/*
 * Write the answer to @request (a frame that decode() called DECODE_ND_SOLICIT) into @reply,
 * ND_FRAME_MAX bytes: an advertisement with S and O set and the MAC as target link-layer address,
 * to the asker, with the tags of the request. @reply may be @request if that has the room. Returns
 * its length, or 0 if no answer may be given: source unspecified (duplicate address detection, RFC
 * 4862), source equal to target, or the asker's MAC is a group or zero.
 */
size_t nd_reply(const uint8_t *request, uint8_t *reply, const uint8_t mac[6]);

/*
 * Unsolicited advertisement: @a is at @mac, to all nodes in the VLANs @vlans (outer one first), O
 * set, S clear. Linux renews what it has by it; it makes a new entry only from 6.0 on, if
 * accept_untracked_na is set. Returns the length, at most ND_FRAME_MAX.
 */
size_t nd_announce(uint8_t *frame, struct addr a, const uint8_t mac[6], const uint16_t *vlans,
		   unsigned int nr_vlans);

#endif
