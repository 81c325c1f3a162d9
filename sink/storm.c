// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/storm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/arp.h"
#include "lib/err.h"
#include "lib/nd.h"

#define STORM_NS 1000000000u

static int storm_check(const struct storm_conf *conf, struct err *err)
{
	if (!conf->rate_pps)
		return err_set(err, -EINVAL, "a storm needs a rate_pps of at least 1");
	if (!(conf->start_s >= 0 && conf->start_s <= STORM_SECONDS_MAX))
		return err_set(err, -EINVAL, "start_s %g is not between 0 and %g", conf->start_s,
			       STORM_SECONDS_MAX);
	if (!(conf->duration_s > 0 && conf->duration_s <= STORM_SECONDS_MAX))
		return err_set(err, -EINVAL, "duration_s %g is not above 0 and up to %g",
			       conf->duration_s, STORM_SECONDS_MAX);
	if (conf->nr_vlans > ETHER_TAGS_MAX)
		return err_set(err, -EINVAL, "%u VLAN tags are more than %u", conf->nr_vlans,
			       ETHER_TAGS_MAX);
	return 0;
}

static int storm_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Where the DUT's addresses are in the set; one that is given twice counts once. */
static void storm_holes(struct storm *s, const struct storm_conf *conf)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < conf->nr_dut; i++) {
		if (conf->dut[i].family == s->set->family &&
		    addrset_find(s->set, conf->dut[i].addr, &s->holes[nr]))
			nr++;
	}
	qsort(s->holes, nr, sizeof(*s->holes), storm_compare);
	for (uint32_t i = 0; i < nr; i++) {
		if (!i || s->holes[i] != s->holes[i - 1])
			s->holes[s->nr_holes++] = s->holes[i];
	}
	s->n = addrset_count(s->set) - s->nr_holes;
}

int storm_init(struct storm *s, const struct storm_conf *conf, struct err *err)
{
	uint64_t ns = (uint64_t)(conf->duration_s * STORM_NS);

	memset(s, 0, sizeof(*s));
	if (storm_check(conf, err))
		return -EINVAL;
	s->set = conf->set;
	s->holes = calloc(conf->nr_dut + 1, sizeof(*s->holes));
	if (!s->holes)
		return err_set(err, -ENOMEM, "no memory for a storm");
	storm_holes(s, conf);
	if (!s->n) {
		storm_free(s);
		return err_set(err, -EINVAL,
			       "all addresses of a storm are the DUT's own: announce others");
	}
	s->rate_pps = conf->rate_pps;
	s->start_ns = (uint64_t)(conf->start_s * STORM_NS);
	s->end_ns = s->start_ns + ns;
	s->total = (uint64_t)((unsigned __int128)conf->rate_pps * ns / STORM_NS);
	for (; s->nr_vlans < conf->nr_vlans; s->nr_vlans++)
		s->vlans[s->nr_vlans] = conf->vlans[s->nr_vlans];
	s->mac_changes = conf->mac_changes;
	return 0;
}

void storm_free(struct storm *s)
{
	free(s->holes);
	memset(s, 0, sizeof(*s));
}

void storm_start(struct storm *s, uint64_t t0_ns)
{
	if (s->started)
		return;
	s->start_ns += t0_ns;
	s->end_ns += t0_ns;
	s->started = true;
}

uint64_t storm_next_ns(const struct storm *s)
{
	if (!s->started || s->next >= s->total)
		return UINT64_MAX;
	return s->start_ns + (uint64_t)((unsigned __int128)s->next * STORM_NS / s->rate_pps);
}

/* The @i-th address that is not the DUT's. */
static struct addr storm_address(const struct storm *s, uint64_t i)
{
	for (uint32_t h = 0; h < s->nr_holes && s->holes[h] <= i; h++)
		i++;
	return addrset_at(s->set, i);
}

int storm_take(struct storm *s, uint64_t now_ns, struct answer *out)
{
	uint64_t due_ns = storm_next_ns(s), k = s->next;
	struct addr a;
	uint8_t mac[6];

	if (due_ns > now_ns || due_ns == UINT64_MAX)
		return -1;
	if (now_ns >= s->end_ns) {
		s->next = s->total;
		return -1;
	}
	s->next++;
	a = storm_address(s, k % s->n);
	respond_mac(s->set->family, a, s->mac_changes ? k / s->n : 0, mac);
	out->due_ns = due_ns;
	out->kind = ANSWER_ANNOUNCEMENT;
	out->len = (uint8_t)(s->set->family == AF_INET
				     ? arp_announce(out->frame, (uint32_t)a.lo, mac, s->vlans,
						    s->nr_vlans)
				     : nd_announce(out->frame, a, mac, s->vlans,
						   s->nr_vlans));
	return 0;
}
