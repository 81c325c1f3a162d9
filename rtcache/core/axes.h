/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The switches, each an idea about route caches that can be turned while lookups go on. They are
 * the whole program's, static keys in the kernel: what is off costs a no-op.
 */
#ifndef RTCACHE_AXES_H
#define RTCACHE_AXES_H

#include <linux/jump_label.h>
#include <linux/types.h>

enum rtcache_lookup { RTCACHE_LOOKUP_OFF, RTCACHE_LOOKUP_RWLOCK, RTCACHE_LOOKUP_RCU };
/* noref: input borrows the dst under RCU; percpu: and output has one of each CPU's own. */
enum rtcache_refcnt { RTCACHE_REFCNT_SHARED, RTCACHE_REFCNT_NOREF, RTCACHE_REFCNT_PERCPU };
/* lazy: a use leaves its time, and a sweep finds what is old; the others keep lists. */
enum rtcache_timer { RTCACHE_TIMER_LAZY, RTCACHE_TIMER_GLOBAL, RTCACHE_TIMER_PERCPU };
enum rtcache_touching { RTCACHE_TOUCH_DIRECT, RTCACHE_TOUCH_BATCH };
enum rtcache_rmaps { RTCACHE_RMAP_CHAIN, RTCACHE_RMAP_OBJECT };

struct rtcache_axes {
	enum rtcache_lookup lookup;
	enum rtcache_refcnt refcnt;
	enum rtcache_timer timer;
	enum rtcache_touching touch;
	enum rtcache_rmaps rmap;
};

DECLARE_STATIC_KEY_FALSE(rtcache_axis_rwlock);
DECLARE_STATIC_KEY_FALSE(rtcache_axis_noref);	     /* refcnt=noref, and percpu */
DECLARE_STATIC_KEY_FALSE(rtcache_axis_percpu_dst);
DECLARE_STATIC_KEY_FALSE(rtcache_axis_timers);	     /* there are lists */
DECLARE_STATIC_KEY_FALSE(rtcache_axis_percpu_timers);
DECLARE_STATIC_KEY_FALSE(rtcache_axis_batch);
DECLARE_STATIC_KEY_FALSE(rtcache_axis_object);

/*
 * Read @text, "AXIS=VALUE" separated by white space, over what is in @axes.
 * Returns NULL, or the sentence that says what is wrong, then @axes is as before.
 */
const char *rtcache_axes_parse(struct rtcache_axes *axes, const char *text);

/* NULL, or why these cannot be together. */
const char *rtcache_axes_check(const struct rtcache_axes *axes);

/* "lookup=rcu refcnt=..." into @buf, which has @size bytes. Returns its length. */
int rtcache_axes_print(const struct rtcache_axes *axes, char *buf, size_t size);

/*
 * Turn the keys. May sleep; one caller at a time. Entries made before stay good, but the cache
 * should be flushed after a change of timer or rmap: they are not on the lists of the new way.
 */
void rtcache_axes_apply(const struct rtcache_axes *axes);

#endif
