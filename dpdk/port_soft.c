// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ports that exist in DPDK only.
 *
 *	null:		takes everything and does nothing: what making packets costs
 *	pcap:FILE	writes them down
 *	ring:NAME	a loop: what is sent comes in again on the same queue, in the same process; what
 *			is not taken in is refused after 1,024 packets. For seeing what sending through
 *			a queue costs, and what a program does with its own packets, without a machine
 *			around it. A secondary process of DPDK's may attach to it by NAME.
 *	vdev:DEVICE	whatever else there is a driver for, by DPDK's own words: net_tap0,iface=tap7
 */
#include "dpdk/port_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/netif.h"

enum { PCAP_FILE_HEADER = 24, PCAP_PACKET_HEADER = 16 };

static int null_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			 struct err *err)
{
	(void)err;
	snprintf(device, 64, "net_null%u", p->number);
	snprintf(args, PORT_KIND_ARGS, "no-rx=1");
	return 0;
}

const struct port_kind port_null = {
	.prefix = "null:", .usage = "", .no_rx = true, .describe = null_describe,
};

/* --- pcap: ------------------------------------------------------------------------------------ */

static int pcap_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			 struct err *err)
{
	const char *path = p->name.arg;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct stat st;

	if (fd < 0)
		return err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		st.st_mode = 0;
	close(fd);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EIO, "%s is no regular file, so nobody could tell whether all "
			       "was written: give a file", path);
	snprintf(device, 64, "net_pcap%u", p->number);
	if (snprintf(args, PORT_KIND_ARGS, "tx_pcap=%s", path) < PORT_KIND_ARGS)
		return 0;
	return err_set(err, -ENAMETOOLONG, "port %.80s...: the path is too long for DPDK: give a "
		       "shorter or relative one", p->name.text);
}

static int pcap_check(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err)
{
	uint64_t least = PCAP_FILE_HEADER + sent_pkts * PCAP_PACKET_HEADER + sent_bytes;
	struct stat st;

	if (stat(p->name.arg, &st))
		return err_set(err, -errno, "%s: %s", p->name.arg, strerror(errno));
	if ((uint64_t)st.st_size >= least)
		return 0;
	return err_set(err, -EIO, "%s has %jd bytes where %" PRIu64 " packets make %" PRIu64
		       ": is the disk full?", p->name.arg, (intmax_t)st.st_size, sent_pkts, least);
}

const struct port_kind port_pcap = {
	.prefix = "pcap:",
	.usage = "FILE",
	.no_rx = true,
	.parse = port_plain,
	.describe = pcap_describe,
	.check = pcap_check,
};

/* --- ring: ------------------------------------------------------------------------------------ */

static int ring_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			 struct err *err)
{
	(void)args;
	if (strlen(p->name.arg) > 16 || strpbrk(p->name.arg, " /"))
		return err_set(err, -EINVAL, "port '%.80s': a name has at most 16 bytes, and no space "
			       "or slash", p->name.text);
	snprintf(device, 64, "net_ring_%s", p->name.arg);
	return 0;
}

const struct port_kind port_ring = {
	.prefix = "ring:", .usage = "NAME", .parse = port_plain, .describe = ring_describe,
};

/* --- vdev: ------------------------------------------------------------------------------------ */

/* Drivers call the interface that they use iface, rx_iface, remote and more. */
static int vdev_allowed(const struct port *p, struct err *err)
{
	const char *at = p->name.arg;
	char value[IFNAMSIZ];
	size_t len;

	while (p->conf.tx && (at = strchr(at, '='))) {
		len = strcspn(++at, ",");
		if (len >= sizeof(value))
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)len, at);
		if (netif_has_default_route(value))
			return err_set(err, -EPERM, "port %s: a default route leaves by %s, and what is "
				       "sent there may reach anybody: use another interface, or a "
				       "network namespace", p->name.text, value);
	}
	return 0;
}

/* A virtio_user that is the server leaves its socket when it ends before a peer came. */
static int vdev_socket(struct port *p, const char *args, struct err *err)
{
	const char *path = strstr(args, "path=");
	int len;

	if (strncmp(p->device, "net_virtio_user", 15) || !path || !strstr(args, "server=1"))
		return 0;
	path += strlen("path=");
	len = (int)strcspn(path, ",");
	if (len >= (int)sizeof(p->socket))
		return err_set(err, -ENAMETOOLONG, "port %.80s...: the path of a socket has at most "
			       "107 bytes: give a shorter or relative one", p->name.text);
	snprintf(p->socket, sizeof(p->socket), "%.*s", len, path);
	if (access(p->socket, F_OK))
		return 0;
	/* Not ours. Looking who listens would be the peer that its server waits for. */
	p->socket[0] = '\0';
	return err_set(err, -EADDRINUSE, "port %.80s: %.*s is there already: end who uses it and "
		       "remove it, or choose another path", p->name.text, len, path);
}

static int vdev_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS],
			 struct err *err)
{
	size_t len = strcspn(p->name.arg, ",");
	int ret;

	if (len >= 64 || strlen(p->name.arg) >= PORT_KIND_ARGS)
		return err_set(err, -ENAMETOOLONG, "port %.80s...: too long for DPDK", p->name.text);
	snprintf(device, 64, "%.*s", (int)len, p->name.arg);
	snprintf(args, PORT_KIND_ARGS, "%s", p->name.arg + len + (p->name.arg[len] == ','));
	ret = vdev_allowed(p, err);
	return ret ? ret : vdev_socket(p, args, err);
}

const struct port_kind port_vdev = {
	.prefix = "vdev:", .usage = "DEVICE", .describe = vdev_describe,
};
