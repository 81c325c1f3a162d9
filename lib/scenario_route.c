// SPDX-License-Identifier: GPL-2.0-or-later
/* dut.routes: "PREFIX via GATEWAY", "blackhole PREFIX", "unreachable PREFIX", "prohibit PREFIX". */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define ROUTES_MAX 4096u
#define WORDS_MAX  3u

static const char *const types[] = { [ROUTE_BLACKHOLE] = "blackhole",
				     [ROUTE_UNREACHABLE] = "unreachable",
				     [ROUTE_PROHIBIT] = "prohibit" };

/* The prefix that @text is, or the address with the whole of its bits. */
static bool parse_prefix(const char *text, int *family, struct addr *a, uint8_t *len,
			 struct err *err)
{
	const char *slash = strchr(text, '/');
	struct addrset one;
	bool good;

	addrset_init(&one);
	good = !addrset_add(&one, text, err);
	if (good && strchr(text, '-'))
		good = !err_set(err, -EINVAL, "'%.64s' is a range; a route has a prefix", text);
	if (good) {
		*family = one.family;
		*a = one.ranges[0].first;
		*len = (uint8_t)(slash ? atoi(slash + 1) : one.family == AF_INET6 ? 128 : 32);
	}
	addrset_free(&one);
	return good;
}

static bool parse_gateway(const char *text, struct scenario_route *r, struct err *err)
{
	uint8_t len;
	int family;

	if (strchr(text, '/'))
		return !err_set(err, -EINVAL, "the gateway '%.64s' must be an address", text);
	if (!parse_prefix(text, &family, &r->via, &len, err))
		return false;
	return family == r->family || !err_set(err, -EINVAL,
					       "'%.64s' is of another family than the "
					       "prefix; give a gateway of the same", text);
}

static bool parse_words(char *const *word, unsigned int nr, struct scenario_route *r,
			struct err *err)
{
	if (nr == 3 && strcmp(word[1], "via") == 0) {
		r->type = ROUTE_VIA;
		return parse_prefix(word[0], &r->family, &r->prefix, &r->len, err) &&
		       parse_gateway(word[2], r, err);
	}
	for (r->type = ROUTE_BLACKHOLE; r->type <= ROUTE_PROHIBIT; r->type++)
		if (nr == 2 && strcmp(word[0], types[r->type]) == 0)
			return parse_prefix(word[1], &r->family, &r->prefix, &r->len, err);
	return !err_set(err, -EINVAL,
			"'%.80s' is no route; write PREFIX via GATEWAY, blackhole PREFIX, "
			"unreachable PREFIX or prohibit PREFIX", r->text);
}

static bool parse(struct scenario_route *r, struct err *err)
{
	char buf[160], *word[WORDS_MAX + 1] = { NULL }, *at = buf, *more;
	unsigned int nr = 0;

	strncpy(buf, r->text, sizeof(buf) - 1);
	buf[sizeof(buf) - 1] = '\0';
	while (nr <= WORDS_MAX && (word[nr] = strtok_r(at, " ", &more))) {
		at = NULL;
		nr++;
	}
	return parse_words(word, strlen(r->text) < sizeof(buf) ? nr : 0, r, err);
}

int scenario_route_bind(struct scenario *s, const struct conf *dut, struct err *err)
{
	struct scenario_route *r;
	struct err why = { "" };
	const char *text;
	int ret = scenario_bind_list(dut, "routes", sizeof(*s->routes), ROUTES_MAX,
				     (void **)&s->routes, &s->nr_routes, err);

	if (ret || !s->nr_routes)
		return ret;
	r = s->routes;
	conf_each(it, conf_get(dut, "routes")) {
		ret = conf_text(it, &text, err);
		if (ret)
			return ret;
		r->text = strdup(text);
		if (!r->text)
			return scenario_no_memory(err);
		if (!parse(r++, &why))
			return conf_err(it, err, -EINVAL, "routes: %s", why.text);
	}
	return 0;
}

/* The kernel takes a gateway only where it is on-link. */
static int check_gateway(const struct scenario *s, const struct scenario_route *r,
			 const struct conf *c, const struct scenario_allow *allow, struct err *err)
{
	char buf[INET6_ADDRSTRLEN];
	const char *key;
	bool near = false;

	addr_text(r->family, r->via, buf);
	if (scenario_addr_is_dut(s, r->family, r->via, &key))
		return conf_err(c, err, -EINVAL,
				"routes: %s is the host under test itself (dut.%s); "
				"take another gateway", buf, key);
	for (uint32_t i = 0; i < s->nr_in; i++)
		near |= scenario_addr_on_link(&s->in[i], r->family, r->via);
	for (uint32_t i = 0; i < s->nr_out; i++)
		near |= scenario_addr_on_link(&s->out[i], r->family, r->via);
	if (!near)
		return conf_err(c, err, -EINVAL, "routes: %s is in no prefix of in_address or "
				"out_address; take a gateway that is on-link", buf);
	return scenario_addr_check(c, "routes", r->family, r->via, NULL, allow, err);
}

int scenario_route_check(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	const struct scenario_route *r = s->routes;
	int ret;

	if (!s->nr_routes)
		return 0;
	conf_each(it, conf_get(conf_get(s->conf, "dut"), "routes")) {
		ret = r->type == ROUTE_VIA ? check_gateway(s, r, it, allow, err) : 0;
		if (ret)
			return ret;
		r++;
	}
	return 0;
}
