// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/link.h"
#include "lib/err.h"

enum { ETH_LEN = 14, IP4_DST = 16, IP4_LEN = 20, IP6_DST = 24, IP6_LEN = 40 };

/* --- a file ----------------------------------------------------------------------------------- */

static int open_file(const char *path, pcap_t **out, struct err *err)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *f = fopen(path, "re");
	struct stat st;
	pcap_t *p;

	if (!f)
		return err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode)) {
		fclose(f);
		return err_set(err, -EISDIR, "%s is a directory: give a capture", path);
	}
	p = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!p) {
		fclose(f);
		return err_set(err, -EINVAL, "%s is no capture that can be read: %s", path, why);
	}
	if (!link_known(pcap_datalink(p))) {
		const char *name = pcap_datalink_val_to_name(pcap_datalink(p));

		err_set(err, -EINVAL, "%s has link type %s: Ethernet, Linux cooked or bare IP is needed",
			path, name ? name : "unknown");
		pcap_close(p);
		return -EINVAL;
	}
	*out = p;
	return 0;
}

/* The next packet: 1, 0 at the end, or negative errno. @nr: read so far. */
static int next_packet(pcap_t *p, const char *path, uint64_t nr, struct pcap_pkthdr **header,
		       const uint8_t **bytes, struct err *err)
{
	int ret = pcap_next_ex(p, header, bytes);

	if (ret == 1)
		return 1;
	if (ret == PCAP_ERROR_BREAK)
		return 0;
	return err_set(err, -EINVAL, "%s breaks off after %" PRIu64 " packets: %s", path, nr,
		       pcap_geterr(p));
}

/* --- packets ---------------------------------------------------------------------------------- */

struct reading {
	struct capture *c;
	const char *path;
	int dlt;
	size_t size, room, packets_room; /* of bytes, used and in all; of packets */
};

static int make_room(struct reading *r, size_t len, struct err *err)
{
	struct capture *c = r->c;

	if (r->size + len > CAPTURE_BYTES_MAX)
		return err_set(err, -EFBIG, "%s has more than %" PRIu64 " MB of packets: cut it to the "
			       "first ones with editcap", r->path, CAPTURE_BYTES_MAX >> 20);
	if (c->nr == r->packets_room) {
		size_t room = r->packets_room ? 2 * r->packets_room : 1024;
		void *more = reallocarray(c->packets, room, sizeof(*c->packets));

		if (!more)
			return err_set(err, -ENOMEM, "no memory for the packets of %s", r->path);
		c->packets = more;
		r->packets_room = room;
	}
	if (r->size + len > r->room) {
		size_t room = r->size + len + r->room;
		void *more = realloc(c->bytes, room);

		if (!more)
			return err_set(err, -ENOMEM, "no memory for the packets of %s", r->path);
		c->bytes = more;
		r->room = room;
	}
	return 0;
}

/* As an Ethernet frame: as it is, or with a header in place of what the link layer has. */
static int keep(struct reading *r, const struct pcap_pkthdr *header, const uint8_t *bytes,
		struct err *err)
{
	uint32_t skip = 0, whole = header->caplen, len = header->len;
	uint8_t head[ETH_LEN] = { 0 };
	struct capture *c = r->c;
	struct link_l3 l3;
	size_t head_len = 0;
	int ret;

	if (len < whole)
		len = whole;
	if (r->dlt != DLT_EN10MB) {
		if (!link_find_l3(r->dlt, bytes, whole, &l3))
			return 0;
		head[12] = (uint8_t)(l3.type >> 8);
		head[13] = (uint8_t)l3.type;
		head_len = ETH_LEN;
		skip = l3.at;
	}
	len += (uint32_t)head_len - skip;
	whole += (uint32_t)head_len - skip;
	ret = make_room(r, len, err);
	if (ret)
		return ret;
	memcpy(c->bytes + r->size, head, head_len);
	memcpy(c->bytes + r->size + head_len, bytes + skip, whole - head_len);
	memset(c->bytes + r->size + whole, 0, len - whole);
	/* With nanoseconds asked for, tv_usec holds nanoseconds. */
	c->packets[c->nr++] = (struct capture_packet){
		.t_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec,
		.len = len, .whole = whole, .at = r->size,
	};
	c->nr_cut += whole < len;
	if (len > c->len_max)
		c->len_max = len;
	r->size += len;
	return 0;
}

int capture_read(struct capture *c, const char *path, struct err *err)
{
	struct reading r = { .c = c, .path = path };
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	pcap_t *p;
	int ret = open_file(path, &p, err);

	*c = (struct capture){ 0 };
	if (ret)
		return ret;
	r.dlt = pcap_datalink(p);
	while ((ret = next_packet(p, path, c->nr, &header, &bytes, err)) == 1) {
		ret = keep(&r, header, bytes, err);
		if (ret)
			break;
	}
	if (!ret && !c->nr)
		ret = err_set(err, -EINVAL, "%s holds no packets", path);
	pcap_close(p);
	if (ret)
		capture_free(c);
	return ret;
}

void capture_free(struct capture *c)
{
	free(c->packets);
	free(c->bytes);
	*c = (struct capture){ 0 };
}

/* --- destinations ----------------------------------------------------------------------------- */

static uint64_t get64(const uint8_t *at)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | at[i];
	return v;
}

/* The family of the packet's destination, or AF_UNSPEC if it has none. */
static int destination(int dlt, const uint8_t *bytes, uint32_t len, struct addr *to)
{
	struct link_l3 l3;
	const uint8_t *ip;

	if (!link_find_l3(dlt, bytes, len, &l3))
		return AF_UNSPEC;
	ip = bytes + l3.at;
	len -= l3.at;
	if (l3.type == 0x0800 && len >= IP4_LEN && ip[0] >> 4 == 4) {
		*to = (struct addr){ .lo = get64(ip + IP4_DST - 4) & UINT32_MAX };
		return AF_INET;
	}
	if (l3.type == 0x86dd && len >= IP6_LEN && ip[0] >> 4 == 6) {
		*to = (struct addr){ .hi = get64(ip + IP6_DST), .lo = get64(ip + IP6_DST + 8) };
		return AF_INET6;
	}
	return AF_UNSPEC;
}

/* Captures repeat their destinations; this many recent ones are not told again. */
#define RECENT 4096u

struct recent {
	bool used[RECENT];
	struct addr a[RECENT];
};

static bool seen(struct recent *r, struct addr a)
{
	uint64_t slot = ((a.hi ^ a.lo) * UINT64_C(0x9e3779b97f4a7c15)) >> 52;

	if (r->used[slot] && r->a[slot].hi == a.hi && r->a[slot].lo == a.lo)
		return true;
	r->used[slot] = true;
	r->a[slot] = a;
	return false;
}

static int walk(pcap_t *p, const char *path, int *family, struct recent *recent,
		struct addrset *set, int (*add)(struct addrset *, int, struct addr, struct err *),
		struct err *err)
{
	uint64_t nr = 0, found = 0;
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	struct addr to;
	int ret, f;

	while ((ret = next_packet(p, path, nr, &header, &bytes, err)) == 1) {
		nr++;
		f = destination(pcap_datalink(p), bytes, header->caplen, &to);
		if (*family == AF_UNSPEC)
			*family = f;
		if (f == AF_UNSPEC || f != *family)
			continue;
		found++;
		ret = seen(recent, to) ? 0 : add(set, f, to, err);
		if (ret)
			return ret;
	}
	if (ret || found)
		return ret;
	return err_set(err, -ENODATA, "%s: none of its %" PRIu64 " packets is %s", path, nr,
		       *family == AF_INET6 ? "IPv6" : *family == AF_INET ? "IPv4" : "IP");
}

int capture_destinations(const char *path, int family, struct addrset *set,
			 int (*add)(struct addrset *, int, struct addr, struct err *),
			 struct err *err)
{
	struct recent *recent;
	pcap_t *p;
	int ret = open_file(path, &p, err);

	if (ret)
		return ret;
	recent = calloc(1, sizeof(*recent));
	if (!recent)
		ret = err_set(err, -ENOMEM, "no memory to read %s", path);
	else
		ret = walk(p, path, &family, recent, set, add, err);
	free(recent);
	pcap_close(p);
	return ret;
}
