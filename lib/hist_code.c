// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HdrHistogram's V2 encoding, big-endian:
 *
 *	0	V2 cookie			4
 *	4	bytes of the counts		4
 *	8	normalizing index offset	4	0: we never shift
 *	12	significant digits		4
 *	16	lowest				8
 *	24	highest				8
 *	32	value scale, a double		8	1.0: we never scale
 *	40	the counts, up to the last that is not 0
 *
 * A count is a ZigZag LEB128 number of at most nine bytes, the ninth of which has eight bits; a
 * negative number stands for as many counts of 0. All of it deflated (zlib), after the cookie for
 * that and its length, in base64 (RFC 4648).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/hist.h"

#define COOKIE_V2	  (0x1c849303u | 0x10u)
#define COOKIE_DEFLATE	  (0x1c849304u | 0x10u)
#define COOKIE_WORD_BITS  0xf0u /* the writer's word size: of no interest */
#define HEAD_LEN	  40u
#define DEFLATE_HEAD_LEN  8u
#define LEB_MAX		  9u
#define SCALE_ONE	  UINT64_C(0x3ff0000000000000) /* 1.0 */

/* What hdr-histogram-js writes for "not shifted" and "not scaled", and ignores when it reads. */
#define SHIFT_NONE_JS	  1u
#define SCALE_ONE_JS	  1u

struct bytes {
	uint8_t *at;
	size_t len;
};

static uint8_t *put_be(uint8_t *at, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = bytes; i-- > 0; v >>= 8)
		at[i] = (uint8_t)v;
	return at + bytes;
}

static uint64_t get_be(const uint8_t *at, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v = v << 8 | at[i];
	return v;
}

/* --- counts ------------------------------------------------------------------------------------ */

static uint8_t *put_zigzag(uint8_t *at, int64_t v)
{
	uint64_t z = (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
	unsigned int i = 0;

	for (; i < LEB_MAX - 1 && z >= 0x80; i++, z >>= 7)
		at[i] = (uint8_t)(z | 0x80);
	at[i] = (uint8_t)z;
	return at + i + 1;
}

/* Returns the bytes taken, 0 if the number does not end within @len. */
static size_t get_zigzag(const uint8_t *at, size_t len, int64_t *v)
{
	uint64_t z = 0;

	for (unsigned int i = 0; i < LEB_MAX && i < len; i++) {
		bool last = i == LEB_MAX - 1 || !(at[i] & 0x80);

		z |= (uint64_t)(at[i] & (i == LEB_MAX - 1 ? 0xff : 0x7f)) << (7 * i);
		if (!last)
			continue;
		*v = (int64_t)(z >> 1 ^ (z & 1 ? UINT64_MAX : 0));
		return i + 1;
	}
	return 0;
}

/* Counts up to the last that is not 0, at least one. */
static size_t nr_to_write(const struct hist *h)
{
	size_t nr = h->nr_counts;

	while (nr > 1 && !h->counts[nr - 1])
		nr--;
	return nr;
}

static uint8_t *put_counts(uint8_t *at, const struct hist *h, size_t nr)
{
	for (size_t i = 0; i < nr;) {
		size_t run = 0;

		while (i + run < nr && !h->counts[i + run])
			run++;
		if (run > 1)
			at = put_zigzag(at, -(int64_t)run);
		else
			at = put_zigzag(at, (int64_t)h->counts[i]);
		i += run ? run : 1;
	}
	return at;
}

static int get_counts(struct hist *h, const uint8_t *at, size_t len)
{
	size_t i = 0, taken;
	int64_t v;

	for (; len; at += taken, len -= taken) {
		taken = get_zigzag(at, len, &v);
		if (!taken)
			return -EINVAL;
		if (v < 0) {
			if (-(uint64_t)v > h->nr_counts - i)
				return -EINVAL;
			i += (size_t)-(uint64_t)v;
			continue;
		}
		if (i == h->nr_counts || (uint64_t)v > INT64_MAX - h->total)
			return -EINVAL;
		h->counts[i] = (uint64_t)v;
		h->total += (uint64_t)v;
		if (v && h->min == UINT64_MAX)
			h->min = hist_least_at(h, i);
		if (v)
			h->max = hist_greatest_at(h, i);
		i++;
	}
	return 0;
}

/* --- base64 ------------------------------------------------------------------------------------ */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *to_base64(const uint8_t *in, size_t len)
{
	char *out = malloc((len + 2) / 3 * 4 + 1), *at = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t w = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
			     (left > 2 ? in[i + 2] : 0u);

		*at++ = base64[w >> 18];
		*at++ = base64[w >> 12 & 63];
		*at++ = left > 1 ? base64[w >> 6 & 63] : '=';
		*at++ = left > 2 ? base64[w & 63] : '=';
	}
	*at = '\0';
	return out;
}

/* Four characters to three bytes. False if one of them is none of base64's. */
static bool from_quad(const char *in, size_t letters, uint8_t out[3])
{
	uint32_t w = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *c = i < letters ? strchr(base64, in[i]) : base64;

		if (!c)
			return false;
		w = w << 6 | (uint32_t)(c - base64);
	}
	put_be(out, w, 3);
	return true;
}

static int from_base64(const char *text, struct bytes *b)
{
	size_t len = strlen(text), pad = 0;

	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	if (!len || len % 4)
		return -EINVAL;
	b->len = len / 4 * 3 - pad;
	b->at = malloc(len / 4 * 3);
	if (!b->at)
		return -ENOMEM;
	for (size_t i = 0; i < len; i += 4) {
		if (from_quad(text + i, i + 4 < len ? 4 : 4 - pad, b->at + i / 4 * 3))
			continue;
		free(b->at);
		return -EINVAL;
	}
	return 0;
}

/* --- the whole --------------------------------------------------------------------------------- */

/* Head and counts, not deflated; b->at is malloc'ed. */
static int encode_plain(const struct hist *h, struct bytes *b)
{
	size_t nr = nr_to_write(h);
	uint8_t *at, *counts;

	b->at = malloc(HEAD_LEN + nr * LEB_MAX);
	if (!b->at)
		return -ENOMEM;
	counts = b->at + HEAD_LEN;
	b->len = (size_t)(put_counts(counts, h, nr) - b->at);
	at = put_be(b->at, COOKIE_V2, 4);
	at = put_be(at, b->len - HEAD_LEN, 4);
	at = put_be(at, 0, 4);
	at = put_be(at, (uint64_t)h->digits, 4);
	at = put_be(at, h->lowest, 8);
	at = put_be(at, h->highest, 8);
	put_be(at, SCALE_ONE, 8);
	return 0;
}

int hist_encode(const struct hist *h, char **out)
{
	struct bytes plain;
	uint8_t *deflated;
	uLongf len;
	int ret = encode_plain(h, &plain);

	if (ret)
		return ret;
	len = compressBound(plain.len);
	deflated = malloc(DEFLATE_HEAD_LEN + len);
	ret = -ENOMEM;
	if (deflated &&
	    compress(deflated + DEFLATE_HEAD_LEN, &len, plain.at, plain.len) == Z_OK) {
		put_be(put_be(deflated, COOKIE_DEFLATE, 4), len, 4);
		*out = to_base64(deflated, DEFLATE_HEAD_LEN + len);
		ret = *out ? 0 : -ENOMEM;
	}
	free(deflated);
	free(plain.at);
	return ret;
}

/* Exactly @len bytes. */
static int inflate_some(z_stream *z, uint8_t *out, size_t len)
{
	int ret = Z_OK;

	z->next_out = out;
	z->avail_out = (uInt)len;
	if (len)
		ret = inflate(z, Z_SYNC_FLUSH);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return (ret == Z_OK || ret == Z_STREAM_END) && !z->avail_out ? 0 : -EINVAL;
}

/* The stream ends here, with its checksum, and nothing is behind it. */
static int inflate_end(z_stream *z)
{
	uint8_t more;
	int ret;

	z->next_out = &more;
	z->avail_out = 1;
	ret = inflate(z, Z_FINISH);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_STREAM_END && z->avail_out && !z->avail_in ? 0 : -EINVAL;
}

static bool is_unscaled(uint64_t shift, uint64_t scale)
{
	return (!shift && scale == SCALE_ONE) || (shift == SHIFT_NONE_JS && scale == SCALE_ONE_JS);
}

/* Initialise @h from the head; *@len: bytes of the counts, never more than could be meant. */
static int decode_head(struct hist *h, const uint8_t *head, size_t *len)
{
	uint64_t digits = get_be(head + 12, 4);
	int ret;

	if ((get_be(head, 4) & ~COOKIE_WORD_BITS) != (COOKIE_V2 & ~COOKIE_WORD_BITS) ||
	    digits > 5 || !is_unscaled(get_be(head + 8, 4), get_be(head + 32, 8)))
		return -EINVAL;
	ret = hist_init(h, get_be(head + 16, 8), get_be(head + 24, 8), (int)digits);
	if (ret)
		return ret;
	*len = get_be(head + 4, 4);
	return *len <= h->nr_counts * LEB_MAX ? 0 : -EINVAL;
}

/* Nothing is allocated before the head that asks for it was checked: no bomb unfolds. */
static int decode_inflating(struct hist *h, z_stream *z)
{
	uint8_t head[HEAD_LEN], *counts;
	size_t len;
	int ret = inflate_some(z, head, sizeof(head));

	if (!ret)
		ret = decode_head(h, head, &len);
	if (ret)
		return ret;
	counts = malloc(len + 1);
	if (!counts)
		return -ENOMEM;
	ret = inflate_some(z, counts, len);
	if (!ret)
		ret = inflate_end(z);
	if (!ret)
		ret = get_counts(h, counts, len);
	free(counts);
	return ret;
}

int hist_decode(struct hist *h, const char *text)
{
	struct bytes b = { 0 };
	z_stream z = { 0 };
	int ret = from_base64(text, &b);

	memset(h, 0, sizeof(*h));
	if (ret)
		return ret;
	ret = -EINVAL;
	if (b.len >= DEFLATE_HEAD_LEN && b.len - DEFLATE_HEAD_LEN <= UINT32_MAX &&
	    (get_be(b.at, 4) & ~COOKIE_WORD_BITS) == (COOKIE_DEFLATE & ~COOKIE_WORD_BITS) &&
	    get_be(b.at + 4, 4) == b.len - DEFLATE_HEAD_LEN) {
		z.next_in = b.at + DEFLATE_HEAD_LEN;
		z.avail_in = (uInt)(b.len - DEFLATE_HEAD_LEN);
		ret = inflateInit(&z) == Z_OK ? decode_inflating(h, &z) : -ENOMEM;
		inflateEnd(&z);
	}
	free(b.at);
	if (ret)
		hist_free(h);
	return ret;
}
