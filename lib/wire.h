/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NDJSON between the programs: one JSON object a line, at most WIRE_LINE_MAX bytes with the newline.
 * docs/protocol.md says which messages there are. Nothing here does I/O; the reader is fuzzed.
 */
#ifndef LIB_WIRE_H
#define LIB_WIRE_H

#include <stddef.h>
#include <jansson.h>

struct err;

#define WIRE_VERSION  1
/* Room for the statistics of as many streams and lanes as a scenario may have. */
#define WIRE_LINE_MAX (256u * 1024u)

/* Collects bytes until a line is whole. */
struct wire_reader {
	char *buf;    /* WIRE_LINE_MAX bytes */
	size_t start; /* first byte not yet taken */
	size_t seen;  /* from start to here there is no newline */
	size_t len;   /* end of what is there, from buf */
};

int wire_reader_init(struct wire_reader *r); /* 0 or -ENOMEM */
void wire_reader_free(struct wire_reader *r);

/* Where to read bytes to, and how many at most: never 0 once wire_next() has returned 0. */
char *wire_reader_space(struct wire_reader *r, size_t *room);
/* Tell that @n bytes were put there. */
void wire_reader_added(struct wire_reader *r, size_t n);

/*
 * Take one message. Returns 1 with a new reference in *@msg (an object whose "v" is WIRE_VERSION);
 * 0 if no whole line is there; -EMSGSIZE for a line without end at WIRE_LINE_MAX (the reader is
 * emptied); -EPROTO for a line that is no such object (the line is consumed). Empty lines are
 * skipped. @err may be NULL.
 */
int wire_next(struct wire_reader *r, json_t **msg, struct err *err);

/* One line with its newline, malloc'ed, "v" added; NULL if no memory or too long. Steals nothing. */
char *wire_line(json_t *msg, size_t *len);
#define WIRE_NO_LINE                                                                               \
	"a message to the controller is too long, or there is no memory for it: take fewer "       \
	"streams or lanes"

/* Shapes of messages; new references, NULL if no memory. @params, @result, @fields are stolen, also
 * on failure; NULL for them means an empty object. A field "v" or "event" of @fields is ignored. */
json_t *wire_request(json_int_t id, const char *method, json_t *params);
json_t *wire_result(json_int_t id, json_t *result);
json_t *wire_error(json_int_t id, int code, const char *text);
json_t *wire_event(const char *event, json_t *fields);

/* A JSON string of bytes from outside: what is no UTF-8 becomes '?'. NULL if no memory. */
json_t *wire_text(const char *text);

#endif
