// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "axes.h"

DEFINE_STATIC_KEY_FALSE(rtcache_axis_rwlock);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_noref);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_percpu_dst);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_timers);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_percpu_timers);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_batch);
DEFINE_STATIC_KEY_FALSE(rtcache_axis_object);

enum { AXES = 5, VALUES_MAX = 3 };

static const struct {
	const char *name, *values[VALUES_MAX], *unknown;
} axis[AXES] = {
	{ "lookup", { "off", "rwlock", "rcu" }, "lookup is off, rwlock or rcu" },
	{ "refcnt", { "shared", "noref", "percpu" }, "refcnt is shared, noref or percpu" },
	{ "timer", { "lazy", "global", "percpu" }, "timer is lazy, global or percpu" },
	{ "touch", { "direct", "batch" }, "touch is direct or batch" },
	{ "rmap", { "chain", "object" }, "rmap is chain or object" },
};

static void unpack(const struct rtcache_axes *a, unsigned int value[AXES])
{
	value[0] = a->lookup;
	value[1] = a->refcnt;
	value[2] = a->timer;
	value[3] = a->touch;
	value[4] = a->rmap;
}

static struct rtcache_axes pack(const unsigned int value[AXES])
{
	return (struct rtcache_axes){ .lookup = value[0], .refcnt = value[1], .timer = value[2],
				      .touch = value[3], .rmap = value[4] };
}

/* Read one "AXIS=VALUE". */
static const char *parse_word(const char *word, size_t len, unsigned int value[AXES])
{
	const char *equals = memchr(word, '=', len);
	size_t name = equals ? (size_t)(equals - word) : len, rest = len - name - 1;

	for (unsigned int i = 0; i < AXES; i++) {
		if (!equals || strlen(axis[i].name) != name || strncmp(word, axis[i].name, name))
			continue;
		for (unsigned int v = 0; v < VALUES_MAX && axis[i].values[v]; v++) {
			if (strlen(axis[i].values[v]) == rest &&
			    !strncmp(equals + 1, axis[i].values[v], rest)) {
				value[i] = v;
				return NULL;
			}
		}
		return axis[i].unknown;
	}
	return "what is set must be AXIS=VALUE, of the axes lookup, refcnt, timer, touch and rmap";
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

const char *rtcache_axes_parse(struct rtcache_axes *axes, const char *text)
{
	unsigned int value[AXES];
	const char *wrong = NULL;
	struct rtcache_axes now;

	unpack(axes, value);
	while (!wrong) {
		size_t len = 0;

		while (is_space(*text))
			text++;
		while (text[len] && !is_space(text[len]))
			len++;
		if (!len)
			break;
		wrong = parse_word(text, len, value);
		text += len;
	}
	now = pack(value);
	if (!wrong)
		wrong = rtcache_axes_check(&now);
	if (!wrong)
		*axes = now;
	return wrong;
}

const char *rtcache_axes_check(const struct rtcache_axes *a)
{
	if (a->lookup == RTCACHE_LOOKUP_RWLOCK && a->refcnt != RTCACHE_REFCNT_SHARED)
		return "lookup=rwlock needs refcnt=shared: a dst can only be borrowed under RCU";
	if (a->touch == RTCACHE_TOUCH_BATCH && a->timer == RTCACHE_TIMER_LAZY)
		return "touch=batch needs timer=global or percpu: with lazy there is nothing to put off";
	return NULL;
}

int rtcache_axes_print(const struct rtcache_axes *a, char *buf, size_t size)
{
	unsigned int value[AXES];
	int len = 0;

	unpack(a, value);
	for (unsigned int i = 0; i < AXES; i++)
		len += scnprintf(buf + len, size - (size_t)len, "%s%s=%s", i ? " " : "", axis[i].name,
				 axis[i].values[value[i]]);
	return len;
}

static void turn(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

void rtcache_axes_apply(const struct rtcache_axes *a)
{
	turn(&rtcache_axis_rwlock, a->lookup == RTCACHE_LOOKUP_RWLOCK);
	turn(&rtcache_axis_noref, a->refcnt != RTCACHE_REFCNT_SHARED);
	turn(&rtcache_axis_percpu_dst, a->refcnt == RTCACHE_REFCNT_PERCPU);
	turn(&rtcache_axis_timers, a->timer != RTCACHE_TIMER_LAZY);
	turn(&rtcache_axis_percpu_timers, a->timer == RTCACHE_TIMER_PERCPU);
	turn(&rtcache_axis_batch, a->touch == RTCACHE_TOUCH_BATCH);
	turn(&rtcache_axis_object, a->rmap == RTCACHE_RMAP_OBJECT);
}
