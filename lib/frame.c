// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/frame.h"

#include <sys/socket.h>

#include "lib/probe.h"

enum { ETHER = 14, IPV4 = 20, IPV6 = 40, UDP = 8, TCP = 20, ICMP = 8, MTU_MAX = 9000 };

uint32_t frame_at_l3(const struct frame_shape *s)
{
	return ETHER + FRAME_VLAN_LEN * s->nr_vlans;
}

uint32_t frame_at_l4(const struct frame_shape *s)
{
	return frame_at_l3(s) + (s->family == AF_INET6 ? IPV6 : IPV4);
}

uint32_t frame_at_probe(const struct frame_shape *s)
{
	static const uint32_t header[] = { [FRAME_UDP] = UDP, [FRAME_TCP_SYN] = TCP,
					   [FRAME_ICMP_ECHO] = ICMP };

	return frame_at_l4(s) + header[s->protocol];
}

uint32_t frame_len_min(const struct frame_shape *s)
{
	return frame_at_probe(s) + PROBE_LEN + FRAME_FCS;
}

uint32_t frame_len_max(const struct frame_shape *s)
{
	return frame_at_l3(s) + MTU_MAX + FRAME_FCS;
}
