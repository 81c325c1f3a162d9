/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a member of a kernel structure lies, read from the kernel's own type information
 * (/sys/kernel/btf/vmlinux). Pure: takes the bytes, does no I/O, trusts none of them.
 */
#ifndef MON_BTF_H
#define MON_BTF_H

#include <stddef.h>

struct err;

/*
 * Byte offset of @member in `struct @type`, also if it lies inside anonymous structs and unions.
 * -EBADMSG if the bytes are no BTF of this byte order, -ENOENT without such a type or member,
 * -EDOM for a bit field.
 */
int btf_member_offset(const void *data, size_t len, const char *type, const char *member,
		      struct err *err);

#endif
