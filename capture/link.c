// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/link.h"

#include <pcap/dlt.h>
#include <stddef.h>

enum { ETH_IP4 = 0x0800, ETH_IP6 = 0x86dd, ETH_VLAN = 0x8100, ETH_QINQ = 0x88a8, TAGS_MAX = 4 };

/* Header length, and where in it the type lies: for what has such a field in network byte order. */
static const struct layer {
	int dlt;
	uint32_t len, type_at;
} layers[] = {
	{ DLT_EN10MB, 14, 12 },
	{ DLT_LINUX_SLL, 16, 14 },
	{ DLT_LINUX_SLL2, 20, 0 },
};
#define NR_LAYERS (sizeof(layers) / sizeof(*layers))

static const struct layer *layer_of(int dlt)
{
	for (size_t i = 0; i < NR_LAYERS; i++)
		if (layers[i].dlt == dlt)
			return &layers[i];
	return NULL;
}

/* Link layers without a header. */
static bool is_bare(int dlt)
{
	return dlt == DLT_RAW || dlt == DLT_IPV4 || dlt == DLT_IPV6;
}

bool link_known(int dlt)
{
	return layer_of(dlt) || is_bare(dlt);
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

bool link_find_l3(int dlt, const uint8_t *bytes, uint32_t len, struct link_l3 *l3)
{
	const struct layer *layer = layer_of(dlt);

	if (!layer) {
		if (!is_bare(dlt) || !len)
			return false;
		*l3 = (struct link_l3){ .type = bytes[0] >> 4 == 6 ? ETH_IP6 : ETH_IP4 };
		return true;
	}
	if (len < layer->len)
		return false;
	*l3 = (struct link_l3){ .type = get16(bytes + layer->type_at), .at = layer->len };
	for (int tags = 0; (l3->type == ETH_VLAN || l3->type == ETH_QINQ) && tags < TAGS_MAX; tags++) {
		if (len < l3->at + 4)
			return false;
		l3->type = get16(bytes + l3->at + 2);
		l3->at += 4;
	}
	return true;
}
