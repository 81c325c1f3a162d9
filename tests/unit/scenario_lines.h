/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario with every key, line by line, for tests that change one of them. */
#ifndef TESTS_UNIT_SCENARIO_LINES_H
#define TESTS_UNIT_SCENARIO_LINES_H

/* Each line is a place where a case may write another. */
static const char *const lines[] = {
	"name: unit",			       /* 1 */
	"seed: 5",			       /* 2 */
	"duration_s: 2.5",		       /* 3 */
	"drain_s: auto",		       /* 4 */
	"dut:",				       /* 5 */
	"  kernel: debian-6.12",	       /* 6 */
	"  memory_mb: 512",		       /* 7 */
	"  in_address: 198.18.0.1/16",	       /* 8 */
	"  out_address: 198.19.0.1/16",	       /* 9 */
	"  sysctl:",			       /* 10 */
	"    net.ipv4.ip_forward: 1",	       /* 11 */
	"gen:",				       /* 12 */
	"  lanes: 2",			       /* 13 */
	"  burst: 32",			       /* 14 */
	"streams:",			       /* 15 */
	"  - name: flood",		       /* 16 */
	"    destinations: [198.19.0.0/24]",   /* 17 */
	"    exclude: [198.19.0.1]",	       /* 18 */
	"    sources: [198.18.0.2]",	       /* 19 */
	"    order: permute",		       /* 20 */
	"    rate_pps: 12k",		       /* 21 */
	"    new_destinations_per_s: 4k",      /* 22 */
	"    ttl: 2",			       /* 23 */
	"    src_port: 9",		       /* 24 */
	"    dst_port: 10",		       /* 25 */
	"responder:",			       /* 26 */
	"  answer_ratio: 0.5",		       /* 27 */
	"  delay_ms: 2",		       /* 28 */
	"  answer_probe: 3",		       /* 29 */
	"require:",			       /* 30 */
	"  - verdict == clean",		       /* 31 */
};

#define NR_LINES (sizeof(lines) / sizeof(lines[0]))

/* The text with line @nr (from 1; 0: none) replaced. */
static inline void compose(char *out, size_t size, unsigned int nr, const char *with)
{
	size_t at = 0;

	for (size_t i = 0; i < NR_LINES; i++)
		at += (size_t)snprintf(out + at, size - at, "%s\n", i + 1 == nr ? with : lines[i]);
	assert_true(at < size);
}

/* @set: one override, or NULL; @allow: a prefix, or NULL. */
static inline int load(struct scenario *s, unsigned int nr, const char *with, const char *set,
		       const char *allow, struct err *err)
{
	char text[4096];
	const struct scenario_source from = { .path = "s.yaml", .text = text, .overrides = &set,
					      .nr_overrides = set != NULL, .allow = &allow,
					      .nr_allow = allow != NULL };

	compose(text, sizeof(text), nr, with);
	return scenario_load(s, &from, err);
}

/* The same of any text or file with overrides. */
static inline int load_sets(struct scenario *s, const char *path, const char *text,
			    const char *const *sets, unsigned int nr, struct err *err)
{
	return scenario_load(s, &(struct scenario_source){ .path = path, .text = text, .overrides = sets,
							   .nr_overrides = nr }, err);
}

struct fault {
	unsigned int line;
	const char *with, *error; /* without "s.yaml:" */
};

static inline void expect(unsigned int line, const char *with, const char *set, const char *error)
{
	struct err err = { "" };
	struct scenario s;
	int ret = load(&s, line, with, set, NULL, &err);

	if (!ret)
		fail_msg("accepted: %s", with ? with : set);
	assert_true(ret < 0);
	assert_string_equal(err.text, error);
	/* Nothing is left to free. */
	assert_null(s.conf);
	assert_null(s.name);
	assert_null(s.streams);
}

static inline void expect_all(const struct fault *faults, size_t nr)
{
	char error[512];

	for (size_t i = 0; i < nr; i++) {
		snprintf(error, sizeof(error), "s.yaml:%s", faults[i].error);
		expect(faults[i].line, faults[i].with, NULL, error);
	}
}

#define EXPECT_ALL(faults) expect_all(faults, sizeof(faults) / sizeof((faults)[0]))

#endif
