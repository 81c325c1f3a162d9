// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/hlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/hist.h"

#define HLOG_MAX_UNIT 1e6 /* the column Interval_Max is in ms, by the format's habit */

static int hlog_print(FILE *f, const char *name, const struct hist *h, uint64_t length_ns)
{
	char *payload;
	int ret = hist_encode(h, &payload);

	if (ret)
		return ret;
	fprintf(f, "#[Logged by dststorm-sink: %s in ns]\n", name);
	fputs("#[Histogram log format version 1.3]\n", f);
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
	      "\"Interval_Compressed_Histogram\"\n",
	      f);
	fprintf(f, "0.000,%.3f,%.3f,%s\n", (double)length_ns / 1e9, (double)h->max / HLOG_MAX_UNIT,
		payload);
	free(payload);
	if (fflush(f) || ferror(f))
		return errno ? -errno : -EIO;
	return 0;
}

int hlog_write(const char *dir, const char *name, const struct hist *h, uint64_t length_ns,
	       struct err *err)
{
	char *path = NULL, *tmp = NULL;
	int ret = -ENOMEM;
	FILE *f = NULL;

	if (asprintf(&path, "%s/%s.hlog", dir, name) < 0 ||
	    asprintf(&tmp, "%s/.%s.hlog.%d", dir, name, (int)getpid()) < 0)
		goto out;
	f = fopen(tmp, "we");
	ret = f ? hlog_print(f, name, h, length_ns) : -errno;
	if (f && fclose(f) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret && f)
		unlink(tmp);
out:
	if (ret)
		err_set(err, ret, "cannot write %s/%s.hlog: %s", dir, name, strerror(-ret));
	free(path);
	free(tmp);
	return ret;
}
