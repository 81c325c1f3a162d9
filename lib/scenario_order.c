// SPDX-License-Identifier: GPL-2.0-or-later
/* In which order a stream visits its destinations. */
#include <errno.h>

#include "lib/conf.h"
#include "lib/scenario_parts.h"

static const char *const names[] = {
	[SCHED_SEQUENTIAL] = "sequential", [SCHED_PERMUTE] = "permute", [SCHED_STRIDE] = "stride",
	[SCHED_WINDOW] = "window",	   [SCHED_UNIFORM] = "uniform", [SCHED_ZIPF] = "zipf",
	[SCHED_HOT] = "hot",		   NULL,
};

/* A key that only one order knows. */
static const struct own {
	const char *key;
	enum sched_order order;
	const char *example; /* of what is mandatory; NULL: it has a default */
} owns[] = {
	{ "stride", SCHED_STRIDE, "stride: 256" },
	{ "window", SCHED_WINDOW, "window: 1000" },
	{ "zipf_s", SCHED_ZIPF, NULL },
	{ "hot", SCHED_HOT, NULL },
};

static const struct scenario_field fields[] = {
	FIELD_WORD("order", struct scenario_stream, order, names),
	FIELD_PLAIN("stride", I64, struct scenario_stream, stride),
	FIELD_INT("window", U64, struct scenario_stream, window, 1, UINT64_MAX),
	FIELD_REAL("zipf_s", struct scenario_stream, zipf_s, 0.001, 8.0),
	{ 0 },
};

static const struct scenario_field hot_fields[] = {
	FIELD_REAL("packets", struct scenario_stream, hot_packets, 0.0, 1.0),
	FIELD_REAL("destinations", struct scenario_stream, hot_destinations, 0.0, 1.0),
	{ 0 },
};

int scenario_order_bind(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int ret;

	st->order = SCHED_PERMUTE;
	st->zipf_s = 1.0;
	st->hot_packets = 0.9;
	st->hot_destinations = 0.1;
	ret = scenario_bind_fields(map, fields, st, err);
	return ret ? ret : scenario_bind_group(map, "hot", hot_fields, st, err);
}

int scenario_order_check(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	const struct conf *c;

	for (size_t i = 0; i < sizeof(owns) / sizeof(owns[0]); i++) {
		const struct own *own = &owns[i];

		c = conf_get(map, own->key);
		if (c && st->order != own->order)
			return conf_err(c, err, -EINVAL,
					"%s belongs to order %s, and order is %s; remove it "
					"or change the order", own->key, names[own->order],
					names[st->order]);
		if (!c && st->order == own->order && own->example)
			return conf_err(scenario_at(map, "order"), err, -EINVAL,
					"%s is missing; order %s needs it, as in %s", own->key,
					names[own->order], own->example);
	}
	if (st->order == SCHED_STRIDE && !st->stride)
		return conf_err(conf_get(map, "stride"), err, -EINVAL,
				"stride is 0; give another number, negative to go down");
	if (st->order == SCHED_WINDOW && st->window > addrset_count(&st->destinations))
		return conf_err(conf_get(map, "window"), err, -EINVAL,
				"window %llu is more than the %llu "
				"destinations; lower it", (unsigned long long)st->window,
				(unsigned long long)addrset_count(&st->destinations));
	return 0;
}
