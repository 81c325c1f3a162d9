// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes from a peer, cut at random places: whatever the cuts, the same messages come out, and each
 * message survives being written and read again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/rng.h"
#include "lib/wire.h"

#define FILL	  8190u
#define MAX_FILLS 24u

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			__builtin_trap();                                                          \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(json_t *msg)
{
	static struct wire_reader r; /* kept: its buffer is large */
	json_t *back = NULL;
	size_t len = 0, room;
	char *line;

	CHECK(json_is_object(msg) && json_integer_value(json_object_get(msg, "v")) == WIRE_VERSION);
	line = wire_line(msg, &len);
	if (!line)
		return; /* \u escapes of what it held may not fit again */
	CHECK(len == strlen(line) && len <= WIRE_LINE_MAX && memchr(line, '\n', len) == line + len - 1);
	CHECK(r.buf || !wire_reader_init(&r));
	memcpy(wire_reader_space(&r, &room), line, len);
	wire_reader_added(&r, len);
	CHECK(wire_next(&r, &back, NULL) == 1 && json_equal(msg, back));
	json_decref(back);
	free(line);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash ^= v;
	return rng_splitmix64(&hash);
}

/* Every message and error that @data makes, in one number. @seed 0: cuts only where room ends. */
static uint64_t digest(const uint8_t *data, size_t size, uint64_t seed)
{
	static struct wire_reader r;
	struct rng rng;
	uint64_t hash = 0;
	json_t *msg;
	int ret;

	rng_seed(&rng, seed);
	CHECK(r.buf || !wire_reader_init(&r));
	r.start = r.seen = r.len = 0;
	while (size) {
		struct err err = { "" };
		size_t room, n;
		char *at = wire_reader_space(&r, &room);

		CHECK(room > 0 && room <= WIRE_LINE_MAX && at >= r.buf &&
		      at + room <= r.buf + WIRE_LINE_MAX);
		n = seed ? 1 + rng_below(&rng, seed & 1 ? 70 : 5000) : room;
		n = n < room ? n : room;
		n = n < size ? n : size;
		memcpy(at, data, n);
		wire_reader_added(&r, n);
		data += n;
		size -= n;
		while ((ret = wire_next(&r, &msg, &err))) {
			hash = mix(hash, (uint64_t)ret);
			CHECK(ret == 1 || ((ret == -EPROTO || ret == -EMSGSIZE) && *err.text));
			if (ret != 1)
				continue;
			if (!seed)
				check_message(msg);
			hash = mix(hash, json_object_size(msg));
			json_decref(msg);
		}
	}
	return hash;
}

/* Long lines from short inputs: a byte 1 stands for FILL bytes. Returns a malloc'ed copy. */
static uint8_t *unfold(const uint8_t *data, size_t size, size_t *len)
{
	uint8_t *all = malloc(size + MAX_FILLS * FILL + 1);
	size_t fills = 0;

	CHECK(all);
	*len = 0;
	for (size_t i = 0; i < size; i++) {
		if (data[i] == 1 && fills++ < MAX_FILLS) {
			memset(all + *len, 'x', FILL);
			*len += FILL;
		} else {
			all[(*len)++] = data[i];
		}
	}
	return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	uint8_t *all = unfold(data, size, &len);
	uint64_t whole = digest(all, len, 0);

	CHECK(digest(all, len, 1 + size * 2) == whole);
	CHECK(digest(all, len, 2 + size * 2) == whole);
	free(all);
	return 0;
}
