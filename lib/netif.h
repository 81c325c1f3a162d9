/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of a network interface, of the caller's network namespace. */
#ifndef LIB_NETIF_H
#define LIB_NETIF_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct netif {
	bool up, carrier; /* carrier: its other end is there, too */
	bool ethernet;
	unsigned int mtu;
	unsigned int queues; /* "combined channels" of the driver; 1 where it knows none */
};

/* What there is to know of @name. Returns 0, or -ENODEV if there is no such interface. */
int netif_look(const char *name, struct netif *n);

/* Frames that came to the interface and that it did not hand to the kernel: dropped, missed or
 * broken, since it exists. 64 bits. 0 if there is no such interface. */
uint64_t netif_dropped(const char *name);

/* 0, or negative errno with a sentence once it has gone (-ENODEV) or is set down (-ENETDOWN). */
int netif_alive(const char *name, struct err *err);

/* True while it is up and has a carrier. */
bool netif_is_up(const char *name);

/* True if a default route, IPv4 or IPv6, of the main table leaves by it. */
bool netif_has_default_route(const char *name);

#endif
