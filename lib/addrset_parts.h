/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of address sets, and by nobody else. */
#ifndef LIB_ADDRSET_PARTS_H
#define LIB_ADDRSET_PARTS_H

#include "addrset.h"

typedef unsigned __int128 addrset_u128;

static inline addrset_u128 addrset_num(struct addr a)
{
	return (addrset_u128)a.hi << 64 | a.lo;
}

static inline struct addr addrset_addr(addrset_u128 n)
{
	return (struct addr){ .hi = (uint64_t)(n >> 64), .lo = (uint64_t)n };
}

#endif
