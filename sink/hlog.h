/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HdrHistogram log files, for HistogramLogAnalyzer and its kin. */
#ifndef SINK_HLOG_H
#define SINK_HLOG_H

#include <stdint.h>

struct err;
struct hist;

/* Make @dir/@name.hlog with one interval of @length_ns: whole, or not at all. Returns 0 or negative
 * errno. */
int hlog_write(const char *dir, const char *name, const struct hist *h, uint64_t length_ns,
	       struct err *err);

#endif
