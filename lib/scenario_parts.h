/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the scenario share. No other file includes this.
 *
 * A scenario is read in two rounds. Each part's _bind() takes its keys from the tree: types and
 * ranges; then unknown keys are refused. Only then does each part's _check() look at what is missing
 * and at what contradicts: a slip of the pen is told as such, not as the absence of what was meant.
 */
#ifndef LIB_SCENARIO_PARTS_H
#define LIB_SCENARIO_PARTS_H

#include <stddef.h>

#include "lib/probe.h"
#include "lib/rate.h"
#include "lib/scenario.h"

#define SCENARIO_RATE_MAX     UINT64_C(1000000000)
#define SCENARIO_BPS_MAX      UINT64_C(1000000000000)
#define SCENARIO_COUNT_MAX    (PROBE_SEQ_MAX + 1)
#define SCENARIO_BURST_MAX    1024u
#define SCENARIO_DURATION_MAX 864000.0
#define SCENARIO_COPIES_MAX   100u

/* What may be named beside the lab ranges; each a sealed filter, or without a range. */
struct scenario_allow {
	struct addrset ipv4, ipv6;
};

/* --- keys by table (scenario_bind.c) ----------------------------------------------------------- */

enum scenario_kind { U64, U32, U16, U8, I64, F64, BOOL, TEXT, WORD };

/* A key whose only check is its type and range. */
struct scenario_field {
	const char *key;
	enum scenario_kind kind;
	size_t at;
	uint64_t min, max;
	double fmin, fmax;
	const char *const *words;
};

#define FIELD_INT(k, kind_, s, m, lo, hi)                                                          \
	{                                                                                          \
		.key = (k), .kind = (kind_), .at = offsetof(s, m), .min = (lo), .max = (hi)        \
	}
#define FIELD_REAL(k, s, m, lo, hi)                                                                \
	{                                                                                          \
		.key = (k), .kind = F64, .at = offsetof(s, m), .fmin = (lo), .fmax = (hi)          \
	}
#define FIELD_PLAIN(k, kind_, s, m) /* BOOL, TEXT, I64 */                                          \
	{                                                                                          \
		.key = (k), .kind = (kind_), .at = offsetof(s, m)                                  \
	}
#define FIELD_WORD(k, s, m, w) /* an enum, by the names of its values */                           \
	{                                                                                          \
		.key = (k), .kind = WORD, .at = offsetof(s, m), .words = (w)                       \
	}

/* @base: the struct that the offsets in @fields count from; absent keys leave it alone. Texts are
 * replaced by copies. */
int scenario_bind_fields(const struct conf *map, const struct scenario_field *fields, void *base,
			 struct err *err);
/* The same of the map that is member @key of @parent, if there is one. */
int scenario_bind_group(const struct conf *parent, const char *key,
			const struct scenario_field *fields, void *base, struct err *err);
/*
 * Member @key of @parent, a list, into an array of structs of @size, one for each entry and all 0;
 * *nr of them. An absent or empty list: NULL and 0. @max: more are refused.
 */
int scenario_bind_list(const struct conf *parent, const char *key, size_t size, uint32_t max,
		       void **array, uint32_t *nr, struct err *err);

/* Shorter than 1024 characters, and nothing in it ends a line. */
bool scenario_is_line(const char *text);
bool scenario_is_word(const struct conf *c, const char *word);
/* Where errors about member @key of @map point: at it, or at the map if it is absent. */
const struct conf *scenario_at(const struct conf *map, const char *key);
int scenario_no_memory(struct err *err);
int scenario_missing(const struct conf *map, struct err *err, const char *key, const char *remedy);
/* Names become directory names and labels. */
int scenario_check_name(const struct conf *map, const char *name, struct err *err);

/* --- sets and addresses (scenario_set.c, scenario_addr.c) -------------------------------------- */

/* What is done with each text, file and pcap of a list. */
struct scenario_set_way {
	int (*text)(struct addrset *, const char *, struct err *);
	int (*addr)(struct addrset *, int family, struct addr, struct err *);
};
extern const struct scenario_set_way scenario_set_add, scenario_set_exclude;

/* Take member @key of @map, a text, {file: PATH}, {pcap: PATH} or a list of these, into @set. Absent
 * is fine. @s: whose folder paths count from. */
int scenario_set_read(const struct scenario *s, const struct conf *map, const char *key,
		      struct addrset *set, const struct scenario_set_way *way, struct err *err);

/* Seal the set that member @key of @map named with @seal (addrset_seal, addrset_seal_filter), and
 * refuse what is empty, what must never be sent to, and what is neither in the lab ranges nor in
 * @allow. */
int scenario_set_check(const struct scenario *s, const struct conf *map, const char *key,
		       struct addrset *set, int (*seal)(struct addrset *, struct err *),
		       const struct scenario_allow *allow, struct err *err);

/* -EINVAL if one of the DUT's addresses is in @set, which member @key of @map named. */
int scenario_set_not_dut(const struct scenario *s, const struct conf *map, const char *key,
			 const struct addrset *set, struct err *err);

/* @path as seen from the scenario's folder; malloc'ed, NULL if no memory. */
char *scenario_path(const struct scenario *s, const char *path);

/* The first address in [@first, @last] that must never be sent to, in *@a; what it is, or NULL. */
const char *scenario_addr_never(int family, struct addr first, struct addr last, struct addr *a);
/* True if one in [@first, @last] is neither in the lab nor in @allow: the first of them in *@a. */
bool scenario_addr_outside(const struct scenario_allow *allow, int family, struct addr first,
			   struct addr last, struct addr *a);
/* The two rules for one address, which @key at @c named. @named: what to allow instead; NULL: @a. */
int scenario_addr_check(const struct conf *c, const char *key, int family, struct addr a,
			const char *named, const struct scenario_allow *allow, struct err *err);
/* h->text, "A/LEN", into the rest of @h, under the same rules. @c: where errors point. */
int scenario_addr_host(const struct conf *c, const char *key, struct scenario_host *h,
		       const struct scenario_allow *allow, struct err *err);
/* True if @a is in the prefix of @h. */
bool scenario_addr_on_link(const struct scenario_host *h, int family, struct addr a);
bool scenario_addr_is_dut(const struct scenario *s, int family, struct addr a, const char **key);

/* --- parts, each in the file of its name ------------------------------------------------------- */

int scenario_dut_bind(struct scenario *s, struct err *err);
int scenario_dut_check(struct scenario *s, const struct scenario_allow *allow, struct err *err);
void scenario_dut_free(struct scenario *s);

int scenario_route_bind(struct scenario *s, const struct conf *dut, struct err *err);
int scenario_route_check(struct scenario *s, const struct scenario_allow *allow, struct err *err);

int scenario_responder_bind(struct scenario *s, struct err *err);
int scenario_responder_check(struct scenario *s, const struct scenario_allow *allow,
			     struct err *err);
void scenario_responder_free(struct scenario *s);

int scenario_stream_bind(struct scenario *s, struct err *err);
int scenario_stream_check(struct scenario *s, const struct scenario_allow *allow, struct err *err);
void scenario_stream_free(struct scenario *s);

/* The keys of one stream, @map, by subject. Checked in this order: the rate needs the frames' size,
 * the order the rate. */
int scenario_frame_bind(struct scenario_stream *st, const struct conf *map, struct err *err);
/* Member "vlan" of @map, one tag or a list of two, into @vlans and their number, 0 before. */
int scenario_frame_bind_vlans(const struct conf *map, uint16_t vlans[FRAME_VLANS_MAX], uint32_t *nr,
			      struct err *err);
int scenario_frame_check(struct scenario_stream *st, const struct conf *map, struct err *err);
int scenario_rate_bind(struct scenario_stream *st, const struct conf *map, struct err *err);
int scenario_rate_check(const struct scenario *s, struct scenario_stream *st,
			const struct conf *map, struct err *err);
/* How long each step of the stream's ramp takes: the whole time without a ramp. */
uint64_t scenario_rate_step_ns(const struct scenario *s, const struct scenario_stream *st);
int scenario_order_bind(struct scenario_stream *st, const struct conf *map, struct err *err);
int scenario_order_check(struct scenario_stream *st, const struct conf *map, struct err *err);

#endif
