// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/btf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/btf.h>

#include "lib/err.h"

#define BTF_DEPTH_MAX  8 /* of anonymous members; struct sk_buff nests 3 deep */
#define BTF_VISITS_MAX 100000u /* members looked at, so that types that hold themselves end */

#define BTF_BITS_MAX (INT64_C(8) << 20) /* no structure is larger than 1 MiB */

/* What lies where; `types` is indexed by type id and holds offsets into the type section. */
struct btf_view {
	const char *types, *strings;
	uint32_t types_len, strings_len;
	uint32_t *at; /* at[id], id from 1 to nr */
	uint32_t nr;
	uint32_t visits;
};

static int btf_open(struct btf_view *v, const char *data, size_t len)
{
	struct btf_header h;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof(h) ||
	    h.hdr_len > len)
		return -EBADMSG;
	len -= h.hdr_len;
	if (h.type_off > len || h.type_len > len - h.type_off || h.str_off > len ||
	    h.str_len > len - h.str_off || !h.str_len)
		return -EBADMSG;
	v->types = data + h.hdr_len + h.type_off;
	v->types_len = h.type_len;
	v->strings = data + h.hdr_len + h.str_off;
	v->strings_len = h.str_len;
	return v->strings[h.str_len - 1] ? -EBADMSG : 0;
}

/* Bytes behind a struct btf_type, by kind; -1 for a kind that this parser does not know. */
static int64_t btf_tail(uint32_t info)
{
	int64_t n = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return 4;
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * (int64_t)sizeof(struct btf_var_secinfo);
	default:
		return -1;
	}
}

/* Fill v->at. The first pass (at == NULL) only counts. */
static int btf_index(struct btf_view *v, uint32_t *at)
{
	uint32_t off = 0, nr = 0;

	while (off < v->types_len) {
		struct btf_type t;
		int64_t tail;

		if (v->types_len - off < sizeof(t))
			return -EBADMSG;
		memcpy(&t, v->types + off, sizeof(t));
		tail = btf_tail(t.info);
		if (tail < 0 || tail > (int64_t)(v->types_len - off - sizeof(t)))
			return -EBADMSG;
		nr++;
		if (at)
			at[nr] = off;
		off += (uint32_t)sizeof(t) + (uint32_t)tail;
	}
	v->nr = nr;
	return 0;
}

static const char *btf_string(const struct btf_view *v, uint32_t off)
{
	return off < v->strings_len ? v->strings + off : "";
}

static bool btf_is_composite(const struct btf_type *t)
{
	unsigned kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* Bit offset of @member in the composite type @id, -ENOENT if it is not there, -EDOM if a bit
 * field. */
static int64_t btf_find(struct btf_view *v, uint32_t id, const char *member, int depth)
{
	const char *p;
	struct btf_type t;

	if (!id || id > v->nr || depth > BTF_DEPTH_MAX)
		return -ENOENT;
	p = v->types + v->at[id];
	memcpy(&t, p, sizeof(t));
	if (!btf_is_composite(&t))
		return -ENOENT;
	p += sizeof(t);
	for (unsigned i = 0; i < BTF_INFO_VLEN(t.info); i++, p += sizeof(struct btf_member)) {
		struct btf_member m;
		int64_t inner, bits;
		const char *name;

		if (++v->visits > BTF_VISITS_MAX)
			return -EBADMSG;
		memcpy(&m, p, sizeof(m));
		bits = BTF_INFO_KFLAG(t.info) ? BTF_MEMBER_BIT_OFFSET(m.offset) : m.offset;
		name = btf_string(v, m.name_off);
		if (!strcmp(name, member))
			return BTF_INFO_KFLAG(t.info) && BTF_MEMBER_BITFIELD_SIZE(m.offset) ? -EDOM
											    : bits;
		if (*name)
			continue;
		inner = btf_find(v, m.type, member, depth + 1);
		if (inner != -ENOENT)
			return inner < 0 ? inner : bits + inner;
	}
	return -ENOENT;
}

static int64_t btf_search(struct btf_view *v, const char *type, const char *member)
{
	for (uint32_t id = 1; id <= v->nr; id++) {
		struct btf_type t;

		int64_t bits;

		memcpy(&t, v->types + v->at[id], sizeof(t));
		if (BTF_INFO_KIND(t.info) != BTF_KIND_STRUCT ||
		    strcmp(btf_string(v, t.name_off), type) != 0)
			continue;
		bits = btf_find(v, id, member, 0);
		return bits < 8 * (int64_t)t.size && bits < BTF_BITS_MAX ? bits : -EBADMSG;
	}
	return -ENOENT;
}

int btf_member_offset(const void *data, size_t len, const char *type, const char *member,
		      struct err *err)
{
	struct btf_view v = {};
	int64_t bits = btf_open(&v, data, len);

	if (!bits)
		bits = btf_index(&v, NULL);
	if (bits)
		return err_set(err, (int)bits,
			       "the kernel's type information is damaged or of another format");
	v.at = calloc((size_t)v.nr + 1, sizeof(*v.at));
	if (!v.at)
		return err_set(err, -ENOMEM, "no memory to read the kernel's type information");
	btf_index(&v, v.at);
	bits = btf_search(&v, type, member);
	free(v.at);
	if (bits >= 0 && bits % 8)
		bits = -EDOM;
	if (bits < 0)
		return err_set(err, (int)bits, "this kernel has no plain member %s in struct %s",
			       member, type);
	return (int)(bits / 8);
}
