// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/jpath.h"
#include "ctl/require.h"

/* @cmp: <0, 0, >0 as the field is less than, equal to, greater than the value. -1: no such operator. */
static int require_op(const char *op, int cmp)
{
	if (!strcmp(op, "=="))
		return cmp == 0;
	if (!strcmp(op, "!="))
		return cmp != 0;
	if (!strcmp(op, "<"))
		return cmp < 0;
	if (!strcmp(op, "<="))
		return cmp <= 0;
	if (!strcmp(op, ">"))
		return cmp > 0;
	if (!strcmp(op, ">="))
		return cmp >= 0;
	return -1;
}

static int require_text(const json_t *field, char *buf, size_t size)
{
	if (json_is_string(field))
		snprintf(buf, size, "%s", json_string_value(field));
	else if (json_is_boolean(field))
		snprintf(buf, size, "%s", json_is_true(field) ? "true" : "false");
	else if (json_is_integer(field))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(field));
	else if (json_is_real(field))
		snprintf(buf, size, "%g", json_real_value(field));
	else
		return -1;
	return 0;
}

int require_holds(const json_t *summary, const char *path, const char *rule, struct err *err)
{
	const json_t *field = jpath(summary, path);
	char op[3] = "", want[128] = "", have[128], *end;
	int holds;

	if (!field || require_text(field, have, sizeof(have)))
		return err_set(err, -EINVAL, "summary.json has no value `%s'; write for example sink.lost_pkts", path);
	if (sscanf(rule, " %2[=!<>] %127[^\n]", op, want) != 2)
		return err_set(err, -EINVAL, "`%s' is no comparison; write for example `== 0'", rule);
	if (json_is_number(field)) {
		double w = strtod(want, &end), h = json_number_value(field);

		if (*end)
			return err_set(err, -EINVAL, "%s is a number, `%s' is not", path, want);
		holds = require_op(op, h < w ? -1 : h > w);
	} else {
		if (op[0] == '<' || op[0] == '>')
			return err_set(err, -EINVAL, "%s is text: only == and != compare it", path);
		holds = require_op(op, strcmp(have, want));
	}
	if (holds < 0)
		return err_set(err, -EINVAL, "`%s' is no operator; use == != < <= > >=", op);
	if (!holds)
		err_set(err, 0, "%s is %s", path, have);
	return holds;
}
