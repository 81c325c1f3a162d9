/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stateless ARP answers (RFC 826): the MAC is a function of the address, so that a million
 * neighbours cost nothing to hold.
 */
#ifndef LIB_ARP_H
#define LIB_ARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARP_FRAME_LEN 60u /* least Ethernet frame without FCS */

/* 02:d5 followed by the four bytes of @ip (host byte order): locally administered, unicast. */
void arp_mac_of(uint32_t ip, uint8_t mac[6]);

/*
 * Write the answer to @request (a frame that decode() called DECODE_ARP_REQUEST, at least 42
 * bytes) into @reply, ARP_FRAME_LEN bytes, zero-padded, unicast to the asker. @reply may be
 * @request if that has room for ARP_FRAME_LEN bytes. Returns ARP_FRAME_LEN, or 0 if no answer may
 * be given: sender address unspecified (duplicate address detection, RFC 5227), or sender equal to
 * target (announcement).
 */
size_t arp_reply(const uint8_t *request, uint8_t *reply, const uint8_t mac[6]);

#endif
