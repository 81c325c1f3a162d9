/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RTCACHE_USER_SWITCHES_H
#define RTCACHE_USER_SWITCHES_H

#include "rtcache/core/axes.h"

struct err;

/*
 * Turn the switches to lookup=rcu, @refcnt and the first value of all others, with what @text (as
 * rtcache_axes_parse() reads it; NULL: nothing) says over it. Returns 0 or -EINVAL.
 */
int switches_set(enum rtcache_refcnt refcnt, const char *text, struct err *err);

#endif
