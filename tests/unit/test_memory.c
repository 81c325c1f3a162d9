// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation fails once, in turn: the caller gets an error with a sentence, nothing leaks, and
 * nothing else happens. The C library lets a program bring its own malloc; sanitizers do not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/hist.h"
#include "lib/scenario.h"
#include "lib/wire.h"
#include "tests/unit/scenario_lines.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define OWN_MALLOC 0
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

static long left = -1; /* allocations until one fails; below 0: none does */
static long live;      /* blocks that were not freed yet */

#if OWN_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *at, size_t size);
void __libc_free(void *at);

static bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *at)
{
	live += at != NULL;
	return at;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(nr, size));
}

void *realloc(void *at, size_t size)
{
	if (fails())
		return NULL;
	return at ? __libc_realloc(at, size) : counted(__libc_malloc(size));
}

void free(void *at)
{
	live -= at != NULL;
	__libc_free(at);
}
#endif

/* Fail the first, second, ... allocation of @work until it has none left; @most: a bound. */
static void fail_each(int (*work)(struct err *err), int most)
{
	int refused = 0;
	bool failed = true;

	if (!OWN_MALLOC)
		skip();
	for (int nth = 0; failed; nth++) {
		struct err err = { "" };
		long before = live;
		int ret;

		assert_true(nth < most);
		left = nth;
		ret = work(&err);
		failed = left < 0;
		left = -1;
		assert_int_equal(live, before);
		assert_true(!ret || (failed && *err.text));
		refused += ret != 0;
	}
	/* A few can be done without: a note for "did you mean", a stand-in for "no parameters". */
	assert_true(refused > 5);
}

static int load_scenario(struct err *err)
{
	static char text[4096];
	static const char *const sets[] = {
		"seed=7", "dut.sysctl.net.core.x=1", "streams.0.destinations.1=198.19.2.0-198.19.2.9",
		"streams.0.replay=x.pcap", "dut.routes=[198.19.4.0/24 via 198.19.0.2]",
		"responder.rules=[{prefix: [198.19.2.0/24, {file: tests/unit/data/addresses.txt}]}]",
		"responder.storms=[{prefix: 198.19.3.0/24, rate_pps: 1, duration_s: 1}]",
		"streams.1={name: b, destinations: '2001:2:0:2::2', sources: '2001:2:0:1::2', rate_pps: 9}",
		"dut.in_address=[198.18.0.1/16, '2001:2:0:1::1/64']",
		"dut.out_address=[198.19.0.1/16, '2001:2:0:2::1/64']",
	};
	const struct scenario_source from = { .path = "s.yaml", .text = text, .overrides = sets,
					      .nr_overrides = sizeof(sets) / sizeof(sets[0]) };
	struct scenario s;
	int ret;

	compose(text, sizeof(text), 0, NULL);
	ret = scenario_load(&s, &from, err);
	if (!ret)
		scenario_free(&s);
	return ret;
}

static int emit_conf(struct err *err)
{
	struct conf *root = conf_parse("a: {b: [1, 'x']}", 16, "f", err);
	char *text;

	if (!root)
		return -EINVAL;
	text = conf_emit(root);
	if (!text)
		err_set(err, -ENOMEM, "no text");
	free(text);
	conf_free(root);
	return text ? 0 : -ENOMEM;
}

static int code_hist(struct err *err)
{
	struct hist h, back;
	char *text = NULL;
	int ret = hist_init(&h, 1, 100000, 2);

	if (!ret) {
		hist_record_n(&h, 777, 5);
		ret = hist_encode(&h, &text);
	}
	if (!ret)
		ret = hist_decode(&back, text);
	if (!ret)
		hist_free(&back);
	free(text);
	hist_free(&h);
	if (ret)
		err_set(err, ret, "%s", strerror(-ret));
	assert_true(!ret || ret == -ENOMEM);
	return ret;
}

/* All the shapes, and the way through the reader. */
static int pass_messages(struct err *err)
{
	json_t *msg[] = {
		wire_request(1, "arm", json_object()), wire_result(1, NULL),
		wire_error(1, 2, "\xff no"), wire_event("alive", NULL), NULL,
	};
	struct wire_reader r;
	size_t len = 0, room;
	char *line = NULL;
	int ret = wire_reader_init(&r);

	for (int i = 0; i < 4; i++)
		ret |= msg[i] ? 0 : -ENOMEM;
	if (!ret) {
		line = wire_line(msg[0], &len);
		ret = line ? 0 : -ENOMEM;
	}
	if (!ret) {
		memcpy(wire_reader_space(&r, &room), line, len);
		wire_reader_added(&r, len);
		ret = wire_next(&r, &msg[4], err) == 1 ? 0 : -EPROTO;
	}
	for (int i = 0; i < 5; i++)
		json_decref(msg[i]);
	free(line);
	wire_reader_free(&r);
	if (ret)
		err_set(err, ret, "no message");
	return ret;
}

static void a_scenario_without_memory(void **state)
{
	(void)state;
	fail_each(load_scenario, 5000);
}

static void a_text_without_memory(void **state)
{
	(void)state;
	fail_each(emit_conf, 500);
}

static void a_histogram_without_memory(void **state)
{
	(void)state;
	fail_each(code_hist, 100);
}

static void messages_without_memory(void **state)
{
	(void)state;
	fail_each(pass_messages, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scenario_without_memory),
		cmocka_unit_test(a_text_without_memory),
		cmocka_unit_test(a_histogram_without_memory),
		cmocka_unit_test(messages_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
