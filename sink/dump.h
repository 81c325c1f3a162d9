/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture of all frames that a source handed in, whatever became of them: pcap with nanoseconds.
 * The times are those that the account used, CLOCK_MONOTONIC: read back as a source, the file gives
 * the same statistics, delays included.
 */
#ifndef SINK_DUMP_H
#define SINK_DUMP_H

#include <stddef.h>
#include <stdint.h>

struct dump;
struct err;

/* Make @path. Returns 0 or negative errno. */
int dump_open(struct dump **d, const char *path, struct err *err);

/* An account_tap_fn: @dump is a struct dump. Failures are told by dump_close(). */
void dump_frame(void *dump, const uint8_t *frame, size_t len, uint64_t now_ns);

/* Returns 0, or negative errno if the file is not whole: the disk is full. @d may be NULL. */
int dump_close(struct dump *d, struct err *err);

#endif
