// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "ctl/jpath.h"

/* Copy the first name of @path; returns what follows its dot, or NULL at the last name. */
static const char *jpath_head(const char *path, char *name, size_t size)
{
	size_t len = strcspn(path, ".");

	if (len >= size)
		len = size - 1;
	memcpy(name, path, len);
	name[len] = '\0';
	path += strcspn(path, ".");
	return *path ? path + 1 : NULL;
}

/* The element that says it is called @name, or else the one with that number. */
static const json_t *jpath_element(const json_t *array, const char *name)
{
	const json_t *one;
	char *end;
	size_t i;

	json_array_foreach(array, i, one) {
		const char *is = json_string_value(json_object_get(one, "name"));

		if (is && !strcmp(is, name))
			return one;
	}
	i = strtoul(name, &end, 10);
	return *end || end == name ? NULL : json_array_get(array, i);
}

json_t *jpath(const json_t *obj, const char *path)
{
	char name[64];

	while (obj && path) {
		path = jpath_head(path, name, sizeof(name));
		obj = json_is_array(obj) ? jpath_element(obj, name) : json_object_get(obj, name);
	}
	return (json_t *)obj;
}

json_int_t jpath_int(const json_t *obj, const char *path)
{
	return json_integer_value(jpath(obj, path));
}

void jpath_set(json_t *obj, const char *path, json_t *value)
{
	char name[64];

	for (;;) {
		path = jpath_head(path, name, sizeof(name));
		if (!path)
			break;
		if (!json_is_object(json_object_get(obj, name)))
			json_object_set_new(obj, name, json_object());
		obj = json_object_get(obj, name);
	}
	json_object_set_new(obj, name, value);
}

void jpath_set_int(json_t *obj, const char *path, json_int_t value)
{
	jpath_set(obj, path, json_integer(value));
}
