/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_BITOPS_H
#define SHIM_BITOPS_H

/* Of @x, which is not 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return (unsigned long)__builtin_ctzl(x);
}

#endif
