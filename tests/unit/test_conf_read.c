// SPDX-License-Identifier: GPL-2.0-or-later
/* The typed readers of the tree, and the search for what nobody read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

static int read_u64(const char *value, uint64_t min, uint64_t max, uint64_t *out, struct err *err)
{
	struct conf *root;
	char text[128];
	int ret;

	snprintf(text, sizeof(text), "\nn: %s\n", value);
	root = parse(text);
	ret = conf_u64(root, "n", min, max, out, err);
	conf_free(root);
	return ret;
}

static void whole_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = {
		{ "0", 0 }, { "007", 7 }, { "15k", 15000 }, { "1_000_000", 1000000 }, { "2M", 2000000 },
		{ "3G", 3000000000 }, { "1.5k", 1500 }, { "0.001M", 1000 }, { "1.000", 1 },
		{ "1_0.2_5k", 10250 }, { "-0", 0 },
		{ "18446744073709551615", UINT64_MAX }, { "18446744073.709551615G", UINT64_MAX },
	};
	static const char *const bad[] = {
		"18446744073709551616", "18446744073709551615k", "99999999999999999999999", "-1", "-5k",
		"1.5", "1.0001k", "0.5",
	};
	static const char *const no_number[] = {
		"x", "1x", "1kk", "1 k", "k", "_1", "1_", "1__0", "1.", ".5", "1e3", "0x10", "+1", "--1",
		"1,5", "nan", "inf", "''", "'5'", "true",
	};
	struct err err;
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = 1;
		assert_int_equal(read_u64(good[i].text, 0, UINT64_MAX, &v, &err), 0);
		assert_true(v == good[i].want);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_u64(bad[i], 0, UINT64_MAX, &v, &err), -EINVAL);
		assert_non_null(strstr(err.text, "must be a whole number from 0 to"));
	}
	for (size_t i = 0; i < sizeof(no_number) / sizeof(no_number[0]); i++) {
		assert_int_equal(read_u64(no_number[i], 0, UINT64_MAX, &v, &err), -EINVAL);
		assert_non_null(strstr(err.text, "it must be a number, as in 20 or 15k"));
	}
	assert_int_equal(read_u64("1k", 1, 999, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: n is 1k; it must be a whole number from 1 to 999");
	assert_int_equal(read_u64("[1]", 1, 999, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: n is a list; it must be a single value");
	assert_int_equal(read_u64("'5'", 1, 999, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: n is \"5\"; it must be a number, as in 20 or 15k, "
				      "without quotes");
}

static void fractions_words_and_choices(void **state)
{
	static const char *const colours[] = { "red", "green", "blue", NULL };
	struct conf *root = parse("d: 0.25\nk: 2.5k\nneg: -1\nt: yes\nf: 'off'\ns: text\nq: ''\nn:\n"
				  "c: green\nw: pink\nm: {a: 1}\n");
	const char *s = "unset";
	struct err err = { "" };
	double d = 0;
	bool b = false;
	int e = -1;

	(void)state;
	assert_int_equal(conf_double(root, "d", 0, 1, &d, &err), 0);
	assert_true(d == 0.25);
	assert_int_equal(conf_double(root, "k", 0, 1e9, &d, &err), 0);
	assert_true(d == 2500);
	assert_int_equal(conf_double(root, "k", 0, 1, &d, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: k is 2.5k; it must be from 0 to 1");
	assert_int_equal(conf_double(root, "neg", 0, 1, &d, &err), -EINVAL);
	assert_int_equal(conf_double(root, "neg", -1, 1, &d, &err), 0);
	assert_true(d == -1);
	assert_int_equal(conf_bool(root, "t", &b, &err), 0);
	assert_true(b);
	assert_int_equal(conf_bool(root, "f", &b, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:5: f is \"off\"; it must be true or false");
	assert_int_equal(conf_str(root, "s", &s, &err), 0);
	assert_string_equal(s, "text");
	assert_int_equal(conf_str(root, "q", &s, &err), 0);
	assert_string_equal(s, "");
	assert_int_equal(conf_str(root, "n", &s, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:8: n has no value; write \"\" for an empty one");
	assert_int_equal(conf_str(root, "m", &s, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:11: m is a group of keys; it must be a single value");
	assert_int_equal(conf_enum(root, "c", colours, &e, &err), 0);
	assert_int_equal(e, 1);
	assert_int_equal(conf_enum(root, "w", colours, &e, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:10: w is \"pink\"; it must be red, green or blue");
	conf_free(root);
}

static void absent_members_change_nothing(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct conf *root = parse("x: 1\n"), *node;
	const char *s = "kept";
	struct err err = { "" };
	uint64_t u = 7;
	double d = 7;
	bool b = true;
	int e = 7;

	(void)state;
	assert_int_equal(conf_u64(root, "a", 0, 1, &u, &err) | conf_double(root, "b", 0, 1, &d, &err) |
			 conf_bool(root, "c", &b, &err) | conf_str(root, "d", &s, &err) |
			 conf_enum(root, "e", names, &e, &err) |
			 conf_node(root, "f", CONF_MAP, &node, &err), 0);
	assert_true(u == 7 && d == 7 && b && e == 7 && !node);
	assert_string_equal(s, "kept");
	conf_free(root);
}

static void what_nobody_read_is_named_with_what_was_meant(void **state)
{
	struct conf *root = parse("rate_pps: 1\nsub:\n  lanes: 2\nlist:\n- a: 1\n- bust: 2\n");
	struct err err = { "" };
	struct conf *sub, *list;
	uint64_t v;

	(void)state;
	assert_int_equal(conf_reject_unused(root, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:1: unknown key rate_pps; remove it");
	conf_u64(root, "rate_pp", 0, 9, &v, &err);
	conf_u64(root, "nothing_like_it", 0, 9, &v, &err);
	assert_int_equal(conf_reject_unused(root, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:1: unknown key rate_pps; did you mean rate_pp?");
	conf_u64(root, "rate_pps", 0, 9, &v, &err);
	sub = conf_get(root, "sub");
	conf_get(sub, "lane");
	assert_int_equal(conf_reject_unused(root, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:3: unknown key lanes; did you mean lane?");
	conf_get(sub, "lanes");
	list = conf_get(root, "list");
	conf_get(list->child, "a");
	conf_get(list->child->next, "burst");
	conf_get(list->child->next, "boost");
	assert_int_equal(conf_reject_unused(root, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:6: unknown key bust; did you mean burst?");
	conf_get(list->child->next, "bust");
	assert_int_equal(conf_reject_unused(root, &err), 0);
	conf_free(root);
}

static void errors_stay_one_line(void **state)
{
	struct conf *root = parse("n: \"a\\nb\\e\"\n");
	struct err err = { "" };
	uint64_t v;

	(void)state;
	assert_int_equal(conf_u64(root, "n", 0, 1, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:1: n is \"a b?\"; it must be a number, as in 20 or 15k");
	conf_free(root);
}

/* Elements of lists and names of members are numbers as well; some are negative. */
static void numbers_without_a_key(void **state)
{
	struct conf *root = parse("\nl: [7, x, [1], '5']\nm: {1.5k: 2, big: 3}\na: -9223372036854775807\n"
				  "b: -2k\nc: 9223372036854775808\nd: -0.5\n");
	const struct conf *l = conf_get(root, "l")->child, *m = conf_get(root, "m")->child;
	struct err err = { "" };
	uint64_t v = 0;
	int64_t i = 0;

	(void)state;
	assert_int_equal(conf_item_u64(l, "tag", 1, 9, &v, &err), 0);
	assert_int_equal(v, 7);
	assert_int_equal(conf_item_u64(l, "tag", 8, 9, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: tag is 7; it must be a whole number from 8 to 9");
	assert_int_equal(conf_item_u64(l->next, "tag", 1, 9, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: tag is \"x\"; it must be a number, as in 20 or 15k");
	assert_int_equal(conf_item_u64(l->next->next, "tag", 1, 9, &v, &err), -EINVAL);
	assert_int_equal(conf_item_u64(l->next->next->next, "tag", 1, 9, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:2: tag is \"5\"; it must be a number, as in 20 or 15k, "
				      "without quotes");
	assert_int_equal(conf_name_u64(m, "size", 1, 2000, &v, &err), 0);
	assert_int_equal(v, 1500);
	assert_int_equal(conf_name_u64(m->next, "size", 1, 2000, &v, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:3: size is \"big\"; it must be a number, as in 20 or 15k");
	assert_int_equal(conf_i64(root, "a", -INT64_MAX, 0, &i, &err), 0);
	assert_true(i == -INT64_MAX);
	assert_int_equal(conf_i64(root, "b", -2000, 0, &i, &err), 0);
	assert_int_equal(i, -2000);
	assert_int_equal(conf_i64(root, "b", -1999, 0, &i, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:5: b is -2k; it must be a whole number from -1999 to 0");
	assert_int_equal(conf_i64(root, "c", INT64_MIN, INT64_MAX, &i, &err), -EINVAL);
	assert_int_equal(conf_i64(root, "d", -9, 9, &i, &err), -EINVAL);
	assert_int_equal(conf_i64(root, "none", -9, 9, &i, &err), 0);
	assert_int_equal(i, -2000);
	conf_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(numbers_without_a_key),
		cmocka_unit_test(fractions_words_and_choices),
		cmocka_unit_test(absent_members_change_nothing),
		cmocka_unit_test(what_nobody_read_is_named_with_what_was_meant),
		cmocka_unit_test(errors_stay_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
