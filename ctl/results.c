// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl/results.h"

static int results_mkdir(struct results *r, const char *base, const char *name, struct err *err)
{
	char stamp[32], abs[PATH_MAX];
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (mkdir(base, 0777) < 0 && errno != EEXIST)
		return err_set(err, -errno, "%s: cannot be made: %s; choose a place with --results DIR",
			       base, strerror(errno));
	if (!realpath(base, abs))
		return err_set(err, -errno, "%s: %s", base, strerror(errno));
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	for (int i = 0; i < 100; i++) {
		char again[16] = "";

		if (i)
			snprintf(again, sizeof(again), ".%d", i);
		n = snprintf(r->dir, sizeof(r->dir), "%s/%s-%s%s", abs, stamp, name, again);
		if (n >= (int)sizeof(r->dir) - 32)
			return err_set(err, -ENAMETOOLONG, "%s: the path is too long", base);
		if (!mkdir(r->dir, 0777))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_set(err, -errno, "%s: cannot be made: %s; choose a place with --results DIR",
		       r->dir, strerror(errno));
}

static FILE *results_lines_open(struct results *r, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	return fopen(path, "we");
}

int results_open(struct results *r, const char *base, const char *name, json_t *summary,
		 struct err *err)
{
	char path[PATH_MAX + 32];
	int ret;

	memset(r, 0, sizeof(*r));
	ret = results_mkdir(r, base, name, err);
	if (!ret)
		ret = results_put(r, "summary.json", json_incref(summary), err);
	json_decref(summary);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/hist", r->dir);
	r->samples = results_lines_open(r, "samples.jsonl");
	r->events = results_lines_open(r, "events.jsonl");
	if (mkdir(path, 0777) < 0 || !r->samples || !r->events)
		return err_set(err, -errno, "%s: cannot be written: %s", r->dir, strerror(errno));
	return 0;
}

void results_close(struct results *r)
{
	if (r->samples && fclose(r->samples) && !r->failed)
		r->failed = -errno;
	if (r->events && fclose(r->events) && !r->failed)
		r->failed = -errno;
	r->samples = r->events = NULL;
}

int results_put(struct results *r, const char *name, json_t *doc, struct err *err)
{
	char path[PATH_MAX + 32], tmp[PATH_MAX + 40];
	FILE *f;
	int bad;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	snprintf(tmp, sizeof(tmp), "%s.new", path);
	f = fopen(tmp, "we");
	bad = !f || json_dumpf(doc, f, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', f) == EOF;
	json_decref(doc);
	if (f && fclose(f))
		bad = 1;
	if (!bad && !rename(tmp, path))
		return 0;
	bad = errno ? errno : EIO;
	unlink(tmp);
	return err_set(err, -bad, "%s: cannot be written: %s", path, strerror(bad));
}

static void results_line(struct results *r, FILE *f, json_t *obj)
{
	char *text = json_dumps(obj, JSON_COMPACT | JSON_PRESERVE_ORDER);

	errno = 0;
	if (!f || !text || fputs(text, f) == EOF || fputc('\n', f) == EOF || fflush(f))
		if (!r->failed)
			r->failed = errno ? -errno : -ENOMEM;
	free(text);
	json_decref(obj);
}

void results_sample(struct results *r, json_t *obj)
{
	results_line(r, r->samples, obj);
}

void results_event(struct results *r, json_t *obj)
{
	results_line(r, r->events, obj);
}

json_t *results_lines(const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX + 32], *line = NULL;
	json_t *array = json_array(), *one;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f) {
		err_set(err, -errno, "%s: %s", path, strerror(errno));
		json_decref(array);
		return NULL;
	}
	while (getline(&line, &room, f) > 0) {
		one = json_loads(line, 0, NULL);
		if (one)
			json_array_append_new(array, one);
	}
	free(line);
	fclose(f);
	return array;
}

json_t *results_json(const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX + 32];
	json_error_t why;
	json_t *doc;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (access(path, R_OK)) {
		err_set(err, -errno, "%s: %s; give the results directory of a run", path, strerror(errno));
		return NULL;
	}
	doc = json_load_file(path, 0, &why);
	if (!doc)
		err_set(err, -EINVAL, "%s:%d: %s", path, why.line, why.text);
	return doc;
}
