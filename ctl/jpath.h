/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "a.b.c" in nested JSON objects; in a list, "b" is the "name" of an element or its number. */
#ifndef CTL_JPATH_H
#define CTL_JPATH_H

#include <jansson.h>

/* The value, borrowed, or NULL. */
json_t *jpath(const json_t *obj, const char *path);

/* Its integer; 0 where there is none. */
json_int_t jpath_int(const json_t *obj, const char *path);

/* Set it in objects, which are made on the way. @value is stolen. */
void jpath_set(json_t *obj, const char *path, json_t *value);
void jpath_set_int(json_t *obj, const char *path, json_int_t value);

#endif
