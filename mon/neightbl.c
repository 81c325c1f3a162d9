// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/neightbl.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define NEIGHTBL_NDTA_MAX  16
#define NEIGHTBL_NDTPA_MAX 32

struct neightbl_attr {
	const char *data;
	size_t len;
};

/* Index attributes by type; types above @max are newer than this program and left out. */
static int neightbl_index(const char *p, size_t len, struct neightbl_attr *attrs, unsigned max)
{
	memset(attrs, 0, max * sizeof(*attrs));
	while (len >= sizeof(struct nlattr)) {
		struct nlattr a;
		size_t step;
		unsigned type;

		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return -EBADMSG;
		type = a.nla_type & NLA_TYPE_MASK;
		if (type < max) {
			attrs[type].data = p + sizeof(a);
			attrs[type].len = a.nla_len - sizeof(a);
		}
		step = NLA_ALIGN(a.nla_len);
		if (step > len)
			step = len;
		p += step;
		len -= step;
	}
	return 0;
}

static uint64_t neightbl_number(const struct neightbl_attr *a)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if (a->len >= sizeof(wide)) {
		memcpy(&wide, a->data, sizeof(wide));
	} else if (a->len >= sizeof(narrow)) {
		memcpy(&narrow, a->data, sizeof(narrow));
		wide = narrow;
	}
	return wide;
}

static void neightbl_stats(struct neightbl *t, const struct neightbl_attr *a)
{
	struct ndt_stats s = {};

	memcpy(&s, a->data, a->len < sizeof(s) ? a->len : sizeof(s));
	t->allocs = s.ndts_allocs;
	t->destroys = s.ndts_destroys;
	t->hash_grows = s.ndts_hash_grows;
	t->res_failed = s.ndts_res_failed;
	t->lookups = s.ndts_lookups;
	t->hits = s.ndts_hits;
	t->periodic_gc_runs = s.ndts_periodic_gc_runs;
	t->forced_gc_runs = s.ndts_forced_gc_runs;
	t->table_fulls = s.ndts_table_fulls;
}

static int neightbl_parms(struct neightbl *t, const struct neightbl_attr *nest)
{
	struct neightbl_attr a[NEIGHTBL_NDTPA_MAX];

	if (neightbl_index(nest->data, nest->len, a, NEIGHTBL_NDTPA_MAX))
		return -EBADMSG;
	t->reachable_time_ms = neightbl_number(&a[NDTPA_REACHABLE_TIME]);
	t->base_reachable_time_ms = neightbl_number(&a[NDTPA_BASE_REACHABLE_TIME]);
	t->retrans_time_ms = neightbl_number(&a[NDTPA_RETRANS_TIME]);
	t->mcast_probes = (uint32_t)neightbl_number(&a[NDTPA_MCAST_PROBES]);
	return a[NDTPA_IFINDEX].data ? 0 : 1;
}

int neightbl_parse(struct neightbl *t, const void *msg, size_t len)
{
	struct neightbl_attr a[NEIGHTBL_NDTA_MAX];
	const char *p = msg;
	struct nlmsghdr h;
	struct ndtmsg body;
	struct ndt_config config = {};

	memset(t, 0, sizeof(*t));
	if (len < sizeof(h) + sizeof(body))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	memcpy(&body, p + sizeof(h), sizeof(body));
	if (h.nlmsg_type != RTM_NEWNEIGHTBL || h.nlmsg_len < sizeof(h) + sizeof(body) ||
	    h.nlmsg_len > len)
		return -EBADMSG;
	p += NLMSG_ALIGN(sizeof(h) + sizeof(body));
	if (neightbl_index(p, h.nlmsg_len - sizeof(h) - sizeof(body), a, NEIGHTBL_NDTA_MAX))
		return -EBADMSG;
	/* A device's own settings come without the table's. */
	if (!a[NDTA_CONFIG].data || !a[NDTA_STATS].data)
		return 0;
	t->family = body.ndtm_family;
	memcpy(&config, a[NDTA_CONFIG].data,
	       a[NDTA_CONFIG].len < sizeof(config) ? a[NDTA_CONFIG].len : sizeof(config));
	t->entries = config.ndtc_entries;
	t->entry_size = config.ndtc_entry_size;
	t->gc_thresh1 = (uint32_t)neightbl_number(&a[NDTA_THRESH1]);
	t->gc_thresh2 = (uint32_t)neightbl_number(&a[NDTA_THRESH2]);
	t->gc_thresh3 = (uint32_t)neightbl_number(&a[NDTA_THRESH3]);
	neightbl_stats(t, &a[NDTA_STATS]);
	return !a[NDTA_PARMS].data || neightbl_parms(t, &a[NDTA_PARMS]) >= 0 ? 1 : -EBADMSG;
}
