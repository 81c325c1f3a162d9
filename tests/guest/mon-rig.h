/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest between two wires, for the tests of dststorm-mon: QEMU under TCG, its two network devices
 * and its virtio-serial port on socket pairs, so that no port of this machine is used and the wires
 * lose nothing: they push back. The rig is both neighbours of the guest and its controller.
 */
#ifndef TESTS_GUEST_MON_RIG_H
#define TESTS_GUEST_MON_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "lib/wire.h"
#include "tests/guest/mon-frames.h"

enum { RIG_IN, RIG_OUT, RIG_WIRES };

struct rig {
	pid_t qemu;
	int wire[RIG_WIRES], control;
	struct wire_reader reader;
	json_int_t next_id;

	bool answer[RIG_WIRES]; /* answer ARP and neighbour solicitations */
	bool stalled[RIG_WIRES]; /* do not even read */
	uint64_t arps[RIG_WIRES]; /* requests seen */
	uint64_t ipv4[RIG_WIRES]; /* IPv4 packets seen */
	uint64_t udp_out; /* probes of either family that came out: delivered */
	uint64_t icmp_in; /* ICMP that the guest sent back, ICMPv6 errors too */
	struct rig_frame {
		uint8_t bytes[FRAMES_LEN_MAX];
		uint8_t len;
	} * late[RIG_WIRES]; /* answers that wait for room on the wire */
	unsigned nr_late[RIG_WIRES];
	uint32_t dead; /* an address that never answers, 0 for none */
	struct in6_addr dead6; /* likewise */

	json_t *overrun; /* the last such event */
	unsigned alives; /* events seen */
	unsigned samples;
	uint64_t alive_forwarded;
	uint64_t cost_ns_max, cost_ns_min; /* of the samples while running */
	uint64_t sample_ns, gap_ns_max; /* when the last one was taken; between two of them */
	uint64_t replies; /* answers given */
};

struct rig_packet {
	uint32_t src, dst; /* host byte order */
	uint8_t ttl;
	bool bad_checksum;
	bool echo; /* an ICMP echo request instead of UDP */
};

/* Boot; the process ends with the rig. Exits on failure: a test tool. */
void rig_boot(struct rig *r, const char *kernel_dir, const char *initramfs, const char *console);

/* Whatever happens on the wires and the control line in the next @ms. */
void rig_pump(struct rig *r, int ms);

/* Ask mon; the result, or NULL with *@error set to the error object. */
json_t *rig_call(struct rig *r, const char *method, json_t *params, json_t **error);

/* Into the guest's first interface; waits while the wire is full. */
void rig_send(struct rig *r, const struct rig_packet *p);
void rig_send6(struct rig *r, const struct frames_probe6 *p);

/* For a process that only floods: the wire's answers and the control line belong to its parent. */
void rig_leave_control(struct rig *r);

/* Wait for QEMU's end, at most @ms. Its exit status, -1 if it still runs, 128+n for a signal. */
int rig_wait_end(struct rig *r, int ms);
void rig_kill(struct rig *r);

/* Walk "neigh.ipv4.entries"; -1 if it is not there. */
json_int_t rig_int(const json_t *obj, const char *path);

#endif
