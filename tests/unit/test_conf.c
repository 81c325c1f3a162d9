// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree, its line numbers, overrides, typed readers and the way back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/conf.h"
#include "lib/err.h"

static struct conf *parse(const char *text)
{
	struct err err = { "" };
	struct conf *root = conf_parse(text, strlen(text), "f.yaml", &err);

	if (!root)
		fail_msg("%s", err.text);
	return root;
}

/* --- parse ------------------------------------------------------------------------------------- */

static void lines_types_and_quotes_are_kept(void **state)
{
	struct conf *root = parse("# head\na: 1\nb:\n  c: 'x'\n  d: [p, \"q\"]\n\ne:\n- f: 2\n  g: |\n   t\n"
				  "h:\n");
	struct conf *b = conf_get(root, "b"), *d = conf_get(b, "d"), *e = conf_get(root, "e");

	(void)state;
	assert_int_equal(root->type, CONF_MAP);
	assert_int_equal(conf_get(root, "a")->line, 2);
	assert_string_equal(conf_get(root, "a")->value, "1");
	assert_false(conf_get(root, "a")->quoted);
	assert_int_equal(b->line, 3);
	assert_int_equal(b->type, CONF_MAP);
	assert_true(conf_get(b, "c")->quoted);
	assert_int_equal(d->line, 5);
	assert_int_equal(d->type, CONF_SEQ);
	assert_false(d->child->quoted);
	assert_true(d->child->next->quoted);
	assert_null(d->child->next->next);
	assert_int_equal(e->child->type, CONF_MAP);
	assert_int_equal(e->child->line, 8);
	assert_int_equal(conf_get(e->child, "g")->line, 9);
	assert_string_equal(conf_get(e->child, "g")->value, "t\n");
	assert_string_equal(conf_get(root, "h")->value, "");
	assert_null(conf_get(root, "absent"));
	assert_string_equal(d->file, "f.yaml");
	conf_free(root);
}

static void a_byte_order_mark_is_no_content(void **state)
{
	struct conf *root = parse("\xef\xbb\xbf" "a: 1\n");

	(void)state;
	assert_int_equal(conf_get(root, "a")->line, 1);
	assert_string_equal(conf_get(root, "a")->value, "1");
	conf_free(root);
}

static void what_is_no_scenario_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "", "f.yaml:1: the text is empty" },
		{ "# only this\n", "f.yaml:1: the text is empty" },
		{ "a\n", "f.yaml:1: a scenario is made of \"key: value\" lines" },
		{ "\n- a\n", "f.yaml:2: a scenario is made of \"key: value\" lines" },
		{ "a: 1\nb: 2\na: 3\n", "f.yaml:3: a is here a second time; leave one" },
		{ "x:\n  a: 1\n  'a': 3\n", "f.yaml:3: a is here a second time; leave one" },
		{ "a: 1\nb: &n 2\n", "f.yaml:2: anchors (&n) are not supported; leave it out" },
		{ "b: &n [1]\n", "f.yaml:1: anchors (&n) are not supported; leave it out" },
		{ "b: &n {a: 1}\n", "f.yaml:1: anchors (&n) are not supported; leave it out" },
		{ "&n b: 1\n", "f.yaml:1: anchors (&n) are not supported; leave it out" },
		{ "a: 1\n\nb: *n\n",
		  "f.yaml:3: aliases (*n) are not supported; write the value again" },
		{ "*n : 1\n", "f.yaml:1: aliases (*n) are not supported; write the value again" },
		{ "b: !!int 5\n",
		  "f.yaml:1: tags (tag:yaml.org,2002:int) are not supported; leave it out" },
		{ "b: ! 5\n", "f.yaml:1: tags (!) are not supported; leave it out" },
		{ "b: !x [5]\n", "f.yaml:1: tags (!x) are not supported; leave it out" },
		{ "a: 1\n---\nb: 1\n", "f.yaml:2: a second document begins here; one is the limit" },
		{ "? [a]\n: 1\n", "f.yaml:1: a key must be a word, as in \"seed: 1\"" },
		{ "a: 1\n? {a: b}\n: 1\n", "f.yaml:2: a key must be a word, as in \"seed: 1\"" },
		{ "'': 1\n", "f.yaml:1: a key must be a word, as in \"seed: 1\"" },
		{ "a: \"x\\0y\"\n", "f.yaml:1: a text holds a NUL character; leave it out" },
		{ "a: 1\nb: [1\nc: 2\n", "f.yaml:3: this is no YAML: did not find expected ',' or ']' "
					"while parsing a flow sequence that begins in line 2" },
		{ "a: 1\n\tb: 2\n", "f.yaml:2: this is no YAML: " },
		{ "a: 1\nb: 2\nc: \xff\n", "f.yaml:3: this is no YAML: " },
		{ "a: 1\nb: \x01\n", "f.yaml:2: this is no YAML: " },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size_t len = strlen(bad[i].error);

		assert_null(conf_parse(bad[i].text, strlen(bad[i].text), "f.yaml", &err));
		if (bad[i].error[len - 1] == ' ') /* the rest is libyaml's */
			err.text[len] = '\0';
		assert_string_equal(err.text, bad[i].error);
	}
	assert_null(conf_parse("a: 1\n\0", 6, "f.yaml", &err));
	assert_memory_equal(err.text, "f.yaml:2: this is no YAML", 25);
}

/* @open many times, then the root's key before it. */
static struct conf *parse_deep(unsigned int depth, struct err *err)
{
	char text[256] = "a: ";
	size_t len = 3;

	memset(text + len, '[', depth);
	memset(text + len + depth, ']', depth);
	return conf_parse(text, len + 2 * depth, "f.yaml", err);
}

static void hostile_sizes_are_refused(void **state)
{
	struct err err = { "" };
	struct conf *root = parse_deep(CONF_DEPTH_MAX, &err);
	char *text = malloc(CONF_TEXT_MAX + 2), *at = text;

	(void)state;
	assert_non_null(text);
	assert_non_null(root);
	conf_free(root);
	assert_null(parse_deep(CONF_DEPTH_MAX + 1, &err));
	assert_string_equal(err.text, "f.yaml:1: nested deeper than 32 levels");

	for (unsigned int i = 0; i <= CONF_KEYS_MAX; i++)
		at += sprintf(at, "k%u: 1\n", i);
	assert_null(conf_parse(text, (size_t)(at - text), "f.yaml", &err));
	assert_string_equal(err.text, "f.yaml:4097: more than 4096 keys in one place");

	at = text + sprintf(text, "a: [");
	for (unsigned int i = 0; i < CONF_NODES_MAX; i++, at += 2)
		memcpy(at, "1,", 2);
	assert_null(conf_parse(text, (size_t)(at - text), "f.yaml", &err));
	assert_string_equal(err.text, "f.yaml:1: more than 1000000 values; split the scenario");

	memset(text, ' ', CONF_TEXT_MAX + 1);
	assert_null(conf_parse(text, CONF_TEXT_MAX + 1, "f.yaml", &err));
	assert_string_equal(err.text, "f.yaml: larger than 16 MiB; that is no scenario");

	memset(text, 'k', 200);
	memcpy(text + 129, ": 1", 4);
	assert_null(conf_parse(text, strlen(text), "f.yaml", &err));
	assert_string_equal(err.text, "f.yaml:1: a key must be a word, as in \"seed: 1\"");
	root = parse(text + 1);
	conf_free(root);
	free(text);
}

static void long_paths_leave_room_for_the_sentence(void **state)
{
	struct err err = { "" };
	char path[2000];

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_null(conf_parse("a: *n", 5, path, &err));
	assert_non_null(strstr(err.text, "p:1: aliases (*n)"));
}

static void files_are_loaded_or_named(void **state)
{
	char path[] = "/tmp/dst-conf.XXXXXX";
	struct err err = { "" };
	struct conf *root;
	int fd = mkstemp(path);
	char want[128];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a: 1\nb: [\n", 10), 10);
	assert_null(conf_load(path, &err));
	snprintf(want, sizeof(want), "%s:2: this is no YAML: did not find expected node content", path);
	assert_string_equal(err.text, want);
	assert_int_equal(pwrite(fd, "a: 1\nb: 2\n", 10, 0), 10);
	root = conf_load(path, &err);
	assert_non_null(root);
	assert_string_equal(conf_get(root, "b")->value, "2");
	conf_free(root);
	close(fd);
	unlink(path);
	assert_null(conf_load(path, &err));
	snprintf(want, sizeof(want), "%s: No such file or directory; give the path of a scenario file",
		 path);
	assert_string_equal(err.text, want);
	assert_null(conf_load("/", &err));
	assert_string_equal(err.text, "/: Is a directory; give the path of a scenario file");
}

/* --- overrides --------------------------------------------------------------------------------- */

static const char base[] = "name: x\nempty:\ndut:\n  sysctl:\n    net.ipv4.a: 1\n    net.ipv4.a.b: 2\n"
			   "streams:\n- rate: 1\n  sets: [p, q]\n";

static void overrides_reach_every_place(void **state)
{
	static const struct {
		const char *set, *want; /* what conf_emit() makes of the tree, in part */
	} good[] = {
		{ "name=y", "name: y\n" },
		{ "name=\"y\"", "name: \"y\"\n" },
		{ "name=", "name: \"\"\n" },
		{ "name=a=b", "name: \"a=b\"\n" },
		{ "name=[1, 2]", "name:\n  - 1\n  - 2\n" },
		{ "name={a: 1}", "name:\n  a: 1\n" },
		{ "new=5k", "\nnew: 5k\n" },
		{ "new.a.b=1", "\nnew:\n  a:\n    b: 1\n" },
		{ "new.0=1", "\nnew:\n  - 1\n" },
		{ "new.0.a=1", "\nnew:\n  -\n    a: 1\n" },
		{ "empty.a=1", "\nempty:\n  a: 1\n" },
		{ "empty.0=1", "\nempty:\n  - 1\n" },
		{ "streams.0.rate=2", "rate: 2\n" },
		{ "streams.0.sets=[]", "sets: []\n" },
		{ "streams.0.sets.0=r", "- r\n      - q\n" },
		{ "streams.0.sets.2=r", "- q\n      - r\n" },
		{ "streams.1.rate=9", "  -\n    rate: 9\n" },
		{ "streams=[]", "streams: []\n" },
		{ "streams={}", "streams: {}\n" },
		{ "dut.sysctl.net.ipv4.a=7", "    net.ipv4.a: 7\n    net.ipv4.a.b: 2\n" },
		{ "dut.sysctl.net.ipv4.a.b=7", "    net.ipv4.a: 1\n    net.ipv4.a.b: 7\n" },
		{ "dut.sysctl.net.ipv6.c=7", "    net:\n      ipv6:\n        c: 7\n" },
	};
	struct err err = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct conf *root = parse(base);
		char *text;

		if (conf_set(root, good[i].set, &err))
			fail_msg("%s", err.text);
		text = conf_emit(root);
		if (!strstr(text, good[i].want))
			fail_msg("%s made\n%s", good[i].set, text);
		free(text);
		conf_free(root);
	}
}

static void groups_in_lists_have_names(void **state)
{
	static const char text[] = "list: [{name: a, v: 1}, 5, {w: 1}, {name: a.b, v: 2}, {name: 7x, v: 3}]\n";
	static const struct {
		const char *set, *want;
	} good[] = {
		{ "list.a.v=9", "name: a\n    v: 9\n" },
		{ "list.a.b.v=9", "name: a.b\n    v: 9\n" },
		{ "list.7x.v=9", "name: 7x\n    v: 9\n" },
		{ "list.a=9", "list:\n  - 9\n  - 5\n" },
		{ "list.a.b.name=c", "name: c\n    v: 2\n" },
	};
	struct err err = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct conf *root = parse(text);
		char *out;

		if (conf_set(root, good[i].set, &err))
			fail_msg("%s: %s", good[i].set, err.text);
		out = conf_emit(root);
		if (!strstr(out, good[i].want))
			fail_msg("%s made\n%s", good[i].set, out);
		free(out);
		conf_free(root);
	}
}

static void wrong_overrides_are_told_by_their_key(void **state)
{
	static const struct {
		const char *set, *error;
	} bad[] = {
		{ "name", "--set name: write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ "", "--set : write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ "=5", "--set =5: write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ ".a=5", "--set .a=5: write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ "a.=5", "--set a.=5: write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ "a..b=5", "--set a..b=5: write KEY=VALUE, as in --set streams.0.rate_pps=5k" },
		{ "name.x=5", "--set name.x: the path goes on below a value; shorten it" },
		{ "streams.2.rate=1", "--set streams.2.rate: index 2 is beyond the list; use at most 1" },
		{ "streams.x=1",
		  "--set streams.x: a list is indexed by a number or by the name of a group in it, as "
		  "in streams.0.rate_pps" },
		{ "streams.99999999=1",
		  "--set streams.99999999: a list is indexed by a number or by the name of a group in it, as "
		  "in streams.0.rate_pps" },
		{ "streams.0x.a=1",
		  "--set streams.0x.a: a list is indexed by a number or by the name of a group in it, as "
		  "in streams.0.rate_pps" },
		{ "name=[", "--set name: this is no YAML: " },
		{ "name=# x", "--set name: the text is empty" },
		{ "name=*a", "--set name: aliases (*a) are not supported; write the value again" },
		{ "name={a: 1, a: 2}", "--set name: a is here a second time; leave one" },
		{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g=1",
		  "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g: "
		  "the path is too deep" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct conf *root = parse(base);
		size_t len = strlen(bad[i].error);

		assert_int_equal(conf_set(root, bad[i].set, &err), -EINVAL);
		if (bad[i].error[len - 1] == ' ')
			err.text[len] = '\0';
		assert_string_equal(err.text, bad[i].error);
		conf_free(root);
	}
}

static void errors_of_an_override_name_it(void **state)
{
	struct conf *root = parse(base);
	struct err err = { "" };
	uint64_t v = 1;

	(void)state;
	assert_int_equal(conf_set(root, "streams.0.rate=fast", &err), 0);
	assert_int_equal(conf_u64(conf_get(root, "streams")->child, "rate", 1, 9, &v, &err), -EINVAL);
	assert_string_equal(err.text, "--set streams.0.rate: rate is \"fast\"; it must be a number, "
				      "as in 20 or 15k");
	assert_int_equal(conf_set(root, "streams.0.rate=3", &err), 0); /* the last one wins */
	assert_int_equal(conf_u64(conf_get(root, "streams")->child, "rate", 1, 9, &v, &err), 0);
	assert_int_equal(v, 3);
	conf_free(root);
}

/* --- the way back ------------------------------------------------------------------------------ */

static void assert_same(const struct conf *a, const struct conf *b)
{
	const struct conf *y = b->child;

	assert_int_equal(a->type, b->type);
	assert_int_equal(!a->key, !b->key);
	if (a->key)
		assert_string_equal(a->key, b->key);
	if (a->type == CONF_SCALAR) {
		assert_string_equal(a->value, b->value);
		assert_int_equal(a->quoted, b->quoted);
	}
	for (const struct conf *x = a->child; x; x = x->next, y = y->next) {
		assert_non_null(y);
		assert_same(x, y);
	}
	assert_null(y);
}

static void emitted_text_parses_to_the_same_tree(void **state)
{
	static const char *const texts[] = {
		base,
		"{}\n",
		"a: []\nb: {}\nc:\nd: ''\ne: [[], {}, [[1]], {x: [y]}]\n",
		"a: 'it''s'\nb: \"tab\\t nl\\n bell\\a \\u00e9 \\U0001F600 \\x85 \\u2028\"\nc: |\n  x\n  y\n",
		"plain: folded\n  over lines\nmore: a  b\nurl: http://x/y?z#w\n",
		"a: [-, ?x, ---, ..., '-', \"#\", ~, null, true, 1.5k, -1, a:b]\n",
		"'odd key': 1\n\"k\\n\": 2\n\"\\u00fc\": 3\n? long\n: 4\n",
		"a: ---\nb: '...'\nc: \xef\xbb\xbfx\n",
		"\xef\xbb\xbf" "a: b\n",
	};
	char *text, *again;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct conf *root = parse(texts[i]), *back;

		text = conf_emit(root);
		back = parse(text);
		assert_same(root, back);
		again = conf_emit(back);
		assert_string_equal(text, again);
		free(text);
		free(again);
		conf_free(root);
		conf_free(back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_types_and_quotes_are_kept),
		cmocka_unit_test(a_byte_order_mark_is_no_content),
		cmocka_unit_test(what_is_no_scenario_is_refused_with_its_line),
		cmocka_unit_test(hostile_sizes_are_refused),
		cmocka_unit_test(long_paths_leave_room_for_the_sentence),
		cmocka_unit_test(files_are_loaded_or_named),
		cmocka_unit_test(overrides_reach_every_place),
		cmocka_unit_test(groups_in_lists_have_names),
		cmocka_unit_test(wrong_overrides_are_told_by_their_key),
		cmocka_unit_test(errors_of_an_override_name_it),
		cmocka_unit_test(emitted_text_parses_to_the_same_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
