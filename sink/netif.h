/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of a network interface, of the caller's network namespace. */
#ifndef SINK_NETIF_H
#define SINK_NETIF_H

#include <stdbool.h>
#include <stdint.h>

/* Frames that came to the interface and that it did not hand to the kernel: dropped, missed or
 * broken, since it exists. 64 bits. 0 if there is no such interface. */
uint64_t netif_dropped(const char *name);

/* True while it is up and has a carrier. */
bool netif_is_up(const char *name);

/* True if a default route, IPv4 or IPv6, of the main table leaves by it. */
bool netif_has_default_route(const char *name);

#endif
