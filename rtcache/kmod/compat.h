/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between kernel versions, and what every kernel must have. */
#ifndef KMOD_COMPAT_H
#define KMOD_COMPAT_H

#include <linux/ftrace.h>
#include <linux/version.h>
#include <net/route.h>

#ifndef CONFIG_X86_64
#error "rtcache hooks functions as x86-64 enters them: build it for CONFIG_X86_64"
#endif
#ifndef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#error "this kernel has no CONFIG_DYNAMIC_FTRACE_WITH_ARGS: turn on CONFIG_FUNCTION_TRACER and CONFIG_DYNAMIC_FTRACE"
#endif
#ifndef CONFIG_KPROBES_ON_FTRACE
#error "this kernel has no CONFIG_KPROBES_ON_FTRACE: turn on CONFIG_KPROBES and CONFIG_FUNCTION_TRACER"
#endif
#ifndef CONFIG_DEBUG_FS
#error "this kernel has no CONFIG_DEBUG_FS: turn it on"
#endif

/* Whether @rt is one of those that the kernel keeps a list of, because they are nobody's but the packet's. */
static inline bool compat_uncached(const struct rtable *rt)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return !list_empty(&rt->dst.rt_uncached);
#else
	return !list_empty(&rt->rt_uncached);
#endif
}

/* Let the traced function go on at @ip. */
static __always_inline void compat_set_ip(struct ftrace_regs *fregs, unsigned long ip)
{
#ifdef ftrace_regs_set_instruction_pointer
	ftrace_regs_set_instruction_pointer(fregs, ip);
#else /* before 6.3 */
	ftrace_instruction_pointer_set(fregs, ip);
#endif
}

#endif
