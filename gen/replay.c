// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "gen/templates.h"
#include "lib/err.h"
#include "lib/scenario.h"

/* Packets that look alike share no template: a capture is a few thousand packets. */
static int take_packets(struct templates *t, const struct capture *c, const struct template_fields *f,
			uint32_t *tag, struct err *err)
{
	int ret;

	for (uint64_t i = 0; i < c->nr; i++) {
		const struct capture_packet *p = &c->packets[i];

		ret = template_init_captured(&t->list[t->nr], f, c->bytes + p->at, p->len, *tag);
		if (ret == -ENOMEM)
			return err_set(err, -ENOMEM, "no memory for packets");
		if (ret) {
			t->skipped_pkts++;
			continue;
		}
		if (t->list[t->nr].len > t->list[t->widest].len)
			t->widest = t->nr;
		t->nr++;
		++*tag;
	}
	return 0;
}

int replay_load(struct templates *t, const struct scenario_stream *stream, struct template_fields *f,
		uint32_t *tag, struct err *err)
{
	struct capture c;
	int ret = capture_read(&c, stream->replay, err);

	if (ret)
		return ret;
	f->shape.family = stream->destinations.family;
	if (c.nr > UINT32_MAX)
		ret = err_set(err, -EFBIG, "%s has more than 2^32 packets: cut it", stream->replay);
	if (!ret)
		t->list = calloc(c.nr, sizeof(*t->list));
	if (!ret && !t->list)
		ret = err_set(err, -ENOMEM, "no memory for %" PRIu64 " packets", c.nr);
	if (!ret)
		ret = take_packets(t, &c, f, tag, err);
	capture_free(&c);
	if (!ret && !t->nr)
		ret = err_set(err, -EINVAL, "replay: %s has no packet with UDP, TCP or an ICMP echo request "
			      "over the stream's IP version", stream->replay);
	t->nr_cycle = t->nr;
	return ret;
}
