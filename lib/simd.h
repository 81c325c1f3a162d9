/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches of 32-bit numbers as vectors of 16: the compilers' own vector types, which any target
 * lowers to what it has. SIMD_CLONES marks a function to be built for each instruction set worth
 * having and chosen once, when the program is loaded; where the compiler cannot do that, the
 * function is built once for the baseline and says the same.
 */
#ifndef LIB_SIMD_H
#define LIB_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_THREAD__)
#define SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define SIMD_CLONES
#endif

#define SIMD_WIDTH 16u

typedef uint32_t simd_u32 __attribute__((vector_size(64)));

#endif
