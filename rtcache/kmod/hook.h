/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two functions in which the kernel looks up IPv4 routes, and how they are taken over: each call
 * of them becomes a call of replace_input or replace_output.
 */
#ifndef KMOD_HOOK_H
#define KMOD_HOOK_H

#include <linux/static_call.h>
#include <net/route.h>

enum hook_mode {
	HOOK_OFF,  /* not registered: the kernel as it was */
	HOOK_IDLE, /* registered, and each call goes on where it came from: what hooking itself costs */
	HOOK_ON,   /* registered, and each call is replaced */
};

/* Find both functions. 0, or a negative errno after a message that names what the kernel lacks. */
int hook_init(void);

/* HOOK_OFF, and memory given back. */
void hook_exit(void);

/*
 * From any mode to @mode. All calls after the return are made in the new mode, and on HOOK_OFF none is
 * in the module any more. May sleep for a second. 0, or a negative errno after a message, and then the
 * mode is as before. Callers serialise.
 */
int hook_set(enum hook_mode mode);

/*
 * The kernel's own functions, past the entry that is hooked: a call by these is never replaced, so it
 * cannot recurse, and costs no second way through ftrace. A direct call, hence no retpoline and no
 * need for an ENDBR at its target. Valid after hook_init, in every mode.
 */
typedef int hook_input_fn(struct sk_buff *skb, __be32 daddr, __be32 saddr, u8 tos,
			  struct net_device *dev);
typedef struct rtable *hook_output_fn(struct net *net, struct flowi4 *fl4, struct fib_result *res,
				      const struct sk_buff *skb);
DECLARE_STATIC_CALL(hook_stock_input, hook_input_fn);
DECLARE_STATIC_CALL(hook_stock_output, hook_output_fn);
#define hook_stock_input(...) static_call(hook_stock_input)(__VA_ARGS__)
#define hook_stock_output(...) static_call(hook_stock_output)(__VA_ARGS__)

#endif
