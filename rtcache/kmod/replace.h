/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs in place of the kernel's two route lookups: same arguments, same results. */
#ifndef KMOD_REPLACE_H
#define KMOD_REPLACE_H

#include <linux/jump_label.h>

#include "kmod/hook.h"

hook_input_fn replace_input;
hook_output_fn replace_output;

/* On: there is a cache to look into. Off: each call becomes one of the kernel's own function. */
DECLARE_STATIC_KEY_FALSE(replace_caches);
/* On: after each hit the kernel's own lookup is asked, too, and what it says counts. */
DECLARE_STATIC_KEY_FALSE(replace_verifies);

#endif
