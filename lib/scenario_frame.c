// SPDX-License-Identifier: GPL-2.0-or-later
/* What a stream's packets look like: protocol, tags, sizes, ports, or the packets of a capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define VLAN_LAST 4094u

static const char *const protocols[] = { [FRAME_UDP] = "udp", [FRAME_TCP_SYN] = "tcp-syn",
					 [FRAME_ICMP_ECHO] = "icmp-echo", NULL };

static const struct scenario_field fields[] = {
	FIELD_WORD("protocol", struct scenario_stream, shape.protocol, protocols),
	FIELD_PLAIN("udp_checksum", BOOL, struct scenario_stream, udp_checksum),
	FIELD_INT("ttl", U8, struct scenario_stream, ttl, 1, 255),
	FIELD_INT("dscp", U8, struct scenario_stream, tos, 0, 63),
	{ 0 },
};

/* --- bind -------------------------------------------------------------------------------------- */

int scenario_frame_bind_vlans(const struct conf *map, uint16_t vlans[FRAME_VLANS_MAX], uint32_t *nr,
			      struct err *err)
{
	const struct conf *list = conf_get(map, "vlan"), *it;
	uint64_t v;
	int ret = 0;

	if (!list)
		return 0;
	for (it = list->type == CONF_SEQ ? list->child : list; it && !ret;
	     it = list->type == CONF_SEQ ? it->next : NULL) {
		if (*nr == FRAME_VLANS_MAX)
			return conf_err(it, err, -EINVAL,
					"vlan holds more than %u tags; remove some",
					FRAME_VLANS_MAX);
		ret = conf_item_u64(it, "vlan", 1, VLAN_LAST, &v, err);
		if (!ret)
			vlans[(*nr)++] = (uint16_t)v;
	}
	return ret;
}

/* "A-B" into both. */
static bool parse_ports(const char *text, uint16_t *first, uint16_t *last)
{
	char *end;
	unsigned long a = strtoul(text, &end, 10), b;

	if (*text < '1' || *text > '9' || *end != '-' || end[1] < '1' || end[1] > '9')
		return false;
	b = strtoul(end + 1, &end, 10);
	if (*end || b > UINT16_MAX || a > b)
		return false;
	*first = (uint16_t)a;
	*last = (uint16_t)b;
	return true;
}

/* A port, or a range of them. */
static int bind_ports(const struct conf *map, const char *key, uint16_t *first, uint16_t *last,
		      struct err *err)
{
	const struct conf *c = conf_get(map, key);
	uint64_t v = 9;
	int ret;

	if (c && c->type == CONF_SCALAR && strchr(c->value, '-')) {
		if (parse_ports(c->value, first, last))
			return 0;
		return conf_err(c, err, -EINVAL,
				"%s is \"%.60s\"; a range of ports is FIRST-LAST from 1 "
				"to 65535, as in 1024-65535", key, c->value);
	}
	ret = conf_u64(map, key, 1, UINT16_MAX, &v, err);
	*first = *last = (uint16_t)v;
	return ret;
}

/* Sizes are read when the least frame is known: the members of a map have no names to be known. */
static void use_size(const struct conf *map)
{
	struct conf *size = conf_get(map, "size");

	if (size && size->type == CONF_MAP)
		conf_each(it, size)
			it->used = true;
}

int scenario_frame_bind(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int ret;

	st->ttl = 2;
	ret = scenario_bind_fields(map, fields, st, err);
	st->tos = (uint8_t)(st->tos << 2);
	if (!ret)
		ret = scenario_frame_bind_vlans(map, st->vlans, &st->shape.nr_vlans, err);
	if (!ret)
		ret = bind_ports(map, "src_port", &st->src_port, &st->src_port_last, err);
	if (!ret)
		ret = bind_ports(map, "dst_port", &st->dst_port, &st->dst_port_last, err);
	use_size(map);
	return ret;
}

/* --- check ------------------------------------------------------------------------------------- */

/* Keeps the order ascending. */
static int add_size(struct scenario_stream *st, const struct conf *c, uint64_t bytes,
		    uint64_t weight, struct err *err)
{
	uint32_t least = frame_len_min(&st->shape), most = frame_len_max(&st->shape), i;

	if (bytes < least || bytes > most)
		return conf_err(c, err, -EINVAL,
				"size %llu is too %s: a frame of %s over IPv%d with %u "
				"VLAN tags is %u to %u bytes, FCS included", (unsigned long long)bytes,
				bytes < least ? "small for a probe" : "large",
				protocols[st->shape.protocol], st->shape.family == AF_INET6 ? 6 : 4,
				st->shape.nr_vlans, least, most);
	if (st->nr_sizes == SCENARIO_SIZES_MAX)
		return conf_err(c, err, -EINVAL, "size holds more than %u; remove some",
				SCENARIO_SIZES_MAX);
	for (i = st->nr_sizes; i && st->sizes[i - 1].bytes >= bytes; i--)
		if (st->sizes[i - 1].bytes == bytes)
			return conf_err(c, err, -EINVAL, "size %llu is there twice; remove one",
					(unsigned long long)bytes);
	memmove(&st->sizes[i + 1], &st->sizes[i], (st->nr_sizes - i) * sizeof(*st->sizes));
	st->sizes[i] = (struct scenario_size){ (uint16_t)bytes, (uint16_t)weight };
	st->nr_sizes++;
	return 0;
}

/* The simple mix: 7 to 4 to 1. */
static int add_imix(struct scenario_stream *st, const struct conf *c, struct err *err)
{
	static const struct scenario_size mix[] = { { 64, 7 }, { 594, 4 }, { 1518, 1 } };
	uint32_t least = frame_len_min(&st->shape);
	int ret = 0;

	for (unsigned int i = 0; i < 3 && !ret; i++)
		ret = add_size(st, c, mix[i].bytes > least ? mix[i].bytes : least, mix[i].weight,
			       err);
	return ret;
}

static int check_size(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	const struct conf *c = conf_get(map, "size");
	uint64_t bytes, weight;
	int ret = 0;

	if (!c)
		return add_size(st, map, frame_len_min(&st->shape), 1, err);
	if (scenario_is_word(c, "imix"))
		return add_imix(st, c, err);
	if (c->type != CONF_MAP) {
		ret = conf_item_u64(c, "size", 1, UINT16_MAX, &bytes, err);
		return ret ? ret : add_size(st, c, bytes, 1, err);
	}
	if (!c->child)
		return conf_err(c, err, -EINVAL,
				"size is empty; give a number, imix, or sizes with "
				"weights, as in {64: 7, 1518: 1}");
	for (const struct conf *it = c->child; it && !ret; it = it->next) {
		ret = conf_name_u64(it, "size", 1, UINT16_MAX, &bytes, err);
		if (!ret)
			ret = conf_item_u64(it, "the weight of a size", 1, UINT16_MAX, &weight,
					    err);
		if (!ret)
			ret = add_size(st, it, bytes, weight, err);
	}
	return ret;
}

/* Every packet of a capture has all of these already. */
static int check_replay(const struct scenario_stream *st, const struct conf *map, struct err *err)
{
	static const char *const taken[] = { "size", "protocol", "vlan" };

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct conf *c = conf_get(map, taken[i]);

		if (c)
			return conf_err(c, err, -EINVAL,
					"%s comes from the packets of replay; remove one "
					"of the two", taken[i]);
	}
	return *st->replay ? 0 : conf_err(conf_get(map, "replay"), err, -EINVAL,
					  "replay is empty; give the path of a pcap file");
}

static int check_checksum(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	const struct conf *c = conf_get(map, "udp_checksum");

	if (c && st->shape.protocol != FRAME_UDP)
		return conf_err(c, err, -EINVAL,
				"udp_checksum belongs to protocol udp; remove it, as %s "
				"always has one", protocols[st->shape.protocol]);
	if (st->shape.family != AF_INET6)
		return 0;
	if (c && !st->udp_checksum)
		return conf_err(c, err, -EINVAL,
				"udp_checksum is false, and UDP over IPv6 needs one; "
				"remove it");
	st->udp_checksum = true;
	return 0;
}

int scenario_frame_check(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int ret = st->replay ? check_replay(st, map, err) : 0;

	if (!ret)
		ret = check_checksum(st, map, err);
	return ret ? ret : check_size(st, map, err);
}
