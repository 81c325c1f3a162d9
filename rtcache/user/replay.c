// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtcache/user/replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "rtcache/core/trace.h"
#include "rtcache/user/switches.h"

static void print(void *arg, const char *line)
{
	(void)arg;
	fputs(line, stdout);
}

static int replay(FILE *f, const char *path, struct err *err)
{
	struct rtcache_trace t = { 0 };
	char line[256];
	int ret = switches_set(RTCACHE_REFCNT_SHARED, NULL, err);

	for (unsigned long nr = 1; !ret && fgets(line, sizeof(line), f); nr++) {
		if (nr == 1 && !strncmp(line, "axes ", 5)) {
			ret = switches_set(RTCACHE_REFCNT_SHARED, line + 5, err);
			continue;
		}
		ret = rtcache_trace_line(&t, line);
		if (ret)
			err_set(err, ret, "%s:%lu: %s", path, nr, ret == -ENOMEM ? "no memory" :
				"that is no call of a trace, or the cache line is missing or wrong");
	}
	if (!ret && ferror(f))
		ret = err_set(err, -EIO, "%s: cannot read it to its end", path);
	if (!ret)
		rtcache_trace_dump(&t, print, NULL);
	rtcache_trace_end(&t);
	if (!ret && (fflush(stdout) || ferror(stdout)))
		ret = err_set(err, -EIO, "cannot write to standard output");
	return ret;
}

int replay_file(const char *path, struct err *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int ret;

	if (!f)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	shim_cpu_set(0);
	rcu_register_thread();
	ret = replay(f, path, err);
	rcu_unregister_thread();
	if (f != stdin)
		fclose(f);
	return ret;
}
