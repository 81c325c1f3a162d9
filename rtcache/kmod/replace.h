/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs in place of the kernel's two route lookups: same arguments, same results. */
#ifndef KMOD_REPLACE_H
#define KMOD_REPLACE_H

#include "kmod/hook.h"

hook_input_fn replace_input;
hook_output_fn replace_output;

#endif
