// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/ports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_ring.h>

#include "dpdk/eal.h"
#include "lib/err.h"

enum { PORTS_REPLIES = 512 };

static struct port_conf conf_of(const struct ports *p, uint32_t i, uint32_t frame_max, bool tagged)
{
	return (struct port_conf){ .nr_queues = (uint16_t)((p->nr_lanes - i - 1) / p->nr + 1), .rx = true,
				   .tx = true, .frame_max = (uint16_t)frame_max, .vlan = tagged };
}

static int prepare(struct ports *p, uint32_t frame_max, bool tagged, struct eal_options *o,
		   struct err *err)
{
	unsigned int memory_mb = PORT_MEMORY_BASE_MB;
	int ret = 0;

	if (p->nr_lanes < p->nr)
		return err_set(err, -EINVAL, "%" PRIu32 " ports need as many lanes: raise --lanes", p->nr);
	for (uint32_t i = 0; i < p->nr; i++) {
		struct port_conf conf = conf_of(p, i, frame_max, tagged);

		memory_mb += port_memory_mb(&p->name[i], &conf);
	}
	/* First: a port may look whether there is so much. */
	if (!o->memory_mb)
		o->memory_mb = memory_mb;
	for (uint32_t i = 0; i < p->nr && !ret; i++)
		ret = port_prepare(&p->name[i], o, err);
	return ret;
}

static int make_replies(struct ports *p, uint32_t i, struct err *err)
{
	char name[RTE_RING_NAMESIZE];

	if (!p->port[i].nr_rx)
		return 0;
	snprintf(name, sizeof(name), "replies%" PRIu32, i);
	p->replies[i] = rte_ring_create(name, PORTS_REPLIES, SOCKET_ID_ANY,
					RING_F_SP_ENQ | RING_F_SC_DEQ);
	return p->replies[i] ? 0 : err_set(err, -ENOMEM, "no memory for replies: raise --memory");
}

static int open_one(struct ports *p, uint32_t i, uint32_t frame_max, bool tagged, struct err *err)
{
	struct port_conf conf = conf_of(p, i, frame_max, tagged);
	int ret = port_open(&p->port[i], &p->name[i], &conf, err);
	uint32_t most;

	if (ret)
		return ret;
	most = port_max_frame(&p->port[i]);
	if (most < frame_max)
		return err_set(err, -EINVAL, "port %s takes frames of %" PRIu32 " bytes at most, and "
			       "these have up to %" PRIu32 " (with FCS): lower their size or raise its "
			       "MTU", p->name[i].text, most + 4, frame_max + 4);
	return make_replies(p, i, err);
}

int ports_open(struct ports *p, uint32_t nr_lanes, uint32_t frame_max, bool tagged,
	       struct eal_options *o, struct err *err)
{
	int ret;

	p->nr_lanes = nr_lanes;
	ret = prepare(p, frame_max, tagged, o, err);
	if (!ret)
		ret = eal_start(o, err);
	for (uint32_t i = 0; i < p->nr && !ret; i++)
		ret = open_one(p, i, frame_max, tagged, err);
	return ret;
}

void ports_close(struct ports *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		port_close(&p->port[i]);
		rte_ring_free(p->replies[i]);
		p->replies[i] = NULL;
	}
}

bool ports_ready(struct ports *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (!port_ready(&p->port[i]))
			return false;
	return true;
}

void ports_wait_for(struct ports *p, char *buf, size_t size)
{
	uint32_t i = 0;

	while (i + 1 < p->nr && port_ready(&p->port[i]))
		i++;
	port_waits_for(&p->port[i], buf, size);
}

bool ports_receive(const struct ports *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->replies[i])
			return true;
	return false;
}

void ports_text(const struct ports *p, char *buf, size_t size)
{
	size_t len = 0;

	for (uint32_t i = 0; i < p->nr && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "", p->name[i].text);
}
