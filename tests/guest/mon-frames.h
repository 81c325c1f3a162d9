/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The IPv6 frames of the rig: probes, and answers of neighbour discovery (RFC 4861). */
#ifndef TESTS_GUEST_MON_FRAMES_H
#define TESTS_GUEST_MON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

#define FRAMES_LEN_MAX 90u

struct frames_probe6 {
	struct in6_addr src, dst;
	uint8_t hops;
	enum { FRAMES_UDP, FRAMES_ECHO, FRAMES_SYN, FRAMES_UNKNOWN_PROTO } kind;
	bool bad_checksum;
};

/* Returns its length, at most FRAMES_LEN_MAX. */
size_t frames_probe6(uint8_t *frame, const struct frames_probe6 *p, const uint8_t dst_mac[6]);

/* @frame of @len bytes is a neighbour solicitation that may be answered: copy its target. */
bool frames_solicit(const uint8_t *frame, size_t len, struct in6_addr *target);

/* Answer it; returns the length. */
size_t frames_advert(const uint8_t *solicit, uint8_t *reply);

struct in6_addr frames_addr6(const char *text);

#endif
