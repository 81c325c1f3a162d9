// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/cause.h"

#include <stddef.h>
#include <string.h>

static const char *const cause_names[NR_CAUSES] = {
	[CAUSE_NEIGH_FULL] = "neigh_full",
	[CAUSE_NEIGH_UNRESOLVED] = "neigh_unresolved",
	[CAUSE_NEIGH_FAILED] = "neigh_failed",
	[CAUSE_NO_ROUTE] = "no_route",
	[CAUSE_LOCAL] = "local",
	[CAUSE_BROADCAST] = "broadcast",
	[CAUSE_MARTIAN] = "martian",
	[CAUSE_TTL] = "ttl",
	[CAUSE_QDISC] = "qdisc",
	[CAUSE_SOFTNET] = "softnet",
	[CAUSE_PORT_FULL] = "port_full",
	[CAUSE_OTHER] = "other",
};

struct cause_row {
	const char *reason; /* NULL: any */
	const char *location; /* NULL: any */
	enum cause cause;
};

/*
 * The first row that fits decides. Behind each: the file under net/ and the function that frees.
 * 6.1 gives purged queues the reason NOT_SPECIFIED, 6.12 QUEUE_PURGE; where a row says both kernels
 * nothing else differs. Symbols are those that are left after inlining in Debian's builds.
 */
static const struct cause_row cause_rows[] = {
	/* ipv4/ip_output.c ip_finish_output2: __neigh_create failed, nearly always a full table */
	{"NEIGH_CREATEFAIL", NULL, CAUSE_NEIGH_FULL},
	/* core/neighbour.c __neigh_event_send: the oldest of an unresolved neighbour's queue */
	{"NEIGH_QUEUEFULL", NULL, CAUSE_NEIGH_UNRESOLVED},
	/* ipv4/arp.c arp_error_report (the queue after the last probe), __neigh_event_send (no
	   probes) */
	{"NEIGH_FAILED", NULL, CAUSE_NEIGH_FAILED},
	/* core/neighbour.c __neigh_event_send: the entry was unlinked meanwhile */
	{"NEIGH_DEAD", NULL, CAUSE_NEIGH_FAILED},
	/* core/neighbour.c: what is left in the queue of an entry that fails, is flushed or
	   destroyed */
	{"QUEUE_PURGE", "neigh_timer_handler", CAUSE_NEIGH_FAILED},
	{"QUEUE_PURGE", "neigh_invalidate", CAUSE_NEIGH_FAILED},
	{"QUEUE_PURGE", "neigh_destroy", CAUSE_NEIGH_FAILED},
	{"QUEUE_PURGE", "neigh_flush_dev", CAUSE_NEIGH_FAILED},
	{"QUEUE_PURGE", "__neigh_update", CAUSE_NEIGH_FAILED},
	{"NOT_SPECIFIED", "neigh_timer_handler", CAUSE_NEIGH_FAILED},
	{"NOT_SPECIFIED", "neigh_invalidate", CAUSE_NEIGH_FAILED},
	{"NOT_SPECIFIED", "neigh_destroy", CAUSE_NEIGH_FAILED},
	{"NOT_SPECIFIED", "neigh_flush_dev", CAUSE_NEIGH_FAILED},
	{"NOT_SPECIFIED", "__neigh_update", CAUSE_NEIGH_FAILED},
	/* ipv6/ndisc.c ndisc_error_report: the queue after the last solicitation */
	{"NOT_SPECIFIED", "ndisc_error_report", CAUSE_NEIGH_FAILED},
	/* core/neighbour.c neigh_blackhole: output of an entry that is being taken down */
	{"NOT_SPECIFIED", "neigh_blackhole", CAUSE_NEIGH_FAILED},

	/* ipv6/route.c ip6_pkt_drop to the unspecified address, ipv6/ip6_output.c ip6_forward from
	   a multicast, link-local or unspecified one */
	{"IP_INADDRERRORS", "ip6_pkt_drop", CAUSE_MARTIAN},
	{"IP_INADDRERRORS", "ip6_forward", CAUSE_MARTIAN},
	/* ipv6/ip6_input.c ip6_rcv_core: the loopback address from outside, a multicast source;
	   what is malformed has another reason */
	{"IP_INHDR", "ip6_rcv_core", CAUSE_MARTIAN},

	/* ipv4/route.c ip_error: input without route, or to unreachable, prohibit and blackhole
	   routes */
	{"IP_INNOROUTES", NULL, CAUSE_NO_ROUTE},
	{"IP_INADDRERRORS", NULL, CAUSE_NO_ROUTE},
	{"NOT_SPECIFIED", "ip_error", CAUSE_NO_ROUTE},
	/* ipv4/ip_output.c __ip_queue_xmit */
	{"IP_OUTNOROUTES", NULL, CAUSE_NO_ROUTE},
	/* core/dst.c dst_discard_out, called by dst_discard: output to blackhole routes */
	{"NOT_SPECIFIED", "dst_discard", CAUSE_NO_ROUTE},
	{"NOT_SPECIFIED", "dst_discard_out", CAUSE_NO_ROUTE},

	/* ipv4/udp.c __udp4_lib_rcv, ipv4/tcp_ipv4.c tcp_v4_rcv: a port without a socket */
	{"NO_SOCKET", NULL, CAUSE_LOCAL},
	{"UDP_CSUM", NULL, CAUSE_LOCAL},
	/* ipv4/ip_input.c ip_protocol_deliver_rcu: a protocol without a receiver */
	{"IP_NOPROTO", NULL, CAUSE_LOCAL},
	{"SOCKET_FILTER", NULL, CAUSE_LOCAL},
	{"SOCKET_RCVBUFF", NULL, CAUSE_LOCAL},
	{"SOCKET_CLOSE", NULL, CAUSE_LOCAL},
	/* ipv4/icmp.c icmp_rcv: a message that the host does not answer; ipv6/icmp.c icmpv6_rcv: on
	   6.1 all messages, answered or not */
	{"NOT_SPECIFIED", "icmp_rcv", CAUSE_LOCAL},
	{"NOT_SPECIFIED", "icmpv6_rcv", CAUSE_LOCAL},
	{"ICMP_CSUM", NULL, CAUSE_LOCAL},

	/* ipv4/udp.c __udp4_lib_mcast_deliver, inlined or not: broadcast that no socket takes */
	{"NOT_SPECIFIED", "__udp4_lib_mcast_deliver", CAUSE_BROADCAST},
	{"NOT_SPECIFIED", "__udp4_lib_rcv", CAUSE_BROADCAST},
	/* ipv4/icmp.c icmp_rcv: an echo request to a broadcast address, which is ignored */
	{"INVALID_PROTO", "icmp_rcv", CAUSE_BROADCAST},
	/* ipv6/udp.c __udp6_lib_mcast_deliver, inlined or not; ipv6/ip6_input.c ip6_mc_input:
	   nobody has joined the group */
	{"NOT_SPECIFIED", "__udp6_lib_mcast_deliver", CAUSE_BROADCAST},
	{"NOT_SPECIFIED", "__udp6_lib_rcv", CAUSE_BROADCAST},
	{"NOT_SPECIFIED", "ip6_mc_input", CAUSE_BROADCAST},
	/* ipv4/ip_input.c ip_rcv_finish_core */
	{"UNICAST_IN_L2_MULTICAST", NULL, CAUSE_BROADCAST},

	/* ipv4/ip_input.c ip_rcv_finish_core: ip_route_input_noref refused source or destination */
	{"NOT_SPECIFIED", "ip_rcv_finish_core", CAUSE_MARTIAN},
	{"IP_RPFILTER", NULL, CAUSE_MARTIAN},

	/* ipv4/ip_forward.c ip_forward; the same reason in ip_rcv_core is a malformed header: other
	 */
	{"IP_INHDR", "ip_forward", CAUSE_TTL},
	{"IP_INHDR", "ip6_forward", CAUSE_TTL},

	/* core/dev.c __dev_xmit_skb: what an enqueue() threw away */
	{"QDISC_DROP", NULL, CAUSE_QDISC},
	/* core/dev.c sch_handle_egress, tc actions */
	{"TC_EGRESS", NULL, CAUSE_QDISC},
	/* sched/sch_fq_codel.c drop_func, inlined or not: dequeue() threw it away for having waited
	   too long */
	{"NOT_SPECIFIED", "drop_func", CAUSE_QDISC},
	{"NOT_SPECIFIED", "__fq_codel_dequeue", CAUSE_QDISC},
	{"NOT_SPECIFIED", "fq_codel_dequeue", CAUSE_QDISC},
	/* sched/sch_fq.c, 6.12 */
	{"FQ_BAND_LIMIT", NULL, CAUSE_QDISC},
	{"FQ_HORIZON_LIMIT", NULL, CAUSE_QDISC},
	{"FQ_FLOW_LIMIT", NULL, CAUSE_QDISC},

	/* core/dev.c enqueue_to_backlog: netdev_max_backlog reached, or the flow limit */
	{"CPU_BACKLOG", NULL, CAUSE_SOFTNET},
	/* there too, and core/dev.c flush_backlog: what waited for a device that went down */
	{NULL, "enqueue_to_backlog", CAUSE_SOFTNET},
	{NULL, "flush_backlog", CAUSE_SOFTNET},

	/* drivers with a ring that tell so: tun, veth's users */
	{"FULL_RING", NULL, CAUSE_PORT_FULL},
};

/* Compilers append ".isra.0", ".constprop.0", ".part.0", ".cold". */
bool cause_is_symbol(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '.');
}

enum cause cause_of(const char *reason, const char *location)
{
	for (unsigned i = 0; i < sizeof(cause_rows) / sizeof(*cause_rows); i++) {
		const struct cause_row *r = &cause_rows[i];

		if (r->reason && (!reason || strcmp(r->reason, reason) != 0))
			continue;
		if (!r->location || cause_is_symbol(location, r->location))
			return r->cause;
	}
	return CAUSE_OTHER;
}

const char *cause_name(enum cause c)
{
	return cause_names[c];
}

enum cause cause_parse(const char *name)
{
	for (unsigned i = 0; i < NR_CAUSES; i++)
		if (!strcmp(cause_names[i], name))
			return i;
	return NR_CAUSES;
}
