/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host under test is set to, for the manifest of a run. */
#ifndef MON_SETTINGS_H
#define MON_SETTINGS_H

#include <jansson.h>

struct rtnl_link;

/*
 * The settings of neighbours, routes and forwarding of both families, in general and for the @nr
 * interfaces @links, as {"net.ipv4...": "value"}; those that cannot be read are left out. A new
 * reference; NULL if no memory.
 */
json_t *settings_read(const struct rtnl_link *links, unsigned nr);

#endif
