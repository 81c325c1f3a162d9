/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static keys are plain booleans. */
#ifndef SHIM_JUMP_LABEL_H
#define SHIM_JUMP_LABEL_H

#include <linux/types.h>

struct static_key_false {
	bool on;
};

#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name
#define static_branch_unlikely(key) __builtin_expect(READ_ONCE((key)->on), 0)
#define static_branch_enable(key) WRITE_ONCE((key)->on, true)
#define static_branch_disable(key) WRITE_ONCE((key)->on, false)

#endif
