// SPDX-License-Identifier: GPL-2.0-or-later
#include "addrset.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "err.h"
#include "simd.h"

/* Up to here a comparison with every range is cheaper than a search. */
#define ADDRSET_FEW 8u

typedef unsigned __int128 u128;

static inline u128 num(struct addr a)
{
	return (u128)a.hi << 64 | a.lo;
}

static inline struct addr addr(u128 n)
{
	return (struct addr){ .hi = (uint64_t)(n >> 64), .lo = (uint64_t)n };
}

void addrset_init(struct addrset *set)
{
	*set = (struct addrset){ .family = AF_UNSPEC };
}

void addrset_free(struct addrset *set)
{
	free(set->ranges);
	free(set->excludes);
	free(set->index4);
	free(set->base4);
	addrset_init(set);
}

char *addr_text(int family, struct addr a, char *buf)
{
	struct in6_addr in6;
	struct in_addr in4;

	if (family == AF_INET) {
		in4.s_addr = htonl((uint32_t)a.lo);
		inet_ntop(AF_INET, &in4, buf, INET6_ADDRSTRLEN);
		return buf;
	}
	for (unsigned int i = 0; i < 16; i++)
		in6.s6_addr[i] = (uint8_t)(num(a) >> (120 - 8 * i));
	inet_ntop(AF_INET6, &in6, buf, INET6_ADDRSTRLEN);
	return buf;
}

/* --- text ------------------------------------------------------------------------------------- */

/* inet_pton() is strict, as wanted here: four decimal numbers, no leading zero, nothing after. */
static int parse_addr(const char *text, size_t len, uint32_t *out)
{
	char buf[INET_ADDRSTRLEN];
	struct in_addr in4;

	if (len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (inet_pton(AF_INET, buf, &in4) != 1)
		return -EINVAL;
	*out = ntohl(in4.s_addr);
	return 0;
}

static int parse_length(const char *text, unsigned int *out)
{
	size_t len = strlen(text);

	if (len < 1 || len > 2 || strspn(text, "0123456789") != len || (len == 2 && *text == '0'))
		return -EINVAL;
	*out = (unsigned int)atoi(text);
	return *out <= 32 ? 0 : -EINVAL;
}

static int parse_prefix(const char *text, uint32_t first, const char *length,
			struct addrset_range *r, struct err *err)
{
	unsigned int bits;
	uint32_t host;
	char meant[INET6_ADDRSTRLEN];

	if (parse_length(length, &bits))
		return err_set(err, -EINVAL, "'%.64s': a prefix length is a number from 0 to 32",
			       text);
	host = bits ? (uint32_t)(UINT64_C(0xffffffff) >> bits) : UINT32_MAX;
	if (first & host) {
		addr_text(AF_INET, addr(first & ~host), meant);
		return err_set(err, -EINVAL, "'%.64s' has bits set after the prefix: write %s/%u",
			       text, meant, bits);
	}
	r->first = addr(first);
	r->last = addr(first | host);
	return 0;
}

static int parse_range(const char *text, struct addrset_range *r, struct err *err)
{
	const char *sep = strpbrk(text, "/-");
	size_t len = sep ? (size_t)(sep - text) : strlen(text);
	uint32_t first, last;

	if (strchr(text, ':'))
		return err_set(err, -EAFNOSUPPORT,
			       "'%.64s' is IPv6, which sets cannot hold yet: give IPv4", text);
	if (parse_addr(text, len, &first))
		goto bad;
	if (sep && *sep == '/')
		return parse_prefix(text, first, sep + 1, r, err);
	last = first;
	if (sep && parse_addr(sep + 1, strlen(sep + 1), &last))
		goto bad;
	if (last < first)
		return err_set(err, -EINVAL, "'%.64s' ends before it begins: swap the addresses",
			       text);
	r->first = addr(first);
	r->last = addr(last);
	return 0;
bad:
	return err_set(err, -EINVAL,
		       "'%.64s' is no address set: write 198.19.0.1, 198.19.0.0/16 or "
		       "198.19.0.1-198.19.0.9",
		       text);
}

/* @nr doubles as the capacity: full whenever it is a power of two. */
static int append(struct addrset_range **ranges, size_t *nr, const struct addrset_range *r)
{
	if (!(*nr & (*nr - 1))) {
		size_t room = *nr ? *nr * 2 : 1;
		struct addrset_range *bigger = reallocarray(*ranges, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		*ranges = bigger;
	}
	(*ranges)[(*nr)++] = *r;
	return 0;
}

static int addrset_append(struct addrset *set, const char *text, bool exclude, struct err *err)
{
	struct addrset_range r = { .first_index = 0 };
	int ret;

	if (set->sealed)
		return err_set(err, -EINVAL, "'%.64s': the set is sealed already", text);
	ret = parse_range(text, &r, err);
	if (ret)
		return ret;
	ret = exclude ? append(&set->excludes, &set->nr_excludes, &r) :
			append(&set->ranges, &set->nr_ranges, &r);
	if (ret)
		return err_set(err, ret, "no memory for an address set");
	set->family = AF_INET;
	return 0;
}

int addrset_add(struct addrset *set, const char *text, struct err *err)
{
	return addrset_append(set, text, false, err);
}

int addrset_exclude(struct addrset *set, const char *text, struct err *err)
{
	return addrset_append(set, text, true, err);
}

/* --- sealing ---------------------------------------------------------------------------------- */

static int compare(const void *va, const void *vb)
{
	u128 a = num(((const struct addrset_range *)va)->first);
	u128 b = num(((const struct addrset_range *)vb)->first);

	return (a > b) - (a < b);
}

/* Sort, and join what overlaps or touches. Returns how many are left. */
static size_t merge(struct addrset_range *r, size_t nr)
{
	size_t left = 0;

	if (nr)
		qsort(r, nr, sizeof(*r), compare);
	for (size_t i = 0; i < nr; i++) {
		struct addrset_range *last = left ? &r[left - 1] : NULL;

		/* The difference, because the last address of all has no successor. */
		if (!last ||
		    (num(r[i].first) > num(last->last) && num(r[i].first) - num(last->last) > 1))
			r[left++] = r[i];
		else if (num(r[i].last) > num(last->last))
			last->last = r[i].last;
	}
	return left;
}

/*
 * What is left of @from after @cut, *@e ones of which lie wholly before it; both are merged. Writes
 * to @out and returns how many. *@e is moved on, but not over an exclusion that reaches further.
 */
static size_t subtract_one(struct addrset_range from, const struct addrset_range *cut, size_t nr,
			   size_t *e, struct addrset_range *out)
{
	size_t n = 0;

	while (*e < nr && num(cut[*e].last) < num(from.first))
		(*e)++;
	for (; *e < nr && num(cut[*e].first) <= num(from.last); (*e)++) {
		if (num(cut[*e].first) > num(from.first))
			out[n++] = (struct addrset_range){ .first = from.first,
							   .last = addr(num(cut[*e].first) - 1) };
		if (num(cut[*e].last) >= num(from.last))
			return n;
		from.first = addr(num(cut[*e].last) + 1);
	}
	out[n++] = from;
	return n;
}

static int number(struct addrset_range *r, size_t nr, uint64_t *count, struct err *err)
{
	u128 total = 0;

	for (size_t i = 0; i < nr; i++) {
		r[i].first_index = (uint64_t)total;
		total += num(r[i].last) - num(r[i].first);
		total += 1;
		if (total > UINT64_MAX)
			return err_set(err, -E2BIG,
				       "an address set holds at most 2^64 - 1 addresses");
	}
	*count = (uint64_t)total;
	return 0;
}

/* The tables of addrset_at4(). */
static int build_tables(struct addrset *set)
{
	set->index4 = malloc(set->nr_ranges * sizeof(*set->index4));
	set->base4 = malloc(set->nr_ranges * sizeof(*set->base4));
	if (!set->index4 || !set->base4)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr_ranges; i++) {
		set->index4[i] = (uint32_t)set->ranges[i].first_index;
		set->base4[i] = (uint32_t)set->ranges[i].first.lo - set->index4[i];
	}
	return 0;
}

/* The ranges without the exclusions, into a new array. */
static int subtract(struct addrset *set)
{
	struct addrset_range *left;
	size_t n = 0, e = 0;

	left = calloc(set->nr_ranges + set->nr_excludes, sizeof(*left));
	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr_ranges; i++)
		n += subtract_one(set->ranges[i], set->excludes, set->nr_excludes, &e, left + n);
	free(set->ranges);
	set->ranges = left;
	set->nr_ranges = n;
	return 0;
}

int addrset_seal(struct addrset *set, struct err *err)
{
	int ret;

	if (set->sealed)
		return 0;
	if (!set->nr_ranges)
		return err_set(err, -EINVAL, "the address set is empty: nothing was added");
	set->nr_ranges = merge(set->ranges, set->nr_ranges);
	set->nr_excludes = merge(set->excludes, set->nr_excludes);
	if (subtract(set))
		goto no_memory;
	if (!set->nr_ranges)
		return err_set(err, -EINVAL,
			       "the address set is empty: all that was added is excluded");
	ret = number(set->ranges, set->nr_ranges, &set->count, err);
	if (ret)
		return ret;
	if (set->family == AF_INET && build_tables(set))
		goto no_memory;
	free(set->excludes);
	set->excludes = NULL;
	set->nr_excludes = 0;
	set->sealed = true;
	return 0;
no_memory:
	return err_set(err, -ENOMEM, "no memory for an address set");
}

/* --- readers ---------------------------------------------------------------------------------- */

struct addr addrset_at(const struct addrset *set, uint64_t i)
{
	const struct addrset_range *r = set->ranges;
	size_t nr = set->nr_ranges;

	while (nr > 1) {
		size_t half = nr / 2;

		r += r[half].first_index <= i ? half : 0;
		nr -= half;
	}
	return addr(num(r->first) + (i - r->first_index));
}

/* The last range that begins at or before @a, or the first of all. */
static const struct addrset_range *range_of(const struct addrset *set, struct addr a)
{
	const struct addrset_range *r = set->ranges;
	size_t nr = set->nr_ranges;

	while (nr > 1) {
		size_t half = nr / 2;

		r += num(r[half].first) <= num(a) ? half : 0;
		nr -= half;
	}
	return r;
}

int64_t addrset_index(const struct addrset *set, struct addr a)
{
	const struct addrset_range *r = range_of(set, a);

	if (num(a) < num(r->first) || num(a) > num(r->last))
		return -1;
	return (int64_t)(r->first_index + (uint64_t)(num(a) - num(r->first)));
}

bool addrset_within(const struct addrset *set, const struct addrset *outer)
{
	if (set->family != outer->family)
		return false;
	for (size_t i = 0; i < set->nr_ranges; i++) {
		const struct addrset_range *r = range_of(outer, set->ranges[i].first);

		if (num(set->ranges[i].first) < num(r->first) ||
		    num(set->ranges[i].last) > num(r->last))
			return false;
	}
	return true;
}

/* Up to SIMD_WIDTH indices in @x, to addresses in place. */
static inline __attribute__((always_inline)) void at4_few(const struct addrset *set, simd_u32 *x)
{
	simd_u32 sum = *x + set->base4[0];

	for (size_t r = 1; r < set->nr_ranges; r++)
		sum += (simd_u32)(*x >= set->index4[r]) & (set->base4[r] - set->base4[r - 1]);
	*x = sum;
}

/* All lanes search in step, so that their cache misses overlap. */
static inline __attribute__((always_inline)) void at4_many(const struct addrset *set, simd_u32 *x)
{
	uint32_t want[SIMD_WIDTH], at[SIMD_WIDTH] = { 0 };

	memcpy(want, x, sizeof(want));
	for (size_t nr = set->nr_ranges; nr > 1;) {
		uint32_t half = (uint32_t)(nr / 2);

		for (unsigned int i = 0; i < SIMD_WIDTH; i++)
			at[i] += set->index4[at[i] + half] <= want[i] ? half : 0;
		nr -= half;
	}
	for (unsigned int i = 0; i < SIMD_WIDTH; i++)
		want[i] += set->base4[at[i]];
	memcpy(x, want, sizeof(want));
}

SIMD_CLONES
void addrset_at4(const struct addrset *set, const uint32_t *idx, uint32_t *out, unsigned int n)
{
	bool few = set->nr_ranges <= ADDRSET_FEW;

	for (unsigned int i = 0; i < n; i += SIMD_WIDTH) {
		unsigned int now = n - i < SIMD_WIDTH ? n - i : SIMD_WIDTH;
		simd_u32 x = { 0 };

		if (now == SIMD_WIDTH)
			memcpy(&x, idx + i, sizeof(x));
		else
			memcpy(&x, idx + i, now * sizeof(*idx));
		if (few)
			at4_few(set, &x);
		else
			at4_many(set, &x);
		if (now == SIMD_WIDTH)
			memcpy(out + i, &x, sizeof(x));
		else
			memcpy(out + i, &x, now * sizeof(*out));
	}
}
