// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"

static void the_code_comes_back(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, -EINVAL, "port %d: give 1 to %s", 0, "9"), -EINVAL);
	assert_string_equal(err.text, "port 0: give 1 to 9");
	assert_int_equal(err_wrap(&err, -EIO, "%s:%d", "a.yaml", 7), -EIO);
	assert_string_equal(err.text, "a.yaml:7: port 0: give 1 to 9");
	assert_int_equal(err_set(NULL, -ENOMEM, "x"), -ENOMEM);
	assert_int_equal(err_wrap(NULL, -ENOMEM, "x"), -ENOMEM);
}

static void it_stays_one_printable_line(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, -EINVAL, "'%s'", "a\nb\tc\x1b[31m\x7f.");
	assert_string_equal(err.text, "'a b c?[31m?.'");
	err_set(&err, -EINVAL, "'%s'", "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(err.text, "'gr\xc3\xbc\xc3\x9f'");
	err_set(&err, -EINVAL, "%s", "");
	assert_string_equal(err.text, "error -22");
}

static void what_does_not_fit_says_so(void **state)
{
	char text[1000];
	struct err err;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t len = sizeof(err.text) - 3; len < sizeof(err.text) + 3; len++) {
		bool fits = len < sizeof(err.text);

		err_set(&err, -EINVAL, "%.*s", (int)len, text);
		assert_int_equal(strlen(err.text), fits ? len : sizeof(err.text) - 1);
		assert_int_equal(!strcmp(err.text + strlen(err.text) - 3, "..."), !fits);
	}
	err_set(&err, -EINVAL, "the end");
	err_wrap(&err, -EINVAL, "%.*s", (int)sizeof(err.text) - 9, text);
	assert_string_equal(err.text + sizeof(err.text) - 9, ": the...");
	err_wrap(&err, -EINVAL, "%s", text);
	assert_string_equal(err.text + sizeof(err.text) - 5, "x...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_comes_back),
		cmocka_unit_test(it_stays_one_printable_line),
		cmocka_unit_test(what_does_not_fit_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
