// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/respond.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/arp.h"
#include "lib/err.h"
#include "lib/nd.h"
#include "lib/rng.h"

#define RESPOND_DELAY_MAX_MS 3600000.0

static int respond_check(const struct respond_rule *rule, struct err *err)
{
	if (!(rule->answer_ratio >= 0 && rule->answer_ratio <= 1))
		return err_set(err, -EINVAL, "answer_ratio %g is not between 0 and 1",
			       rule->answer_ratio);
	if (!(rule->delay_ms >= 0 && rule->delay_ms <= RESPOND_DELAY_MAX_MS))
		return err_set(err, -EINVAL, "delay_ms %g is not between 0 and one hour",
			       rule->delay_ms);
	if (rule->answer_probe < 1 || rule->answer_probe > UINT16_MAX)
		return err_set(err, -EINVAL, "answer_probe %u is not between 1 and 65535",
			       rule->answer_probe);
	if (rule->copies < 1 || rule->copies > RESPOND_COPIES_MAX)
		return err_set(err, -EINVAL, "copies %u is not between 1 and %u", rule->copies,
			       RESPOND_COPIES_MAX);
	return 0;
}

static bool respond_counts(const struct respond_rule *rule)
{
	return rule->answer_probe > 1 || rule->mac_changes;
}

/* A copy of @nr elements, never NULL for lack of elements. */
static void *respond_copy(const void *from, size_t nr, size_t size)
{
	void *to = calloc(nr + 1, size);

	if (to && nr)
		memcpy(to, from, nr * size);
	return to;
}

int respond_init(struct respond *r, const struct respond_conf *conf, struct err *err)
{
	bool counts = false;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < conf->nr_rules; i++) {
		if (respond_check(&conf->rules[i], err))
			return -EINVAL;
		counts |= respond_counts(&conf->rules[i]);
	}
	r->seed = conf->seed;
	r->sets = respond_copy(conf->sets, conf->nr_sets, sizeof(*r->sets));
	r->dut = respond_copy(conf->dut, conf->nr_dut, sizeof(*r->dut));
	r->rules = respond_copy(conf->rules, conf->nr_rules, sizeof(*r->rules));
	if (!r->sets || !r->dut || !r->rules ||
	    (counts && tally_init(&r->counted, RESPOND_COUNTED_MAX))) {
		respond_free(r);
		return err_set(err, -ENOMEM, "no memory for the responder");
	}
	r->nr_sets = conf->nr_sets;
	r->nr_dut = conf->nr_dut;
	r->nr_rules = conf->nr_rules;
	return 0;
}

void respond_free(struct respond *r)
{
	free(r->sets);
	free(r->dut);
	free(r->rules);
	tally_free(&r->counted);
	memset(r, 0, sizeof(*r));
}

static bool respond_has(const struct addrset *set, int family, struct addr a)
{
	return set->family == family && addrset_find(set, a, NULL);
}

static bool respond_knows(const struct respond *r, int family, struct addr a)
{
	for (uint32_t i = 0; i < r->nr_sets; i++) {
		if (respond_has(r->sets[i], family, a))
			return true;
	}
	return false;
}

static bool respond_same(struct addr a, struct addr b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

static bool respond_is_dut(const struct respond *r, int family, struct addr a)
{
	for (uint32_t i = 0; i < r->nr_dut; i++) {
		if (r->dut[i].family == family && respond_same(r->dut[i].addr, a))
			return true;
	}
	return false;
}

static const struct respond_rule *respond_rule_of(const struct respond *r, int family,
						  struct addr a)
{
	for (uint32_t i = 0; i < r->nr_rules; i++) {
		if (!r->rules[i].prefix || respond_has(r->rules[i].prefix, family, a))
			return &r->rules[i];
	}
	return NULL;
}

/* Alive or dead for ever: a function of seed and address. */
static bool respond_alive(const struct respond *r, const struct respond_rule *rule, struct addr a)
{
	uint64_t hi = a.hi, x = r->seed ^ a.lo << 32 ^ a.lo >> 32 ^ (hi ? rng_splitmix64(&hi) : 0);

	rng_splitmix64(&x);
	return rule->answer_ratio >= 1 ||
	       rng_splitmix64(&x) < (uint64_t)ldexp(rule->answer_ratio, 64);
}

enum respond_verdict respond_decide(struct respond *r, int family, struct addr sender,
				    struct addr target, struct respond_how *how)
{
	const struct respond_rule *rule;
	uint64_t nr = 0;

	if (!(sender.lo | sender.hi) || respond_same(sender, target) ||
	    respond_is_dut(r, family, target) || !respond_knows(r, family, target))
		return RESPOND_REFUSE;
	rule = respond_rule_of(r, family, target);
	if (!rule)
		return RESPOND_REFUSE;
	if (!respond_alive(r, rule, target))
		return RESPOND_SILENT;
	if (respond_counts(rule)) {
		nr = tally_add(&r->counted, target);
		if (!nr)
			return RESPOND_NO_ROOM;
		if (nr < rule->answer_probe)
			return RESPOND_SILENT;
	}
	*how = (struct respond_how){
		.delay_ns = (uint64_t)(rule->delay_ms * 1e6),
		.copies = rule->copies,
		.mac = rule->mac_changes ? nr * rule->copies : 0,
		.mac_changes = rule->mac_changes,
	};
	return RESPOND_ANSWER;
}

void respond_mac(int family, struct addr a, uint64_t nr, uint8_t mac[6])
{
	if (family == AF_INET)
		arp_mac_of((uint32_t)a.lo, mac);
	else
		nd_mac_of(a, mac);
	mac[0] = (uint8_t)(mac[0] | (nr & 63) << 2);
}
