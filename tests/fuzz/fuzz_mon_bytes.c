// SPDX-License-Identifier: GPL-2.0-or-later
/* Binary input of mon: the kernel's type information and the neighbour table's netlink message. */
#include <assert.h>
#include <stdlib.h>

/* The fuzzers are built from lib/ and themselves. */
#include "mon/btf.c"
#include "mon/neightbl.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct neightbl t;
	int ret;

	if (!size)
		return 0;
	if (data[0] & 1) {
		ret = neightbl_parse(&t, data + 1, size - 1);
		assert(ret == 0 || ret == 1 || ret == -EBADMSG);
	} else {
		ret = btf_member_offset(data + 1, size - 1, "sk_buff", "skb_iif", NULL);
		assert(ret < 1 << 20);
	}
	return 0;
}
