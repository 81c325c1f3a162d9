// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dststorm-scenario(5) and the binder know the same keys. Whoever reads a map notes what it asks
 * for; a scenario with every group in it makes the readers ask for everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/conf_tree.h"
#include "lib/err.h"
#include "lib/scenario.h"

#define PAGE	 "docs/dststorm-scenario.5.scd"
#define KEYS_MAX 256

static const char every_group[] =
	"name: all\nduration_s: 2\ngen: {}\n"
	"dut: {sysctl: {a: 1}}\n"
	"responder:\n"
	"  rules: [{prefix: 198.19.0.7}]\n"
	"  storms: [{prefix: [198.19.0.9], rate_pps: 1, duration_s: 1}]\n"
	"streams:\n"
	"- {name: a, destinations: {file: tests/unit/data/addresses.txt}, sources: [198.18.0.2],\n"
	"   rate_pps: 100, order: hot, hot: {packets: 0.5}, ramp: {to_pps: 10, steps: 3}}\n";

struct keys {
	char name[KEYS_MAX][64];
	unsigned int nr;
};

static void add(struct keys *keys, const char *prefix, const char *name, size_t len)
{
	assert_true(keys->nr < KEYS_MAX);
	snprintf(keys->name[keys->nr++], sizeof(keys->name[0]), "%s%s%.*s", prefix, *prefix ? "." : "",
		 (int)len, name);
}

static bool has(const struct keys *keys, const char *name)
{
	for (unsigned int i = 0; i < keys->nr; i++)
		if (strcmp(keys->name[i], name) == 0)
			return true;
	return false;
}

/* What was asked of @c and what is below it, by path, without the numbers of lists. */
static void collect(const struct conf *c, const char *path, struct keys *keys)
{
	char below[64];

	for (const struct conf_asked *asked = c->asked; asked; asked = asked->next)
		add(keys, path, asked->key, strlen(asked->key));
	conf_each(it, c) {
		snprintf(below, sizeof(below), "%s%s%s", path, *path && it->key ? "." : "",
			 it->key ? it->key : "");
		collect(it, below, keys);
	}
}

/*
 * What the page defines: *KEY* at the start of a line, below "# GROUP: ...", where GROUP is the path
 * of the map, "top", or "sets" for the keys of any entry of a set.
 */
static void read_page(struct keys *keys)
{
	FILE *f = fopen(PAGE, "r");
	char line[512], group[64] = "";
	bool defines = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line + 1, "*");

		if (strncmp(line, "# ", 2) == 0) {
			char *colon = strchr(line, ':');

			defines = colon;
			snprintf(group, sizeof(group), "%.*s", colon ? (int)(colon - line - 2) : 0,
				 line + 2);
			if (colon)
				add(keys, "", group, strlen(group));
			if (strcmp(group, "top") == 0)
				*group = '\0';
		} else if (defines && *line == '*') {
			/* Of a group that has no section, "a.b" defines "a" as well. */
			const char *dot = memchr(line + 1, '.', len);

			if (dot)
				add(keys, group, line + 1, (size_t)(dot - line - 1));
			add(keys, group, line + 1, len);
		}
	}
	fclose(f);
}

/* Entries of sets are alike wherever they are. */
static const char *plain(const char *name, char *buf, size_t size)
{
	const char *last = strrchr(name, '.');

	if (!last || (strcmp(last, ".file") && strcmp(last, ".pcap")))
		return name;
	snprintf(buf, size, "sets%s", last);
	return buf;
}

static void the_page_has_every_key_and_no_other(void **state)
{
	const struct scenario_source from = { .path = "s.yaml", .text = every_group };
	struct keys known = { .nr = 0 }, page = { .nr = 0 };
	struct err err = { "" };
	struct scenario s;
	char buf[64];

	(void)state;
	if (scenario_load(&s, &from, &err))
		fail_msg("%s", err.text);
	collect(s.conf, "", &known);
	scenario_free(&s);
	read_page(&page);
	assert_true(known.nr > 60 && page.nr > 60);
	for (unsigned int i = 0; i < known.nr; i++)
		if (!has(&page, plain(known.name[i], buf, sizeof(buf))))
			fail_msg(PAGE " lacks %s", known.name[i]);
	add(&known, "", "top", 3);
	add(&known, "", "sets", 4);
	add(&known, "sets", "file", 4);
	add(&known, "sets", "pcap", 4);
	for (unsigned int i = 0; i < page.nr; i++)
		if (!has(&known, page.name[i]))
			fail_msg(PAGE " has %s, which nothing reads", page.name[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_has_every_key_and_no_other) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
