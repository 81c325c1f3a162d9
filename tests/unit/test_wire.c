// SPDX-License-Identifier: GPL-2.0-or-later
/* Framing at every split, and the shapes of docs/protocol.md. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/wire.h"

static int open_reader(void **state)
{
	static struct wire_reader r;

	*state = &r;
	return wire_reader_init(&r);
}

static int close_reader(void **state)
{
	wire_reader_free(*state);
	return 0;
}

static void feed(struct wire_reader *r, const char *bytes, size_t n)
{
	size_t room;
	char *at = wire_reader_space(r, &room);

	assert_true(room >= n);
	memcpy(at, bytes, n);
	wire_reader_added(r, n);
}

static void expect_id(struct wire_reader *r, json_int_t id)
{
	struct err err = { "" };
	json_t *msg = NULL;

	assert_int_equal(wire_next(r, &msg, &err), 1);
	assert_int_equal(json_integer_value(json_object_get(msg, "id")), id);
	json_decref(msg);
}

static void expect_nothing(struct wire_reader *r)
{
	json_t *msg = NULL;
	size_t room;

	assert_int_equal(wire_next(r, &msg, NULL), 0);
	assert_null(msg);
	wire_reader_space(r, &room);
	assert_true(room > 0);
}

static void expect_error(struct wire_reader *r, int code, const char *part)
{
	struct err err = { "" };
	json_t *msg = NULL;

	assert_int_equal(wire_next(r, &msg, &err), code);
	assert_null(msg);
	assert_non_null(strstr(err.text, part));
}

static void lines_are_found_at_every_split(void **state)
{
	static const char text[] = "{\"v\":1,\"id\":1}\n\n\n{\"v\":1,\"id\":2}\r\n{\"v\":1,\"id\":3}\n";
	const size_t end[] = { 15, 33, sizeof(text) - 1 };
	struct wire_reader *r = *state;

	for (size_t a = 0; a < sizeof(text); a++) {
		for (size_t b = a; b < sizeof(text); b++) {
			const size_t cuts[] = { 0, a, b, sizeof(text) - 1 };
			json_int_t next = 0;

			for (int i = 0; i < 3; i++) {
				feed(r, text + cuts[i], cuts[i + 1] - cuts[i]);
				while (next < 3 && end[next] <= cuts[i + 1])
					expect_id(r, ++next);
				expect_nothing(r);
			}
			assert_int_equal(next, 3);
		}
	}
}

static void one_byte_at_a_time(void **state)
{
	static const char text[] = "{\"v\":1,\"id\":77,\"params\":{\"a\":[1,2,3]}}\n";
	struct wire_reader *r = *state;

	for (size_t i = 0; i + 2 < sizeof(text); i++) {
		feed(r, text + i, 1);
		expect_nothing(r);
	}
	feed(r, "\n", 1);
	expect_id(r, 77);
	expect_nothing(r);
}

/* A line of exactly @len bytes with its newline. */
static char *line_of(size_t len)
{
	static const char head[] = "{\"v\":1,\"id\":5,\"x\":\"", tail[] = "\"}\n";
	char *line = malloc(len);

	assert_non_null(line);
	memset(line, 'x', len);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + len - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	return line;
}

static void the_longest_line_fits(void **state)
{
	char *line = line_of(WIRE_LINE_MAX);
	struct wire_reader *r = *state;

	for (int i = 0; i < 3; i++) {
		feed(r, line, WIRE_LINE_MAX);
		expect_id(r, 5);
		expect_nothing(r);
	}
	free(line);
}

static void a_longer_line_empties_the_reader(void **state)
{
	char *line = line_of(WIRE_LINE_MAX + 1);
	struct wire_reader *r = *state;

	feed(r, "{\"v\":1,\"id\":4}\n", 15);
	feed(r, line, WIRE_LINE_MAX - 15);
	expect_id(r, 4);
	expect_nothing(r);
	feed(r, line + WIRE_LINE_MAX - 15, 15);
	expect_error(r, -EMSGSIZE, "longer than 262144 bytes");
	expect_nothing(r);
	feed(r, line + WIRE_LINE_MAX, 1); /* its newline: an empty line now */
	expect_nothing(r);
	feed(r, "{\"v\":1,\"id\":6}\n", 15);
	expect_id(r, 6);
	free(line);
}

static void what_is_no_message_is_told_and_skipped(void **state)
{
	static const struct {
		const char *line;
		size_t len;
		const char *part;
	} bad[] = {
#define BAD(line, part) { line, sizeof(line) - 1, part }
		BAD("[]\n", "no JSON object"),
		BAD("[1,2]\n", "no JSON object"),
		BAD("7\n", "no JSON:"),
		BAD("\"v\"\n", "no JSON:"),
		BAD("hello\n", "no JSON:"),
		BAD("{\"v\":1\n", "no JSON:"),
		BAD("{\"v\":1}}\n", "no JSON:"),
		BAD("{\"v\":1}{\"v\":1}\n", "no JSON:"),
		BAD("{\"v\":1,\"v\":1}\n", "no JSON:"),
		BAD("{\"v\":1,\"a\":\"\xff\"}\n", "no JSON:"),
		BAD("{\"v\":1,\"a\":\"\\u0000\"}\n", "no JSON:"),
		BAD("{\"v\":1}\0\n", "no JSON:"),
		BAD("\0{\"v\":1}\n", "no JSON:"),
		BAD("\0\n", "no JSON:"),
		BAD("{}\n", "lacks \"v\":1"),
		BAD("{\"v\":2}\n", "lacks \"v\":1"),
		BAD("{\"v\":\"1\"}\n", "lacks \"v\":1"),
		BAD("{\"v\":1.0}\n", "lacks \"v\":1"),
		BAD("{\"v\":null}\n", "lacks \"v\":1"),
	};
	struct wire_reader *r = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		feed(r, bad[i].line, bad[i].len);
		feed(r, "{\"v\":1,\"id\":9}\n", 15);
		expect_error(r, -EPROTO, bad[i].part);
		expect_id(r, 9);
		expect_nothing(r);
	}
}

static void deep_nesting_is_an_error_not_a_crash(void **state)
{
	struct wire_reader *r = *state;
	char *line = malloc(WIRE_LINE_MAX);

	assert_non_null(line);
	memset(line, '[', WIRE_LINE_MAX);
	line[WIRE_LINE_MAX - 1] = '\n';
	feed(r, line, WIRE_LINE_MAX);
	expect_error(r, -EPROTO, "no JSON:");
	free(line);
}

/* @msg (stolen) makes exactly @want, and comes back through the reader as the same. */
static void expect_line(struct wire_reader *r, json_t *msg, const char *want)
{
	struct err err = { "" };
	json_t *back = NULL;
	size_t len = 0;
	char *line;

	assert_non_null(msg);
	line = wire_line(msg, &len);
	assert_string_equal(line, want);
	assert_int_equal(len, strlen(want));
	feed(r, line, len);
	assert_int_equal(wire_next(r, &back, &err), 1);
	assert_true(json_equal(back, msg));
	json_decref(back);
	json_decref(msg);
	free(line);
}

static void messages_have_their_shapes(void **state)
{
	struct wire_reader *r = *state;

	expect_line(r, wire_request(7, "arm", json_pack("{s:i}", "timeout_ms", 5)),
		    "{\"v\":1,\"id\":7,\"method\":\"arm\",\"params\":{\"timeout_ms\":5}}\n");
	expect_line(r, wire_request(8, "quit", NULL),
		    "{\"v\":1,\"id\":8,\"method\":\"quit\",\"params\":{}}\n");
	expect_line(r, wire_result(7, json_pack("{s:b}", "link", 1)),
		    "{\"v\":1,\"id\":7,\"result\":{\"link\":true}}\n");
	expect_line(r, wire_result(7, NULL), "{\"v\":1,\"id\":7,\"result\":{}}\n");
	expect_line(r, wire_error(7, 2, "no such method; see docs/protocol.md"),
		    "{\"v\":1,\"id\":7,\"error\":{\"code\":2,\"text\":\"no such method; see docs/protocol.md\"}}\n");
	expect_line(r, wire_event("sample", json_pack("{s:i}", "t_ns", 5)),
		    "{\"v\":1,\"event\":\"sample\",\"t_ns\":5}\n");
	expect_line(r, wire_event("alive", NULL), "{\"v\":1,\"event\":\"alive\"}\n");
	expect_line(r, wire_event("done", json_pack("{s:i,s:s,s:i}", "v", 9, "event", "x", "n", 1)),
		    "{\"v\":1,\"event\":\"done\",\"n\":1}\n");
	expect_line(r, json_object(), "{\"v\":1}\n");
}

static void texts_from_outside_stay_one_line_of_json(void **state)
{
	struct wire_reader *r = *state;

	expect_line(r, wire_event("warning", json_pack("{s:o}", "text", wire_text("a\nb\"\x01"))),
		    "{\"v\":1,\"event\":\"warning\",\"text\":\"a\\nb\\\"\\u0001\"}\n");
	expect_line(r, wire_error(1, 3, "file \xff\xfe: no"),
		    "{\"v\":1,\"id\":1,\"error\":{\"code\":3,\"text\":\"file ??: no\"}}\n");
	expect_line(r, wire_error(1, 3, "gr\xc3\xbc\xc3\x9f"),
		    "{\"v\":1,\"id\":1,\"error\":{\"code\":3,\"text\":\"gr\xc3\xbc\xc3\x9f\"}}\n");
}

static void a_message_that_is_too_long_has_no_line(void **state)
{
	char *text = malloc(WIRE_LINE_MAX + 1);
	size_t len, fits = WIRE_LINE_MAX - strlen("{\"v\":1,\"event\":\"e\",\"t\":\"\"}\n");
	json_t *msg;
	char *line;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', WIRE_LINE_MAX);
	for (size_t extra = 0; extra < 2; extra++) {
		text[fits + extra] = '\0';
		msg = wire_event("e", json_pack("{s:s}", "t", text));
		line = wire_line(msg, &len);
		assert_true(extra ? !line : line && len == WIRE_LINE_MAX);
		free(line);
		json_decref(msg);
		text[fits + extra] = 'x';
	}
	free(text);
	msg = json_array();
	assert_null(wire_line(msg, &len));
	json_decref(msg);
}

int main(void)
{
#define READER_TEST(f) cmocka_unit_test_setup_teardown(f, open_reader, close_reader)
	const struct CMUnitTest tests[] = {
		READER_TEST(lines_are_found_at_every_split),
		READER_TEST(one_byte_at_a_time),
		READER_TEST(the_longest_line_fits),
		READER_TEST(a_longer_line_empties_the_reader),
		READER_TEST(what_is_no_message_is_told_and_skipped),
		READER_TEST(deep_nesting_is_an_error_not_a_crash),
		READER_TEST(messages_have_their_shapes),
		READER_TEST(texts_from_outside_stay_one_line_of_json),
		READER_TEST(a_message_that_is_too_long_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
