// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/proc.h"

#include <errno.h>
#include <string.h>

#include "lib/err.h"
#include "mon/text.h"

/* Where each column of the header belongs in @names; returns the number of columns. */
static int proc_header(struct text line, const char *const *names, unsigned nr, int *place,
		       unsigned max, struct err *err)
{
	unsigned columns = 0, found = 0;
	struct text word;

	while (columns < max && text_word(&line, &word)) {
		place[columns] = -1;
		for (unsigned i = 0; i < nr; i++)
			if (text_is(&word, names[i]))
				place[columns] = (int)i;
		if (place[columns] >= 0)
			found |= 1u << place[columns];
		columns++;
	}
	for (unsigned i = 0; i < nr; i++)
		if (!(found & 1u << i))
			return err_set(err, -ENOENT,
				       "this kernel has no counter \"%s\" where it is expected",
				       names[i]);
	return (int)columns;
}

int proc_lnstat(const char *text, size_t len, const char *const *names, unsigned nr,
		proc_take_fn *take, void *ctx, struct err *err)
{
	struct text all = {text, text + len}, line;
	int place[64], columns, rows = 0;

	if (!text_line(&all, &line))
		return err_set(err, -EBADMSG, "a statistics file of the kernel is empty");
	columns = proc_header(line, names, nr, place, 64, err);
	if (columns < 0)
		return columns;
	for (; text_line(&all, &line); rows++) {
		for (int c = 0; c < columns; c++) {
			uint64_t v;

			text_blanks(&line);
			if (!text_u64(&line, 16, &v))
				return err_set(err, -EBADMSG,
					       "row %d of a statistics file of the kernel is short",
					       rows);
			if (place[c] >= 0)
				take(ctx, (unsigned)rows, (unsigned)place[c], v);
		}
	}
	return rows;
}

struct proc_sum {
	const char *const *names;
	uint64_t *values;
};

static void proc_sum_take(void *ctx, unsigned row, unsigned column, uint64_t value)
{
	struct proc_sum *s = ctx;

	if (!row || strcmp(s->names[column], "entries") != 0)
		s->values[column] += value;
}

int proc_lnstat_sum(const char *text, size_t len, const char *const *names, unsigned nr,
		    uint64_t *values, struct err *err)
{
	struct proc_sum s = {names, values};

	memset(values, 0, nr * sizeof(*values));
	return proc_lnstat(text, len, names, nr, proc_sum_take, &s, err);
}

/* The numbers of @values belong to the names of @heads, word by word. */
static void proc_snmp_pair(struct text heads, struct text values, const char *group,
			   const struct proc_field *fields, unsigned nr, void *into,
			   uint64_t *found)
{
	struct text head;

	while (text_word(&heads, &head)) {
		uint64_t v;

		text_blanks(&values);
		if (text_skip(&values, "-")) /* Tcp MaxConn is -1 */
			text_u64(&values, 10, &v);
		else if (!text_u64(&values, 10, &v))
			return;
		else
			for (unsigned i = 0; i < nr; i++) {
				if (strcmp(fields[i].group, group) != 0 ||
				    !text_is(&head, fields[i].name))
					continue;
				memcpy((char *)into + fields[i].offset, &v, sizeof(v));
				*found |= 1ull << i;
			}
	}
}

int proc_snmp(const char *text, size_t len, const struct proc_field *fields, unsigned nr,
	      void *into, struct err *err)
{
	struct text all = {text, text + len}, heads, values;
	uint64_t found = 0;

	while (text_line(&all, &heads) && text_line(&all, &values)) {
		struct text name, again;
		char group[16];
		int n;

		if (!text_word(&heads, &name) || !text_word(&values, &again))
			continue;
		n = text_len(&name, sizeof(group) - 1);
		if (n < 2 || name.at[n - 1] != ':')
			continue;
		memcpy(group, name.at, (size_t)n);
		group[n - 1] = '\0';
		proc_snmp_pair(heads, values, group, fields, nr, into, &found);
	}
	for (unsigned i = 0; i < nr; i++)
		if (!(found & 1ull << i))
			return err_set(err, -ENOENT, "this kernel has no counter %s %s",
				       fields[i].group, fields[i].name);
	return 0;
}

int proc_pairs(const char *text, size_t len, const struct proc_field *fields, unsigned nr,
	       void *into, struct err *err)
{
	struct text all = {text, text + len}, line, name;
	uint64_t found = 0, v;

	while (text_line(&all, &line)) {
		if (!text_word(&line, &name))
			continue;
		text_blanks(&line);
		if (!text_u64(&line, 10, &v))
			continue;
		for (unsigned i = 0; i < nr; i++) {
			if (!text_is(&name, fields[i].name))
				continue;
			memcpy((char *)into + fields[i].offset, &v, sizeof(v));
			found |= 1ull << i;
		}
	}
	for (unsigned i = 0; i < nr; i++)
		if (!(found & 1ull << i))
			return err_set(err, -ENOENT, "this kernel has no counter %s",
				       fields[i].name);
	return 0;
}

int proc_rt6_stats(const char *text, size_t len, uint64_t v[PROC_RT6_COLUMNS], struct err *err)
{
	struct text t = {text, text + len};

	for (unsigned i = 0; i < PROC_RT6_COLUMNS; i++) {
		text_blanks(&t);
		if (!text_u64(&t, 16, &v[i]))
			return err_set(err, -EBADMSG, "/proc/net/rt6_stats is not understood");
	}
	return 0;
}

int proc_if_inet6_ready(const char *text, size_t len, int ifindex)
{
	enum { SCOPE_LINK = 0x20, OPTIMISTIC = 0x04, FAILED = 0x08, TENTATIVE = 0x40 };
	struct text all = {text, text + len}, line, address;

	while (text_line(&all, &line)) {
		uint64_t v[4]; /* index, prefix length, scope, flags */
		unsigned n = 0;

		if (!text_word(&line, &address))
			continue;
		for (text_blanks(&line); n < 4 && text_u64(&line, 16, &v[n]); n++)
			text_blanks(&line);
		if (n == 4 && v[0] == (uint64_t)ifindex && v[2] == SCOPE_LINK &&
		    !(v[3] & (OPTIMISTIC | FAILED | TENTATIVE)))
			return 1;
	}
	return 0;
}

int proc_softnet(const char *text, size_t len, struct proc_softnet *s, struct err *err)
{
	struct text all = {text, text + len}, line;

	memset(s, 0, sizeof(*s));
	while (text_line(&all, &line)) {
		uint64_t v[3];

		for (unsigned i = 0; i < 3; i++) {
			text_blanks(&line);
			if (!text_u64(&line, 16, &v[i]))
				return err_set(err, -EBADMSG,
					       "/proc/net/softnet_stat is not understood");
		}
		s->processed_pkts += v[0];
		s->dropped_pkts += v[1];
		s->time_squeeze += v[2];
	}
	return 0;
}

/* Find the line that begins with the word @name and @mark; @line is left behind it. */
static int proc_find(const char *text, size_t len, const char *name, const char *mark,
		     struct text *line, struct err *err)
{
	struct text all = {text, text + len};

	while (text_line(&all, line)) {
		text_blanks(line);
		if (text_skip(line, name) && text_skip(line, mark))
			return 0;
	}
	return err_set(err, -ENOENT, "this kernel tells nothing about \"%s\"", name);
}

int proc_softirqs(const char *text, size_t len, const char *name, uint64_t *count, struct err *err)
{
	struct text line;
	uint64_t v;
	int ret = proc_find(text, len, name, ":", &line, err);

	if (ret)
		return ret;
	*count = 0;
	for (text_blanks(&line); text_u64(&line, 10, &v); text_blanks(&line))
		*count += v;
	return 0;
}

int proc_stat_softirq(const char *text, size_t len, uint64_t *ticks, struct err *err)
{
	struct text line;
	int ret = proc_find(text, len, "cpu", " ", &line, err);

	/* user nice system idle iowait irq softirq */
	for (unsigned i = 0; !ret && i < 7; i++) {
		text_blanks(&line);
		if (!text_u64(&line, 10, ticks))
			ret = err_set(err, -EBADMSG, "/proc/stat is not understood");
	}
	return ret;
}

int proc_meminfo(const char *text, size_t len, const char *name, uint64_t *kb, struct err *err)
{
	struct text line;
	int ret = proc_find(text, len, name, ":", &line, err);

	if (ret)
		return ret;
	text_blanks(&line);
	return text_u64(&line, 10, kb) ? 0
				       : err_set(err, -EBADMSG, "/proc/meminfo is not understood");
}

int proc_slabinfo(const char *text, size_t len, const char *name, struct proc_slab *s,
		  struct err *err)
{
	uint64_t *into[] = {&s->active_objs, &s->objs, &s->obj_bytes};
	struct text line;
	int ret = proc_find(text, len, name, " ", &line, err);

	for (unsigned i = 0; !ret && i < 3; i++) {
		text_blanks(&line);
		if (!text_u64(&line, 10, into[i]))
			ret = err_set(err, -EBADMSG, "/proc/slabinfo is not understood");
	}
	return ret;
}
