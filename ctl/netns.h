/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three network namespaces of the running kernel, joined by two veth pairs, with no way out:
 *
 *	gen: "gen"  <-->  "in" :DUT: "out"  <-->  "sink" :sink
 *
 * They have no names: descriptors and the processes inside hold them. So when those are gone, however
 * they ended, the kernel takes namespaces and interfaces away by itself.
 */
#ifndef CTL_NETNS_H
#define CTL_NETNS_H

#include "ctl/lab.h"
#include "lib/err.h"
#include "lib/scenario.h"

/*
 * May @s run on this kernel, whose neighbour tables are the host's, too? 0; -EPERM without root;
 * -EINVAL for settings that are the host's, and for more neighbours than fit under gc_thresh2 beside
 * those that the host has; -ENODEV where the tables cannot be read (not the first namespace).
 */
int netns_check(const struct scenario *s, struct err *err);

/* Make the namespaces and what joins them; frames of the scenario's sizes fit. @ns: set on success;
 * on failure every one is -1. 0 or negative errno. */
int netns_make(int ns[LAB_NR_NS], const struct scenario *s, struct err *err);
void netns_free(int ns[LAB_NR_NS]);

#endif
