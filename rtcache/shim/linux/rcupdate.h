/* SPDX-License-Identifier: GPL-2.0-or-later */
/* liburcu, the flavour whose readers pay nothing; threads register, and report quiescent states. */
#ifndef SHIM_RCUPDATE_H
#define SHIM_RCUPDATE_H

#include <urcu-qsbr.h>

#include <linux/types.h>

#undef rcu_dereference
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_CONSUME)
#undef rcu_assign_pointer
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)
#define rcu_dereference_protected(p, why) (p)
#define RCU_INIT_POINTER(p, v) WRITE_ONCE(p, v)

/* As liburcu's; or at once, without a grace period, for tests that have to notice. */
void shim_call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void shim_no_grace(bool broken);
#undef call_rcu
#define call_rcu shim_call_rcu

#endif
