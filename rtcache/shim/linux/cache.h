/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_CACHE_H
#define SHIM_CACHE_H

#define ____cacheline_aligned __attribute__((aligned(64)))

#endif
