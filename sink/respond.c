// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/respond.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/rng.h"

#define RESPOND_DELAY_MAX_MS 3600000.0

static int respond_check(const struct respond_conf *conf, struct err *err)
{
	if (!(conf->answer_ratio >= 0 && conf->answer_ratio <= 1))
		return err_set(err, -EINVAL, "answer_ratio %g is not between 0 and 1",
			       conf->answer_ratio);
	if (!(conf->delay_ms >= 0 && conf->delay_ms <= RESPOND_DELAY_MAX_MS))
		return err_set(err, -EINVAL, "delay_ms %g is not between 0 and one hour",
			       conf->delay_ms);
	if (conf->answer_probe < 1 || conf->answer_probe > UINT16_MAX)
		return err_set(err, -EINVAL, "answer_probe %u is not between 1 and 65535",
			       conf->answer_probe);
	return 0;
}

static uint64_t respond_addresses(const struct respond_conf *conf)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < conf->nr_sets; i++)
		n += addrset_count(conf->sets[i]);
	return n;
}

int respond_init(struct respond *r, const struct respond_conf *conf, struct err *err)
{
	memset(r, 0, sizeof(*r));
	if (respond_check(conf, err))
		return -EINVAL;
	r->seed = conf->seed;
	r->everybody = conf->answer_ratio >= 1;
	r->threshold = r->everybody ? UINT64_MAX : (uint64_t)ldexp(conf->answer_ratio, 64);
	r->delay_ns = (uint64_t)(conf->delay_ms * 1e6);
	r->answer_probe = (uint16_t)conf->answer_probe;
	r->sets = calloc(conf->nr_sets + 1, sizeof(*r->sets));
	r->dut = calloc(conf->nr_dut + 1, sizeof(*r->dut));
	if (conf->answer_probe > 1)
		r->requests = calloc(respond_addresses(conf) + 1, sizeof(*r->requests));
	if (!r->sets || !r->dut || (conf->answer_probe > 1 && !r->requests)) {
		respond_free(r);
		return err_set(err, -ENOMEM, "no memory to count requests by destination");
	}
	for (; r->nr_sets < conf->nr_sets; r->nr_sets++)
		r->sets[r->nr_sets] = conf->sets[r->nr_sets];
	for (; r->nr_dut < conf->nr_dut; r->nr_dut++)
		r->dut[r->nr_dut] = conf->dut[r->nr_dut];
	return 0;
}

void respond_free(struct respond *r)
{
	free(r->sets);
	free(r->dut);
	free(r->requests);
	memset(r, 0, sizeof(*r));
}

/* Index over all sets one after the other, in the first set that has @target; or -1. */
static int64_t respond_index(const struct respond *r, uint32_t target)
{
	uint64_t base = 0, i;

	for (uint32_t s = 0; s < r->nr_sets; s++) {
		if (addrset_find(r->sets[s], (struct addr){.lo = target}, &i))
			return (int64_t)(base + i);
		base += addrset_count(r->sets[s]);
	}
	return -1;
}

static int respond_is_dut(const struct respond *r, uint32_t addr)
{
	for (uint32_t i = 0; i < r->nr_dut; i++) {
		if (r->dut[i] == addr)
			return 1;
	}
	return 0;
}

/* Alive or dead for ever: a function of seed and address. */
static int respond_alive(const struct respond *r, uint32_t target)
{
	uint64_t x = r->seed ^ (uint64_t)target << 32;

	rng_splitmix64(&x);
	return r->everybody || rng_splitmix64(&x) < r->threshold;
}

enum respond_verdict respond_decide(struct respond *r, uint32_t sender, uint32_t target)
{
	int64_t i;

	if (!sender || sender == target || respond_is_dut(r, target))
		return RESPOND_REFUSE;
	i = respond_index(r, target);
	if (i < 0)
		return RESPOND_REFUSE;
	if (r->requests && r->requests[i] < UINT16_MAX)
		r->requests[i]++;
	if (!respond_alive(r, target))
		return RESPOND_SILENT;
	if (r->requests && r->requests[i] < r->answer_probe)
		return RESPOND_SILENT;
	return RESPOND_ANSWER;
}
