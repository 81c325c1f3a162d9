// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/results.h"

#include <errno.h>
#include <string.h>

#include "gen/stats.h"
#include "lib/err.h"

int results_open(const char *path, FILE **file, struct err *err)
{
	*file = NULL;
	if (!path)
		return 0;
	*file = fopen(path, "we");
	return *file ? 0 : err_set(err, -errno, "cannot write the statistics to %s: %s", path,
				   strerror(errno));
}

int results_write(const json_t *stats, FILE *json, struct err *err)
{
	int ret = json ? stats_write(stats, json, "the file of --json", err) : 0;
	int also = stats_write(stats, stdout, "stdout", ret ? NULL : err);

	return ret ? ret : also;
}
