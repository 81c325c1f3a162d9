/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files rtnl*.c only. */
#ifndef MON_RTNL_PART_H
#define MON_RTNL_PART_H

#include <stddef.h>

struct nl_msg;
struct nlmsghdr;
struct rtnl;

typedef void rtnl_take_fn(void *ctx, const struct nlmsghdr *h);

/* A request whose fixed part is @body; NULL if no memory. */
struct nl_msg *rtnl_msg(int type, int flags, const void *body, size_t len);

/*
 * Send @msg (freed) and hand every answer to @take until the answer ends. Returns 0 or the kernel's
 * negative errno.
 */
int rtnl_ask(struct rtnl *r, struct nl_msg *msg, rtnl_take_fn *take, void *ctx);

#endif
