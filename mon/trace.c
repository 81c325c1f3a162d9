// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/ethernet.h>

#include "lib/err.h"
#include "mon/btf.h"

#define TRACE_NAME   "dststorm"
#define TRACE_EVENT  "drop"
#define TRACE_FORMAT "events/skb/kfree_skb/format"
/* Of all the pairs of reason and function that a kernel has, a few hundred; overflow is reported.
 */
#define TRACE_SIZE "4096"

#define TRACE_PATH_MAX 160
#define TRACE_LOOPBACK 1 /* index of lo in every network namespace */

/* "%s" in @name is the name of our instance and group. */
static const char *trace_path(const struct trace *t, char *path, const char *name)
{
	const char *gap = strstr(name, "%s");

	if (gap)
		snprintf(path, TRACE_PATH_MAX, "%s/%.*s%s%s", t->root, (int)(gap - name), name,
			 t->name, gap + 2);
	else
		snprintf(path, TRACE_PATH_MAX, "%s/%s", t->root, name);
	return path;
}

static int trace_put(const struct trace *t, const char *name, const char *text, struct err *err)
{
	char path[TRACE_PATH_MAX];

	return file_write(trace_path(t, path, name), O_WRONLY | O_APPEND, text, err);
}

static int trace_find_root(struct trace *t, struct err *err)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[TRACE_PATH_MAX];

	for (unsigned i = 0; i < 2; i++) {
		t->root = roots[i];
		if (!access(trace_path(t, path, TRACE_FORMAT), R_OK))
			return 0;
	}
	t->root = roots[0];
	if (!mount("tracefs", t->root, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		t->mounted = true;
	else if (errno != EBUSY)
		return err_set(err, -errno,
			       "cannot mount tracefs at %s: %s%s",
			       t->root, strerror(errno), errno == EPERM ? "; run as root" : "");
	if (access(trace_path(t, path, TRACE_FORMAT), R_OK))
		return err_set(err, -errno,
			       "the kernel lacks the event skb:kfree_skb, or this needs root");
	return 0;
}

static int trace_check(const struct trace *t, struct err *err)
{
	char path[TRACE_PATH_MAX];

	if (access(trace_path(t, path, "events/skb/kfree_skb/hist"), F_OK))
		return err_set(err, -ENOTSUP,
			       "this kernel was built without histogram triggers "
			       "(CONFIG_HIST_TRIGGERS)");
	return 0;
}

static void trace_remove_instance(const struct trace *t)
{
	char path[TRACE_PATH_MAX];

	rmdir(trace_path(t, path, "instances/%s"));
}

static void trace_remove_probe(const struct trace *t)
{
	char path[TRACE_PATH_MAX], text[64];

	if (access(trace_path(t, path, "events/%s/" TRACE_EVENT), F_OK))
		return;
	snprintf(text, sizeof(text), "-:%s/" TRACE_EVENT "\n", t->name);
	trace_put(t, "dynamic_events", text, NULL);
}

/* The names in folder @where that are those of a process which is gone. */
static void trace_remove_dead(const struct trace *t, const char *where)
{
	char path[TRACE_PATH_MAX];
	DIR *d = opendir(trace_path(t, path, where));
	struct trace dead = {.root = t->root};
	struct dirent *e;
	char rest;
	int pid;

	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, TRACE_NAME "_%d%c", &pid, &rest) != 1 || pid <= 0 ||
		    (pid != getpid() && (!kill(pid, 0) || errno != ESRCH)))
			continue;
		snprintf(dead.name, sizeof(dead.name), TRACE_NAME "_%d", pid);
		trace_remove_instance(&dead);
		trace_remove_probe(&dead);
	}
	if (d)
		closedir(d);
}

/*
 * Beside the interface, what would be the type, the hop limit and the next header of a message of
 * neighbour discovery: icmpv6_rcv frees these with skb->data at the ICMPv6 header, and the IPv6
 * header lies before it. Anywhere else the bytes mean nothing, which trace_drop() knows.
 */
static int trace_make_probe(struct trace *t, struct err *err)
{
	int iif, data = 0, ret = file_read(&t->buf, "/sys/kernel/btf/vmlinux", err);
	char text[512];

	if (ret)
		return ret;
	iif = btf_member_offset(t->buf.text, t->buf.len, "sk_buff", "skb_iif", err);
	if (iif >= 0)
		data = btf_member_offset(t->buf.text, t->buf.len, "sk_buff", "data", err);
	file_buf_free(&t->buf); /* several MB that are not needed again */
	if (iif < 0 || data < 0)
		return iif < 0 ? iif : data;
	snprintf(text, sizeof(text),
		 "e:%s/" TRACE_EVENT " skb/kfree_skb iif=+%d($skbaddr):s32 iif6=+%d($skbaddr):s32 "
		 "nd6=+%d($skbaddr):s32 type=+0(+%d($skbaddr)):u8 hop=-33(+%d($skbaddr)):u8 "
		 "next=-34(+%d($skbaddr)):u8 protocol=$protocol:u16 reason=$reason:u32 "
		 "location=$location:x64\n",
		 t->name, iif, iif, iif, data, data, data);
	return trace_put(t, "dynamic_events", text, err);
}

int trace_open(struct trace *t, bool shared, struct err *err)
{
	char path[TRACE_PATH_MAX];
	int ret;

	memset(t, 0, sizeof(*t));
	strcpy(t->name, TRACE_NAME);
	if (shared)
		snprintf(t->name, sizeof(t->name), TRACE_NAME "_%d", (int)getpid());
	ret = trace_find_root(t, err);
	if (!ret)
		ret = trace_check(t, err);
	if (!ret)
		ret = file_read(&t->buf, trace_path(t, path, TRACE_FORMAT), err);
	if (!ret)
		ret = evformat_parse(&t->reasons, t->buf.text, t->buf.len, "reason", err);
	if (ret)
		return ret;
	trace_remove_dead(t, "instances");
	trace_remove_dead(t, "events");
	if (!shared) {
		trace_remove_instance(t);
		trace_remove_probe(t);
	}
	t->origin = !trace_make_probe(t, err);
	t->usable = true;
	return 0;
}

/*
 * Three keys are the kernel's limit. IP needs the interface and no protocol, everything else the
 * protocol and no interface: triggers that share out the packets between them.
 */
static const char *const trace_parts[] = {
	"iif,reason,location.sym:size=" TRACE_SIZE " if protocol == 0x800",
	"iif6,reason,location.sym:size=" TRACE_SIZE " if protocol == 0x86dd && "
	"(next != 58 || hop != 255 || type < 133 || type > 137)",
	"nd6,reason,location.sym:size=" TRACE_SIZE " if protocol == 0x86dd && "
	"next == 58 && hop == 255 && type >= 133 && type <= 137",
	"protocol,reason,location.sym:size=" TRACE_SIZE " if protocol != 0x800 && "
	"protocol != 0x86dd",
};
#define TRACE_PARTS (sizeof(trace_parts) / sizeof(*trace_parts))

static int trace_trigger(const struct trace *t, const char *event, const char *keys,
			 struct err *err)
{
	char path[TRACE_PATH_MAX], text[256];

	trace_path(t, path, event);
	snprintf(text, sizeof(text), "hist:keys=%s\n", keys);
	return file_write(path, O_WRONLY | O_APPEND, text, err);
}

static int trace_triggers(struct trace *t, struct err *err)
{
	char event[64];

	if (!t->origin)
		return trace_trigger(t, "instances/%s/events/skb/kfree_skb/trigger",
				     "protocol,reason,location.sym:size=" TRACE_SIZE, err);
	snprintf(event, sizeof(event), "instances/%%s/events/%s/" TRACE_EVENT "/trigger", t->name);
	for (unsigned i = 0; i < TRACE_PARTS; i++) {
		int ret = trace_trigger(t, event, trace_parts[i], err);

		if (ret)
			return ret;
	}
	return 0;
}

int trace_arm(struct trace *t, struct err *err)
{
	char path[TRACE_PATH_MAX];
	int ret;

	if (!t->usable)
		return err_set(err, -ENOTSUP, "drops cannot be told by cause on this kernel");
	trace_remove_instance(t);
	t->armed = false;
	if (mkdir(trace_path(t, path, "instances/%s"), 0700))
		return err_set(err, -errno, "cannot make the trace instance %s: %s", path,
			       strerror(errno));
	ret = trace_triggers(t, err);
	if (ret) {
		trace_remove_instance(t);
		return ret;
	}
	t->armed = true;
	return trace_read(t, err);
}

int trace_read(struct trace *t, struct err *err)
{
	char path[TRACE_PATH_MAX], event[64] = "instances/%s/events/skb/kfree_skb/hist";
	int ret;

	if (!t->armed)
		return 0;
	if (t->origin)
		snprintf(event, sizeof(event), "instances/%%s/events/%s/" TRACE_EVENT "/hist",
			 t->name);
	ret = file_read(&t->buf, trace_path(t, path, event), err);
	if (ret)
		return ret;
	ret = khist_parse(&t->hist, t->buf.text, t->buf.len, err);
	if (!ret && t->hist.blocks != (t->origin ? TRACE_PARTS : 1u))
		ret = err_set(err, -EBADMSG,
			      "the drop histogram has %u parts; did someone else change %s?",
			      t->hist.blocks, path);
	return ret;
}

int trace_disarm(struct trace *t, struct err *err)
{
	int ret = trace_read(t, err);

	if (t->armed)
		trace_remove_instance(t);
	t->armed = false;
	return ret;
}

void trace_close(struct trace *t)
{
	if (t->usable) {
		trace_remove_instance(t);
		trace_remove_probe(t);
	}
	if (t->mounted)
		umount(t->root);
	evformat_free(&t->reasons);
	file_buf_free(&t->buf);
	khist_free(&t->hist);
	memset(t, 0, sizeof(*t));
}

/* Not by one of ours: received in another network namespace, or on its way there. */
static bool trace_elsewhere(const struct trace *t, int iif)
{
	for (unsigned i = 0; i < t->nr_ifs; i++)
		if (t->ifindex[i] == iif)
			return false;
	return t->nr_ifs && iif > TRACE_LOOPBACK;
}

void trace_drop(const struct trace *t, unsigned i, struct trace_drop *d)
{
	const struct khist_row *r = &t->hist.rows[i];
	const char *reason = evformat_name(&t->reasons, r->reason);
	bool by_iif = r->key != KHIST_PROTOCOL;

	d->protocol = !by_iif ? r->first : r->key == KHIST_IIF ? ETHERTYPE_IP : ETHERTYPE_IPV6;
	d->iif = by_iif ? r->first : -1;
	d->reason = reason ? reason : "?";
	d->location = r->symbol;
	d->pkts = r->pkts;
	d->cause = cause_of(reason, r->symbol);
	/*
	 * A packet of the backlog has not passed the point where skb_iif is set: it was received,
	 * by whatever interface.
	 */
	d->own = d->iif == 0 || d->iif == TRACE_LOOPBACK;
	d->counted = (d->protocol == ETHERTYPE_IP || d->protocol == ETHERTYPE_IPV6) &&
		     (!d->own || d->cause == CAUSE_SOFTNET) && !trace_elsewhere(t, d->iif) &&
		     !(r->key == KHIST_ND6 && cause_is_symbol(r->symbol, "icmpv6_rcv"));
}
