// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/tag.h"

#include <rte_errno.h>

#include "lib/err.h"

static int tag_offset = -1; /* DPDK's fields are the process's, too */

int tag_register(struct err *err)
{
	static const struct rte_mbuf_dynfield field = { .name = "dststorm_template",
							.size = sizeof(uint32_t),
							.align = __alignof__(uint32_t) };
	int offset = rte_mbuf_dynfield_register(&field);

	if (offset < 0)
		return err_set(err, -rte_errno, "no room for a mark in DPDK's buffers: %s",
			       rte_strerror(rte_errno));
	tag_offset = offset;
	return offset;
}

void tag_clear(struct rte_mbuf *m)
{
	if (tag_offset >= 0)
		*tag_at(m, tag_offset) = 0;
}
