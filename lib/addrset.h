/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address sets: a union of prefixes and ranges without the excluded ones, addressed by a dense
 * index. One family per set, IPv4 or IPv6; a set holds up to 2^64 - 1 addresses.
 *
 * Life: addrset_init, addrset_add and addrset_exclude in any order (an exclusion wins over any
 * addition, whichever came first), addrset_seal, then only the readers. A sealed set is immutable
 * and may be read by any number of threads.
 */
#ifndef LIB_ADDRSET_H
#define LIB_ADDRSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* A 128-bit number; an IPv4 address is in @lo, in host byte order, with @hi 0. */
struct addr {
	uint64_t hi, lo;
};

/* One run of consecutive addresses, both ends included; @first_index: the index of @first. */
struct addrset_range {
	struct addr first, last;
	uint64_t first_index;
};

struct addrset {
	int family;			 /* AF_UNSPEC until the first addition or exclusion */
	bool sealed;
	uint64_t count;			 /* addresses in the set; valid once sealed */
	struct addrset_range *ranges;	 /* once sealed: ascending, disjoint, not adjacent */
	size_t nr_ranges;
	struct addrset_range *excludes;	 /* before sealing only */
	size_t nr_excludes;
	/* Once an IPv4 set is sealed, one for each range, for addrset_at4(): its first index, and
	 * what to add (modulo 2^32) to an index to get its address. */
	uint32_t *index4, *base4;
};

void addrset_init(struct addrset *set);
void addrset_free(struct addrset *set); /* also valid on a zeroed set, and twice */

/*
 * Add, or exclude, an address, a prefix or a range: "198.19.0.1", "2001:2::/64",
 * "198.19.0.1-198.19.0.9". A prefix with host bits set (198.19.0.1/16) is an error that names the
 * prefix that was probably meant. IPv4-mapped addresses (::ffff:0:0/96) and scopes (fe80::1%eth0)
 * are refused.
 * Returns 0; -EINVAL for text that is none of these; -EAFNOSUPPORT for a mixture of families;
 * -ENOMEM. @err may be NULL.
 */
int addrset_add(struct addrset *set, const char *text, struct err *err);
int addrset_exclude(struct addrset *set, const char *text, struct err *err);

/* Add one address. Errors as above. @family: AF_INET or AF_INET6. */
int addrset_add_addr(struct addrset *set, int family, struct addr a, struct err *err);

/*
 * @add (addrset_add or addrset_exclude) each line of the file @path. Blank lines, spaces around,
 * what follows a '#', CRLF and duplicates are fine. A file without an address adds nothing and is
 * no error here. Returns 0; what @add returns, or what opening and reading fail with, with
 * "FILE:LINE: sentence"; then the lines before it have been added.
 */
int addrset_add_file(struct addrset *set, const char *path,
		     int (*add)(struct addrset *, const char *, struct err *), struct err *err);

/*
 * Sort, merge, subtract, number. Returns 0; -EINVAL if nothing is left (the sentence says whether
 * nothing was added or everything was excluded); -E2BIG over 2^64 - 1 addresses: a /64 has one too
 * many; -ENOMEM. Sealing a sealed set does nothing and returns 0.
 */
int addrset_seal(struct addrset *set, struct err *err);

/* The same without numbers, so that any size goes: a filter, of which only addrset_has() and, as
 * the outer one, addrset_within() may be asked. Its count is 0. */
int addrset_seal_filter(struct addrset *set, struct err *err);

static inline uint64_t addrset_count(const struct addrset *set)
{
	return set->count;
}

/* The address with index @i, 0 <= @i < count, in ascending order. O(log ranges). */
struct addr addrset_at(const struct addrset *set, uint64_t i);

/* The same for a burst of IPv4 indices: @out[k] = address of @idx[k], in host byte order. @out may
 * be @idx. Vectorised; one comparison a range for up to 8 ranges, a search beyond. */
void addrset_at4(const struct addrset *set, const uint32_t *idx, uint32_t *out, unsigned int n);

/* The same for a burst of either family: @hi[k], @lo[k] = address of @idx[k]. @lo may be @idx. */
void addrset_at6(const struct addrset *set, const uint64_t *idx, uint64_t *hi, uint64_t *lo,
		 unsigned int n);

/* Whether @a, which is of the set's family, is in it, and its index then in *@i (may be NULL).
 * O(log ranges). */
bool addrset_find(const struct addrset *set, struct addr a, uint64_t *i);

static inline bool addrset_has(const struct addrset *set, struct addr a)
{
	return addrset_find(set, a, NULL);
}

/* True if every address of @set is in @outer (both sealed). */
bool addrset_within(const struct addrset *set, const struct addrset *outer);

/* Numeric text of an address. @buf: at least 46 bytes (INET6_ADDRSTRLEN). Returns @buf. */
char *addr_text(int family, struct addr a, char *buf);

#endif
