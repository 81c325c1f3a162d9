// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtcache/user/switches.h"

#include <errno.h>

#include "lib/err.h"

int switches_set(enum rtcache_refcnt refcnt, const char *text, struct err *err)
{
	struct rtcache_axes axes = { .lookup = RTCACHE_LOOKUP_RCU, .refcnt = refcnt };
	const char *wrong = text ? rtcache_axes_parse(&axes, text) : NULL;

	if (wrong)
		return err_set(err, -EINVAL, "%s", wrong);
	rtcache_axes_apply(&axes);
	return 0;
}
