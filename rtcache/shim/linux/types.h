/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's types and annotations, for user space. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef uint32_t __be32;
typedef unsigned int gfp_t;

#define U32_MAX UINT32_MAX
#define S32_MAX INT32_MAX

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __aligned(n) __attribute__((aligned(n)))
#define __rcu
#define __force
#define __percpu
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

#endif
