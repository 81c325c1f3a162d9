/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host under test is set to, for the manifest of a run. */
#ifndef MON_SETTINGS_H
#define MON_SETTINGS_H

#include <jansson.h>

/*
 * The settings of neighbours, routes and forwarding of both families as {"net.ipv4...": "value"};
 * those that cannot be read are left out. A new reference; NULL if no memory.
 */
json_t *settings_read(void);

#endif
