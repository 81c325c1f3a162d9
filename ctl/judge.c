// SPDX-License-Identifier: GPL-2.0-or-later
/* The end of a run, and `dststorm report DIR`, which is the same without the run. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/judge.h"
#include "ctl/require.h"
#include "ctl/run.h"
#include "ctl/summary.h"
#include "ctl/table.h"
#include "lib/conf.h"

json_t *judge_dir(const char *dir, struct err *err)
{
	json_t *manifest = results_json(dir, "manifest.json", err);
	json_t *samples = manifest ? results_lines(dir, "samples.jsonl", err) : NULL;
	json_t *events = samples ? results_lines(dir, "events.jsonl", err) : NULL;
	json_t *summary = events ? summary_build(manifest, samples, events) : NULL;

	json_decref(manifest);
	json_decref(samples);
	json_decref(events);
	return summary;
}

int judge_check_requires(const struct scenario *s, const json_t *summary, struct err *err)
{
	const struct scenario_pair *r = s->requires;
	struct err why;

	if (!s->nr_requires)
		return 0;
	conf_each(it, conf_get(s->conf, "require")) {
		if (require_holds(summary, r->key, r->value, &why) < 0)
			return conf_err(it, err, -EINVAL, "%s", why.text);
		r++;
	}
	return 0;
}

int judge_requires(const struct scenario *s, const json_t *summary)
{
	struct err err;
	int missed = 0;

	for (uint32_t i = 0; i < s->nr_requires; i++) {
		const struct scenario_pair *r = &s->requires[i];

		if (require_holds(summary, r->key, r->value, &err) == 1)
			continue;
		fprintf(stderr, "dststorm: required `%s %s', but %s\n", r->key, r->value, err.text);
		missed++;
	}
	return missed;
}

int run_judge(struct run *run)
{
	struct err err = {""};
	json_t *summary = judge_dir(run->results.dir, &err);
	int missed, valid;

	if (!summary || results_put(&run->results, "summary.json", json_incref(summary), &err) < 0) {
		fprintf(stderr, "dststorm: %s\n", err.text);
		json_decref(summary);
		return EXIT_RIG;
	}
	valid = json_is_true(json_object_get(summary, "valid"));
	if (run->failed)
		fprintf(stderr, "dststorm: %s\n",
			json_string_value(json_object_get(summary, "verdict_text")));
	else
		table_print(stdout, summary);
	missed = run->failed ? 0 : judge_requires(&run->scenario, summary);
	json_decref(summary);
	if (run->failed && run->code == EXIT_USAGE)
		return EXIT_USAGE;
	return !valid || run->failed ? EXIT_RIG : missed ? EXIT_REQUIRE : EXIT_OK;
}

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	const char **dir = state->input;

	if (key == ARGP_KEY_ARG && !*dir)
		*dir = arg;
	else if (key == ARGP_KEY_ARG)
		argp_error(state, "one directory at a time; `%s' is the second", arg);
	else if (key == ARGP_KEY_END && !*dir)
		argp_error(state, "which results directory?");
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

int verb_report(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, report_parse, "DIR",
		"Compute the summary of a results directory again, and print it."
		"\vThe files of DIR stay as they are. Exit status: 0 the run is valid; 2 DIR is no "
		"results directory; 3 the run is not valid.",
		NULL, NULL, NULL};
	const char *dir = NULL;
	struct err err = {""};
	json_t *summary;
	int valid;

	argp_parse(&argp, argc, argv, 0, NULL, &dir);
	summary = judge_dir(dir, &err);
	if (!summary) {
		fprintf(stderr, "dststorm: %s\n", err.text);
		return EXIT_USAGE;
	}
	table_print(stdout, summary);
	valid = json_is_true(json_object_get(summary, "valid"));
	json_decref(summary);
	return valid ? EXIT_OK : EXIT_RIG;
}
