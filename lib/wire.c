// SPDX-License-Identifier: GPL-2.0-or-later
/* NDJSON framing and the shapes of messages: docs/protocol.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/wire.h"

int wire_reader_init(struct wire_reader *r)
{
	memset(r, 0, sizeof(*r));
	r->buf = malloc(WIRE_LINE_MAX);
	return r->buf ? 0 : -ENOMEM;
}

void wire_reader_free(struct wire_reader *r)
{
	free(r->buf);
	memset(r, 0, sizeof(*r));
}

char *wire_reader_space(struct wire_reader *r, size_t *room)
{
	if (r->start) {
		memmove(r->buf, r->buf + r->start, r->len - r->start);
		r->len -= r->start;
		r->seen -= r->start;
		r->start = 0;
	}
	*room = WIRE_LINE_MAX - r->len;
	return r->buf + r->len;
}

void wire_reader_added(struct wire_reader *r, size_t n)
{
	r->len += n;
}

/* The next line that is not empty, without its newline; 0 if none is whole, -EMSGSIZE. */
static int take_line(struct wire_reader *r, const char **line, size_t *len, struct err *err)
{
	for (;;) {
		const char *at = r->buf + r->start;
		const char *end = memchr(r->buf + r->seen, '\n', r->len - r->seen);

		if (!end)
			break;
		r->start += (size_t)(end - at) + 1;
		r->seen = r->start;
		if (end > at) {
			*line = at;
			*len = (size_t)(end - at);
			return 1;
		}
	}
	r->seen = r->len;
	if (r->len - r->start < WIRE_LINE_MAX)
		return 0;
	r->start = r->seen = r->len = 0;
	return err_set(err, -EMSGSIZE, "a message is longer than %u bytes; is the peer a dststorm "
		       "program of this version?", WIRE_LINE_MAX);
}

static int check_object(const json_t *msg, struct err *err)
{
	const json_t *v;

	if (!json_is_object(msg))
		return err_set(err, -EPROTO, "a message is no JSON object");
	v = json_object_get(msg, "v");
	if (!json_is_integer(v) || json_integer_value(v) != WIRE_VERSION)
		return err_set(err, -EPROTO, "a message lacks \"v\":%d; use programs of one version",
			       WIRE_VERSION);
	return 0;
}

int wire_next(struct wire_reader *r, json_t **msg, struct err *err)
{
	json_error_t why;
	const char *line = NULL;
	size_t len = 0;
	int ret = take_line(r, &line, &len, err);

	if (ret <= 0)
		return ret;
	*msg = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	if (!*msg)
		return err_set(err, -EPROTO, "a message is no JSON: %s", why.text);
	ret = check_object(*msg, err);
	if (ret) {
		json_decref(*msg);
		*msg = NULL;
		return ret;
	}
	return 1;
}

char *wire_line(json_t *msg, size_t *len)
{
	size_t room;
	char *line;

	if (!json_object_get(msg, "v") &&
	    json_object_set_new(msg, "v", json_integer(WIRE_VERSION)))
		return NULL;
	room = json_dumpb(msg, NULL, 0, JSON_COMPACT);
	if (!room || room + 1 > WIRE_LINE_MAX)
		return NULL;
	line = malloc(room + 2);
	if (!line)
		return NULL;
	json_dumpb(msg, line, room, JSON_COMPACT);
	line[room] = '\n';
	line[room + 1] = '\0';
	*len = room + 1;
	return line;
}

json_t *wire_text(const char *text)
{
	json_t *str = json_string(text);
	char *copy;

	if (str)
		return str;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	str = json_string(copy);
	free(copy);
	return str;
}

/* Steals @value, also on failure; NULL counts as "no memory". */
static int put(json_t *obj, const char *key, json_t *value)
{
	return json_object_set_new(obj, key, value);
}

static json_t *empty_if_null(json_t *obj)
{
	return obj ? obj : json_object();
}

json_t *wire_request(json_int_t id, const char *method, json_t *params)
{
	json_t *msg = json_object();

	params = empty_if_null(params);
	if (put(msg, "v", json_integer(WIRE_VERSION)) | put(msg, "id", json_integer(id)) |
	    put(msg, "method", wire_text(method)) | put(msg, "params", params)) {
		json_decref(msg);
		return NULL;
	}
	return msg;
}

json_t *wire_result(json_int_t id, json_t *result)
{
	json_t *msg = json_object();

	result = empty_if_null(result);
	if (put(msg, "v", json_integer(WIRE_VERSION)) | put(msg, "id", json_integer(id)) |
	    put(msg, "result", result)) {
		json_decref(msg);
		return NULL;
	}
	return msg;
}

json_t *wire_error(json_int_t id, int code, const char *text)
{
	json_t *msg = json_object(), *error = json_object();

	if (put(error, "code", json_integer(code)) | put(error, "text", wire_text(text)) |
	    put(msg, "v", json_integer(WIRE_VERSION)) | put(msg, "id", json_integer(id)) |
	    put(msg, "error", json_incref(error))) {
		json_decref(error);
		json_decref(msg);
		return NULL;
	}
	json_decref(error);
	return msg;
}

json_t *wire_event(const char *event, json_t *fields)
{
	json_t *msg = json_object();
	int bad = put(msg, "v", json_integer(WIRE_VERSION)) | put(msg, "event", wire_text(event));

	if (fields)
		bad |= json_object_update_missing(msg, fields);
	json_decref(fields);
	if (bad) {
		json_decref(msg);
		return NULL;
	}
	return msg;
}
