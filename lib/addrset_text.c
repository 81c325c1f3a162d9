// SPDX-License-Identifier: GPL-2.0-or-later
/* Address sets from text and from files, and addresses as text. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "addrset_parts.h"
#include "err.h"

#define LINE_MAX_LEN 1024u

typedef addrset_u128 u128;

char *addr_text(int family, struct addr a, char *buf)
{
	uint64_t be[2] = { htobe64(a.hi), htobe64(a.lo) };
	struct in_addr in4 = { htonl((uint32_t)a.lo) };

	return (char *)inet_ntop(family, family == AF_INET ? (void *)&in4 : (void *)be, buf,
				 INET6_ADDRSTRLEN);
}

/* --- one range -------------------------------------------------------------------------------- */

static int family_of(const char *text)
{
	return strchr(text, ':') ? AF_INET6 : AF_INET;
}

/* inet_pton() is strict, as wanted here: no leading zero, no scope, nothing after. */
static int parse_addr(int family, const char *text, size_t len, u128 *out)
{
	char buf[INET6_ADDRSTRLEN];
	struct in_addr in4;
	uint64_t be[2];

	if (len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (inet_pton(family, buf, family == AF_INET ? (void *)&in4 : (void *)be) != 1)
		return -EINVAL;
	*out = family == AF_INET ? ntohl(in4.s_addr) : (u128)be64toh(be[0]) << 64 | be64toh(be[1]);
	return 0;
}

static int parse_length(const char *text, unsigned int most, unsigned int *out)
{
	size_t len = strlen(text);

	if (len < 1 || len > 3 || strspn(text, "0123456789") != len || (len > 1 && *text == '0'))
		return -EINVAL;
	*out = (unsigned int)atoi(text);
	return *out <= most ? 0 : -EINVAL;
}

static int parse_prefix(int family, const char *text, u128 first, const char *length,
			struct addrset_range *r, struct err *err)
{
	unsigned int width = family == AF_INET ? 32 : 128, bits;
	char meant[INET6_ADDRSTRLEN];
	u128 host;

	if (parse_length(length, width, &bits))
		return err_set(err, -EINVAL, "'%.64s': a prefix length is a number from 0 to %u", text,
			       width);
	host = bits == width ? 0 : ~(u128)0 >> (128 - width + bits);
	if (first & host) {
		addr_text(family, addrset_addr(first & ~host), meant);
		return err_set(err, -EINVAL, "'%.64s' has bits set after the prefix: write %s/%u",
			       text, meant, bits);
	}
	r->first = addrset_addr(first);
	r->last = addrset_addr(first | host);
	return 0;
}

static int parse_range(int family, const char *text, struct addrset_range *r, struct err *err)
{
	const char *sep = strpbrk(text, "/-");
	size_t len = sep ? (size_t)(sep - text) : strlen(text);
	u128 first, last;

	if (strchr(text, '%'))
		return err_set(err, -EINVAL, "'%.64s' has a scope: write the address without it", text);
	if (parse_addr(family, text, len, &first))
		goto bad;
	if (sep && *sep == '/')
		return parse_prefix(family, text, first, sep + 1, r, err);
	last = first;
	if (sep && parse_addr(family, sep + 1, strlen(sep + 1), &last))
		goto bad;
	if (last < first)
		return err_set(err, -EINVAL, "'%.64s' ends before it begins: swap the addresses",
			       text);
	r->first = addrset_addr(first);
	r->last = addrset_addr(last);
	return 0;
bad:
	return err_set(err, -EINVAL,
		       "'%.64s' is no address set: write 198.19.0.1, 198.19.0.0/16, "
		       "198.19.0.1-198.19.0.9 or 2001:2::/64",
		       text);
}

/* --- adding ----------------------------------------------------------------------------------- */

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

/* One and the same host under two families would be counted twice: take it by its IPv4 address. */
static bool is_mapped(struct addr a)
{
	return !a.hi && a.lo >> 32 == 0xffff;
}

static int addrset_append(struct addrset *set, int family, const struct addrset_range *r,
			  bool exclude, struct err *err)
{
	char buf[INET6_ADDRSTRLEN];
	int ret;

	if (set->sealed)
		return err_set(err, -EINVAL, "'%s': the set is sealed already",
			       addr_text(family, r->first, buf));
	if (family == AF_INET6 && (is_mapped(r->first) || is_mapped(r->last)))
		return err_set(err, -EINVAL, "'%s' is an IPv4-mapped address: write it as IPv4",
			       addr_text(family, r->first, buf));
	if (set->family != AF_UNSPEC && set->family != family)
		return err_set(err, -EAFNOSUPPORT,
			       "'%s' is IPv%c, and the set has IPv%c: make two sets",
			       addr_text(family, r->first, buf), family == AF_INET ? '4' : '6',
			       family == AF_INET ? '6' : '4');
	ret = exclude ? append(&set->excludes, &set->nr_excludes, r) :
			append(&set->ranges, &set->nr_ranges, r);
	if (ret)
		return err_set(err, ret, "no memory for an address set");
	set->family = family;
	return 0;
}

static int append_text(struct addrset *set, const char *text, bool exclude, struct err *err)
{
	struct addrset_range r = { .first_index = 0 };
	int family = family_of(text), ret = parse_range(family, text, &r, err);

	return ret ? ret : addrset_append(set, family, &r, exclude, err);
}

int addrset_add(struct addrset *set, const char *text, struct err *err)
{
	return append_text(set, text, false, err);
}

int addrset_exclude(struct addrset *set, const char *text, struct err *err)
{
	return append_text(set, text, true, err);
}

int addrset_add_addr(struct addrset *set, int family, struct addr a, struct err *err)
{
	return addrset_append(set, family, &(struct addrset_range){ .first = a, .last = a }, false,
			      err);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Cut the comment and the white space off. Returns where the rest begins. */
static char *strip(char *line)
{
	size_t len;

	line += strspn(line, " \t");
	line[strcspn(line, "#")] = '\0';
	for (len = strlen(line); len && strchr(" \t\r\n", line[len - 1]); len--)
		;
	line[len] = '\0';
	return line;
}

static int add_lines(struct addrset *set, FILE *f, const char *path,
		     int (*add)(struct addrset *, const char *, struct err *), struct err *err)
{
	char line[LINE_MAX_LEN];
	uint64_t nr = 1;
	int ret = 0;

	for (; !ret && fgets(line, sizeof(line), f); nr++) {
		char *text;

		if (strlen(line) == sizeof(line) - 1 && line[sizeof(line) - 2] != '\n') {
			ret = err_set(err, -EINVAL, "a line of more than %u characters: one address, "
				      "prefix or range a line", LINE_MAX_LEN - 2);
			break;
		}
		text = strip(line);
		if (*text)
			ret = add(set, text, err);
		if (ret)
			break;
	}
	if (!ret && ferror(f))
		ret = err_set(err, -errno, "%s", strerror(errno));
	return ret ? err_wrap(err, ret, "%s:%" PRIu64, path, nr) : 0;
}

int addrset_add_file(struct addrset *set, const char *path,
		     int (*add)(struct addrset *, const char *, struct err *), struct err *err)
{
	FILE *f = fopen(path, "re");
	int ret;

	if (!f)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	ret = add_lines(set, f, path, add, err);
	fclose(f);
	return ret;
}
