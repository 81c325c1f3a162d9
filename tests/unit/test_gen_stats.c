// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/stats.c
/* The longest statistics that a scenario can cause are a line, and the reader takes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gen/answer.h"
#include "gen/coverage.h"
#include "gen/lane.h"
#include "gen/plan.h"
#include "gen/seen.h"
#include "gen/stats.h"
#include "lib/probe.h"
#include "lib/wire.h"

#define LANES	  64u /* as many as gen.lanes may say */
#define SENT_MAX  (PROBE_SEQ_MAX / LANES)
#define COUNT_MAX ((uint64_t)INT64_MAX)

/* --- the greatest numbers, instead of running lanes -------------------------------------------- */

static const struct lane_counters greatest = {
	.sent_pkts = SENT_MAX, .refused_pkts = COUNT_MAX / LANES / SCENARIO_STREAMS_MAX,
	.first_tx_ns = COUNT_MAX - 1, .last_tx_ns = COUNT_MAX,
};

const struct lane_counters *lanes_counters(const struct lanes *l, uint32_t stream, uint32_t lane)
{
	assert_true(stream < SCENARIO_STREAMS_MAX && lane < l->nr);
	return &greatest;
}

uint64_t lanes_sent(const struct lanes *l, uint32_t lane, uint64_t *refused)
{
	assert_true(lane < l->nr);
	*refused = COUNT_MAX;
	return COUNT_MAX;
}

uint64_t templates_bytes(const struct templates *t, uint64_t n, uint32_t lane, uint32_t nr_lanes)
{
	(void)t, (void)lane, (void)nr_lanes;
	return n * 1518;
}

uint64_t plan_mean_pps(const struct plan_stream *p)
{
	(void)p;
	return UINT64_C(1000000000);
}

uint64_t seen_distinct(const struct seen *c)
{
	(void)c;
	return SENT_MAX * LANES;
}

int coverage_distinct(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes,
		      uint64_t *distinct)
{
	(void)s, (void)sent, (void)nr_lanes;
	*distinct = SENT_MAX * LANES;
	return 0;
}

/* --- the test ---------------------------------------------------------------------------------- */

/* The event that goes out each second, through a reader. */
static size_t line_of(const struct stats_source *src, json_t **back)
{
	json_t *msg = wire_event("sample", stats_json(src));
	struct wire_reader r;
	size_t len, room;
	char *line, *space;

	assert_non_null(msg);
	line = wire_line(msg, &len);
	assert_non_null(line);
	assert_int_equal(wire_reader_init(&r), 0);
	space = wire_reader_space(&r, &room);
	assert_true(len <= room);
	memcpy(space, line, len);
	wire_reader_added(&r, len);
	assert_int_equal(wire_next(&r, back, NULL), 1);
	assert_true(json_equal(msg, *back));
	wire_reader_free(&r);
	free(line);
	json_decref(msg);
	return len;
}

static void most_streams_and_lanes_fit(void **state)
{
	static char name[64 + 1];
	static struct scenario_stream stream;
	static struct plan_stream streams[SCENARIO_STREAMS_MAX];
	static struct seen seen[SCENARIO_STREAMS_MAX];
	static struct plan plan = {.streams = streams, .nr_streams = SCENARIO_STREAMS_MAX};
	const struct lanes lanes = {.nr = LANES};
	const struct answer answer = {
		.rx_pkts = COUNT_MAX, .arp_requests = COUNT_MAX, .arp_replies = COUNT_MAX,
		.nd_requests = COUNT_MAX, .nd_replies = COUNT_MAX, .icmp_rx = COUNT_MAX,
	};
	struct stats_source src = {.state = "running", .t_ns = COUNT_MAX, .plan = &plan,
				   .lanes = &lanes, .answer = &answer, .seen = seen};
	json_t *back, *list;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	stream.name = name;
	plan.asked = COUNT_MAX;
	for (unsigned int i = 0; i < SCENARIO_STREAMS_MAX; i++) {
		streams[i].stream = &stream;
		streams[i].sched.total = COUNT_MAX / SCENARIO_STREAMS_MAX;
		streams[i].asked = COUNT_MAX;
	}
	/* More than half of what a line may hold would be a reason to look at the limit again. */
	assert_in_range(line_of(&src, &back), 64 * 1024, WIRE_LINE_MAX / 2);
	list = json_object_get(back, "streams");
	assert_int_equal(json_array_size(list), SCENARIO_STREAMS_MAX);
	list = json_object_get(json_array_get(list, SCENARIO_STREAMS_MAX - 1), "lanes");
	assert_int_equal(json_array_size(list), LANES);
	assert_true(json_integer_value(json_array_get(list, LANES - 1)) == (json_int_t)SENT_MAX);
	json_decref(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_streams_and_lanes_fit),
	};

	return cmocka_run_group_tests_name("gen stats", tests, NULL, NULL);
}
