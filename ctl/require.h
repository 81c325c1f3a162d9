/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `require:` lines of a scenario, held against a summary. Pure. */
#ifndef CTL_REQUIRE_H
#define CTL_REQUIRE_H

#include <stdbool.h>
#include <jansson.h>

#include "lib/err.h"

/*
 * Does "@path @rule" (rule: "OP VALUE", OP one of == != < <= > >=) hold? Numbers compare as
 * numbers, anything else as text with == and != only. Returns 1, 0, or -EINVAL when there is no
 * such field or the comparison makes no sense; @err tells what was found in the last two cases.
 */
int require_holds(const json_t *summary, const char *path, const char *rule, struct err *err);

#endif
