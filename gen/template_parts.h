/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What template.c and template_any.c share. No other file includes it. */
#ifndef GEN_TEMPLATE_PARTS_H
#define GEN_TEMPLATE_PARTS_H

#include <arpa/inet.h>

#include "gen/template.h"

static inline void template_put16(uint8_t *at, uint16_t v)
{
	v = htons(v);
	memcpy(at, &v, 2);
}

static inline uint16_t template_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Of 16-bit words as they lie in memory; @bytes is even. */
static inline uint32_t template_sum(const uint8_t *at, unsigned int bytes)
{
	uint32_t sum = 0;
	uint16_t word;

	for (unsigned int i = 0; i < bytes; i += 2) {
		memcpy(&word, at + i, 2);
		sum += word;
	}
	return sum;
}

/* Of big-endian numbers: L4 from @l4 to @end and, but for ICMP, its pseudo header without
 * addresses. */
static inline uint32_t template_l4_partial(const uint8_t *l4, const uint8_t *end,
					   uint8_t protocol)
{
	uint32_t sum = protocol == IPPROTO_ICMP ? 0 : protocol + (uint32_t)(end - l4);

	for (; end - l4 >= 2; l4 += 2)
		sum += template_get16(l4);
	return l4 < end ? sum + (uint32_t)(*l4 << 8) : sum;
}

#endif
