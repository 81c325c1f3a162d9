// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/neighbours.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/scenario.h"
#include "sink/account.h"

/* --- the DUT's own addresses ------------------------------------------------------------------ */

/* "ADDRESS", with or without "/LEN" behind it. */
static int neighbours_host(const char *text, struct respond_host *out, struct err *err)
{
	char address[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "/");
	struct in6_addr in6;
	struct in_addr in;
	uint64_t half[2];

	if (len < sizeof(address)) {
		memcpy(address, text, len);
		address[len] = '\0';
		if (inet_pton(AF_INET, address, &in) == 1) {
			*out = (struct respond_host){AF_INET, {.lo = ntohl(in.s_addr)}};
			return 0;
		}
		if (inet_pton(AF_INET6, address, &in6) == 1) {
			memcpy(half, &in6, sizeof(half));
			*out = (struct respond_host){AF_INET6,
						     {be64toh(half[0]), be64toh(half[1])}};
			return 0;
		}
	}
	return err_set(err, -EINVAL, "the DUT's address %.64s is no address", text);
}

/* Returns their number, or negative errno. @out: room for all. */
static int neighbours_dut(const struct scenario *s, const char *const *dut, unsigned int nr_dut,
			  struct respond_host *out, struct err *err)
{
	int nr = 0, ret;

	for (unsigned int i = 0; i < nr_dut; i++) {
		ret = neighbours_host(dut[i], &out[nr++], err);
		if (ret)
			return ret;
	}
	for (uint32_t i = 0; i < s->nr_in; i++)
		out[nr++] = (struct respond_host){s->in[i].family, s->in[i].a};
	for (uint32_t i = 0; i < s->nr_out; i++)
		out[nr++] = (struct respond_host){s->out[i].family, s->out[i].a};
	return nr;
}

/* --- who answers ------------------------------------------------------------------------------ */

static int neighbours_gateways(struct neighbours *n, const struct scenario *s, struct err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->nr_routes && !ret; i++) {
		const struct scenario_route *r = &s->routes[i];

		if (r->type == ROUTE_VIA)
			ret = addrset_add_addr(&n->gateways[r->family == AF_INET6], r->family,
					       r->via, err);
	}
	for (unsigned int i = 0; i < 2 && !ret; i++) {
		if (n->gateways[i].family != AF_UNSPEC)
			ret = addrset_seal(&n->gateways[i], err);
	}
	return ret;
}

/* Returns their number. @out: room for all streams and two more. */
static uint32_t neighbours_sets(const struct neighbours *n, const struct scenario *s,
				const struct addrset **out)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr_streams; i++)
		out[nr++] = &s->streams[i].destinations;
	for (unsigned int i = 0; i < 2; i++) {
		if (n->gateways[i].family != AF_UNSPEC)
			out[nr++] = &n->gateways[i];
	}
	return nr;
}

/* Those of the scenario, and last the one for all others. @out: room for one more. */
static uint32_t neighbours_rules(const struct scenario *s, struct respond_rule *out)
{
	for (uint32_t i = 0; i < s->nr_rules; i++)
		out[i] = (struct respond_rule){
			.prefix = &s->rules[i].prefix,
			.answer_ratio = s->rules[i].answer_ratio,
			.delay_ms = s->rules[i].delay_ms,
			.answer_probe = s->rules[i].answer_probe,
			.copies = s->rules[i].copies,
			.mac_changes = s->rules[i].mac_changes,
		};
	out[s->nr_rules] = (struct respond_rule){
		.answer_ratio = s->answer_ratio,
		.delay_ms = s->delay_ms,
		.answer_probe = s->answer_probe,
		.copies = 1,
	};
	return s->nr_rules + 1;
}

static int neighbours_respond(const struct neighbours *n, struct account *a,
			      const struct scenario *s, const struct respond_host *dut,
			      uint32_t nr_dut, struct err *err)
{
	const struct addrset **sets = calloc(s->nr_streams + 2, sizeof(*sets));
	struct respond_rule *rules = calloc(s->nr_rules + 1, sizeof(*rules));
	int ret;

	if (!sets || !rules)
		ret = err_set(err, -ENOMEM, "no memory for the responder");
	else
		ret = respond_init(&a->respond,
				   &(struct respond_conf){.sets = sets,
							  .nr_sets = neighbours_sets(n, s, sets),
							  .dut = dut,
							  .nr_dut = nr_dut,
							  .seed = s->seed,
							  .rules = rules,
							  .nr_rules = neighbours_rules(s, rules)},
				   err);
	a->responds = !ret;
	free(sets);
	free(rules);
	return ret;
}

/* --- who shouts ------------------------------------------------------------------------------- */

static int neighbours_storms(struct account *a, const struct scenario *s,
			     const struct respond_host *dut, uint32_t nr_dut, struct err *err)
{
	int ret = 0;

	a->storms = calloc(s->nr_storms + 1, sizeof(*a->storms));
	if (!a->storms)
		return err_set(err, -ENOMEM, "no memory for %u storms", s->nr_storms);
	for (uint32_t i = 0; i < s->nr_storms && !ret; i++) {
		ret = storm_init(&a->storms[i],
				 &(struct storm_conf){.set = &s->storms[i].prefix,
						      .dut = dut,
						      .nr_dut = nr_dut,
						      .rate_pps = s->storms[i].rate_pps,
						      .start_s = s->storms[i].start_s,
						      .duration_s = s->storms[i].duration_s,
						      .vlans = s->storms[i].vlans,
						      .nr_vlans = s->storms[i].nr_vlans,
						      .mac_changes = s->storms[i].mac_changes},
				 err);
		a->nr_storms += !ret;
	}
	return ret;
}

int neighbours_init(struct neighbours *n, struct account *a, const struct scenario *s,
		    const char *const *dut, unsigned int nr_dut, struct err *err)
{
	struct respond_host *hosts = calloc(nr_dut + s->nr_in + s->nr_out + 1, sizeof(*hosts));
	int ret, nr;

	if (!hosts)
		return err_set(err, -ENOMEM, "no memory for the responder");
	ret = nr = neighbours_dut(s, dut, nr_dut, hosts, err);
	if (nr >= 0)
		ret = neighbours_gateways(n, s, err);
	if (!ret)
		ret = neighbours_respond(n, a, s, hosts, (uint32_t)nr, err);
	if (!ret)
		ret = neighbours_storms(a, s, hosts, (uint32_t)nr, err);
	free(hosts);
	return ret;
}

void neighbours_free(struct neighbours *n)
{
	addrset_free(&n->gateways[0]);
	addrset_free(&n->gateways[1]);
}
