// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guarantees: a function is hooked at both places or at none. After HOOK_OFF no CPU runs in, or will
 * return into, a replacement: unregister_ftrace_function waits until every task has been seen outside
 * (rcu_tasks), and synchronize_rcu for what softirqs had begun. The replacements never sleep, which
 * is what makes that wait sufficient.
 *
 * PERMANENT, or kernel.ftrace_enabled=0 would remove the hooks silently. No SAVE_REGS (26 instructions
 * a call) and no RECURSION (51): the handlers call nothing, so they cannot recurse.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/rcupdate.h>

#include "kmod/compat.h"
#include "kmod/hook.h"
#include "kmod/replace.h"

DEFINE_STATIC_CALL_NULL(hook_stock_input, hook_input_fn);
DEFINE_STATIC_CALL_NULL(hook_stock_output, hook_output_fn);
static DEFINE_STATIC_KEY_FALSE(hook_replaces);

static void notrace hook_enter_input(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				     struct ftrace_regs *fregs)
{
	if (static_branch_likely(&hook_replaces))
		compat_set_ip(fregs, (unsigned long)replace_input);
}

static void notrace hook_enter_output(unsigned long ip, unsigned long parent,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (static_branch_likely(&hook_replaces))
		compat_set_ip(fregs, (unsigned long)replace_output);
}

static struct hook {
	const char *name;
	unsigned long entry;  /* address of the call to ftrace, the function's first instruction */
	struct ftrace_ops ops; /* its filter is set once, and freed once: ops keep a pointer to it */
} hooks[] = {
	{.name = "ip_route_input_noref",
	 .ops = {.func = hook_enter_input,
		 .flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT}},
	/*
	 * Not ip_route_output_key_hash: the compiler puts a copy of that into ip_route_output_flow,
	 * which is what sockets call.
	 */
	{.name = "ip_route_output_key_hash_rcu",
	 .ops = {.func = hook_enter_output,
		 .flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT}},
};

static enum hook_mode hook_mode;

/*
 * Kernel symbols can no longer be looked up by modules, but kprobes do it. The probe is never armed.
 * That it lies on ftrace says that the address is that of ftrace's call, behind an ENDBR if there is
 * one, so that the next instruction is where the function goes on when nothing traces it.
 */
static int hook_find(struct hook *h)
{
	struct kprobe probe = {.symbol_name = h->name, .flags = KPROBE_FLAG_DISABLED};
	int ret = register_kprobe(&probe);

	if (ret) {
		pr_err("no function %s can be found in this kernel (error %d): it needs CONFIG_KPROBES and CONFIG_KALLSYMS, and a compiler that has not renamed the function\n",
		       h->name, ret);
		return ret;
	}
	h->entry = (unsigned long)probe.addr;
	if (!(probe.flags & KPROBE_FLAG_FTRACE))
		ret = -EOPNOTSUPP;
	unregister_kprobe(&probe);
	if (!ret)
		ret = ftrace_set_filter_ip(&h->ops, h->entry, 0, 1);
	if (ret)
		pr_err("%s cannot be hooked (error %d): ftrace does not know it, or has no memory; the kernel needs CONFIG_DYNAMIC_FTRACE, and the function must not be notrace\n",
		       h->name, ret);
	return ret;
}

static const char *hook_why(int error)
{
	switch (error) {
	case -EBUSY:
		return "another module or a live patch has hooked it, or kernel.ftrace_enabled is 0";
	case -ENODEV:
		return "ftrace has shut itself down after an error, see the log";
	case -ENOMEM:
		return "no memory";
	default:
		return "ftrace refuses";
	}
}

static int hook_register(struct hook *h)
{
	int ret = register_ftrace_function(&h->ops);

	if (ret)
		pr_err("cannot hook %s (error %d): %s\n", h->name, ret, hook_why(ret));
	return ret;
}

static void hook_unregister(struct hook *h)
{
	int ret = unregister_ftrace_function(&h->ops);

	WARN_ONCE(ret, "cannot unhook %s: error %d\n", h->name, ret);
}

static void hook_unregister_first(int n)
{
	while (n--)
		hook_unregister(&hooks[n]);
	synchronize_rcu();
}

static int hook_register_all(void)
{
	for (int i = 0; i < ARRAY_SIZE(hooks); i++) {
		int ret = hook_register(&hooks[i]);

		if (ret) {
			hook_unregister_first(i);
			return ret;
		}
	}
	return 0;
}

int hook_set(enum hook_mode mode)
{
	int ret = 0;

	if (mode == hook_mode)
		return 0;
	if (mode == HOOK_OFF) {
		hook_unregister_first(ARRAY_SIZE(hooks));
		static_branch_disable(&hook_replaces);
	} else {
		if (mode == HOOK_ON)
			static_branch_enable(&hook_replaces);
		else
			static_branch_disable(&hook_replaces);
		if (hook_mode == HOOK_OFF)
			ret = hook_register_all();
	}
	if (!ret)
		hook_mode = mode;
	return ret;
}

void hook_exit(void)
{
	hook_set(HOOK_OFF);
	for (int i = 0; i < ARRAY_SIZE(hooks); i++)
		ftrace_free_filter(&hooks[i].ops);
}

int hook_init(void)
{
	for (int i = 0; i < ARRAY_SIZE(hooks); i++) {
		int ret = hook_find(&hooks[i]);

		if (ret) {
			hook_exit();
			return ret;
		}
	}
	static_call_update(hook_stock_input,
			   (hook_input_fn *)(hooks[0].entry + MCOUNT_INSN_SIZE));
	static_call_update(hook_stock_output,
			   (hook_output_fn *)(hooks[1].entry + MCOUNT_INSN_SIZE));
	return 0;
}
