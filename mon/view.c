// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/view.h"

#include <stdio.h>
#include <string.h>

#include <net/ethernet.h>

#include "lib/err.h"

int view_open(struct view *v, struct err *err)
{
	struct err why = {};
	int ret;

	memset(v, 0, sizeof(*v));
	ret = sampler_open(&v->sampler, err);
	if (ret)
		return ret;
	ret = trace_open(&v->trace, true, &why);
	if (!ret)
		ret = trace_arm(&v->trace, &why);
	if (ret)
		snprintf(v->no_drops, sizeof(v->no_drops), "%.255s", why.text);
	v->sampler.trace = &v->trace;
	return 0;
}

void view_close(struct view *v)
{
	trace_close(&v->trace);
	sampler_close(&v->sampler);
}

static void view_sum(struct view_drops *d, const struct trace *t)
{
	uint64_t largest = 0;

	memset(d, 0, sizeof(*d));
	d->overflow = t->hist.overflow;
	for (unsigned i = 0; i < t->hist.nr; i++) {
		struct trace_drop one;
		unsigned v6;

		trace_drop(t, i, &one);
		v6 = one.protocol == ETHERTYPE_IPV6;
		if (one.counted)
			d->received[v6][one.cause] += one.pkts;
		else if (one.own)
			d->own[v6][one.cause] += one.pkts;
		if (one.cause != CAUSE_OTHER || !(one.counted || one.own) || one.pkts <= largest)
			continue;
		largest = one.pkts;
		d->other_reason = one.reason;
		d->other_location = one.location;
	}
}

int view_take(struct view *v, struct sample *s, struct view_drops *d, struct err *err)
{
	int ret = sampler_take(&v->sampler, s, false, err);

	if (!ret && s->has_drops)
		view_sum(d, &v->trace);
	return ret;
}
