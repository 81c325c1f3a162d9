/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan would send, written down instead of sent, by the same code that sends. */
#ifndef GEN_DRYRUN_H
#define GEN_DRYRUN_H

struct err;
struct plan;

/* Whether @path says which form is wanted: *.pcap, *.txt or "-". 0, or -EINVAL with a sentence. */
int dryrun_check(const char *path, struct err *err);

/*
 * Every packet of all streams, in the order in which they are due: as a capture whose timestamps are
 * the due times, counted from 0; or as a list of destinations, one a line ("-": to stdout). The bytes
 * depend on the plan alone.
 * Returns 0, or negative errno with a sentence: -EINVAL for a plan without end.
 */
int dryrun_write(const struct plan *p, const char *path, struct err *err);

#endif
