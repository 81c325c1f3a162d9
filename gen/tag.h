/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tag in a DPDK buffer says which template's frame it holds. Buffers keep their frames while
 * they are free, so that a lane writes a whole frame only where the tag is another one's. Whoever
 * lets anything else write to a buffer clears its tag.
 */
#ifndef GEN_TAG_H
#define GEN_TAG_H

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

struct err;

/* Once, after DPDK has started. Returns the tag's offset for tag_at(), or negative errno. */
int tag_register(struct err *err);

static inline uint32_t *tag_at(struct rte_mbuf *m, int offset)
{
	return RTE_MBUF_DYNFIELD(m, offset, uint32_t *);
}

/* Nothing happens before tag_register(). */
void tag_clear(struct rte_mbuf *m);

#endif
