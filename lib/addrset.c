// SPDX-License-Identifier: GPL-2.0-or-later
#include "addrset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "addrset_parts.h"
#include "err.h"
#include "simd.h"

/* Up to here a comparison with every range is cheaper than a search. */
#define ADDRSET_FEW 8u

typedef addrset_u128 u128;

static inline u128 num(struct addr a)
{
	return addrset_num(a);
}

static inline struct addr addr(u128 n)
{
	return addrset_addr(n);
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

/* --- sealing ---------------------------------------------------------------------------------- */

/* Room for @nr ranges, and for as many as addrset_add() takes to be there: up to a power of two. */
static struct addrset_range *new_ranges(size_t nr)
{
	size_t room = 1;

	while (room < nr)
		room *= 2;
	return calloc(room, sizeof(struct addrset_range));
}

/*
 * By first address, byte by byte from the least significant: files of a million lines are common, and
 * most bytes of their addresses are alike, which costs nothing.
 */
static int sort(struct addrset_range **ranges, size_t nr)
{
	struct addrset_range *from = *ranges, *to = new_ranges(nr), *swap;
	u128 varies = 0;

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		varies |= num(from[i].first) ^ num(from[0].first);
	for (unsigned int shift = 0; shift < 128; shift += 8) {
		size_t at[257] = { 0 };

		if (!(varies >> shift & 0xff))
			continue;
		for (size_t i = 0; i < nr; i++)
			at[(num(from[i].first) >> shift & 0xff) + 1]++;
		for (unsigned int b = 0; b < 256; b++)
			at[b + 1] += at[b];
		for (size_t i = 0; i < nr; i++)
			to[at[num(from[i].first) >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*ranges = from;
	return 0;
}

/* Join what overlaps or touches. Returns how many are left. */
static size_t merge(struct addrset_range *r, size_t nr)
{
	size_t left = 0;

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
	uint64_t total = 0;

	for (size_t i = 0; i < nr; i++) {
		u128 rest = num(r[i].last) - num(r[i].first); /* one less than there are */

		if (rest >= UINT64_MAX - total)
			return err_set(err, -E2BIG, "an address set holds at most 2^64 - 1 addresses: "
				       "of a /64 exclude one, as its first, or take a longer prefix");
		r[i].first_index = total;
		total += (uint64_t)rest + 1;
	}
	*count = total;
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

	left = new_ranges(set->nr_ranges + set->nr_excludes);
	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr_ranges; i++)
		n += subtract_one(set->ranges[i], set->excludes, set->nr_excludes, &e, left + n);
	free(set->ranges);
	set->ranges = left;
	set->nr_ranges = n;
	return 0;
}

/* Sort, merge, subtract. */
static int reduce(struct addrset *set, struct err *err)
{
	if (!set->nr_ranges)
		return err_set(err, -EINVAL, "the address set is empty: nothing was added");
	if (sort(&set->ranges, set->nr_ranges) || sort(&set->excludes, set->nr_excludes))
		return err_set(err, -ENOMEM, "no memory for an address set");
	set->nr_ranges = merge(set->ranges, set->nr_ranges);
	set->nr_excludes = merge(set->excludes, set->nr_excludes);
	if (subtract(set))
		return err_set(err, -ENOMEM, "no memory for an address set");
	if (!set->nr_ranges)
		return err_set(err, -EINVAL,
			       "the address set is empty: all that was added is excluded");
	return 0;
}

static void sealed(struct addrset *set)
{
	free(set->excludes);
	set->excludes = NULL;
	set->nr_excludes = 0;
	set->sealed = true;
}

int addrset_seal_filter(struct addrset *set, struct err *err)
{
	int ret = set->sealed ? 0 : reduce(set, err);

	if (!ret)
		sealed(set);
	return ret;
}

int addrset_seal(struct addrset *set, struct err *err)
{
	int ret;

	if (set->sealed)
		return 0;
	ret = reduce(set, err);
	if (!ret)
		ret = number(set->ranges, set->nr_ranges, &set->count, err);
	if (ret)
		return ret;
	if (set->family == AF_INET && build_tables(set))
		return err_set(err, -ENOMEM, "no memory for an address set");
	sealed(set);
	return 0;
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

bool addrset_find(const struct addrset *set, struct addr a, uint64_t *i)
{
	const struct addrset_range *r = range_of(set, a);

	if (num(a) < num(r->first) || num(a) > num(r->last))
		return false;
	if (i)
		*i = r->first_index + (uint64_t)(num(a) - num(r->first));
	return true;
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

/* What to add to an index of range @r to get its address; modulo 2^128. */
static struct addr at6_base(const struct addrset_range *r)
{
	return addr(num(r->first) - r->first_index);
}

#define AT6_BLOCK 64u

/* Up to ADDRSET_FEW ranges, and AT6_BLOCK indices: first the bases, then the sums. */
static inline __attribute__((always_inline)) void at6_few(const struct addrset *set,
							  const uint64_t *idx, uint64_t *hi,
							  uint64_t *lo, unsigned int n)
{
	uint64_t base_hi[AT6_BLOCK], base_lo[AT6_BLOCK];
	struct addr base = at6_base(&set->ranges[0]);

	for (unsigned int k = 0; k < n; k++) {
		base_hi[k] = base.hi;
		base_lo[k] = base.lo;
	}
	for (size_t r = 1; r < set->nr_ranges; r++) {
		uint64_t first = set->ranges[r].first_index;

		base = at6_base(&set->ranges[r]);
		for (unsigned int k = 0; k < n; k++) {
			base_hi[k] = idx[k] >= first ? base.hi : base_hi[k];
			base_lo[k] = idx[k] >= first ? base.lo : base_lo[k];
		}
	}
	for (unsigned int k = 0; k < n; k++) {
		uint64_t i = idx[k];

		lo[k] = base_lo[k] + i;
		hi[k] = base_hi[k] + (base_lo[k] + i < i);
	}
}

SIMD_CLONES
void addrset_at6(const struct addrset *set, const uint64_t *idx, uint64_t *hi, uint64_t *lo,
		 unsigned int n)
{
	if (set->nr_ranges <= ADDRSET_FEW) {
		for (unsigned int k = 0; k < n; k += AT6_BLOCK)
			at6_few(set, idx + k, hi + k, lo + k, n - k < AT6_BLOCK ? n - k : AT6_BLOCK);
		return;
	}
	for (unsigned int k = 0; k < n; k++) {
		struct addr a = addrset_at(set, idx[k]);

		hi[k] = a.hi;
		lo[k] = a.lo;
	}
}
