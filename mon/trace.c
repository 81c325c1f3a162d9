// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/ethernet.h>

#include "lib/err.h"
#include "mon/btf.h"

#define TRACE_INSTANCE "instances/dststorm"
#define TRACE_GROUP    "dststorm"
#define TRACE_EVENT    "drop"
/* Of all the pairs of reason and function that a kernel has, a few hundred; overflow is reported.
 */
#define TRACE_SIZE "4096"

#define TRACE_PATH_MAX 160

static const char *trace_path(const struct trace *t, char *path, const char *name)
{
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
		if (!access(trace_path(t, path, "events/skb/kfree_skb/format"), R_OK))
			return 0;
	}
	t->root = roots[0];
	if (!mount("tracefs", t->root, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		t->mounted = true;
	else if (errno != EBUSY)
		return err_set(err, -errno,
			       "drops cannot be told by cause: cannot mount tracefs at %s: %s",
			       t->root, strerror(errno));
	if (access(trace_path(t, path, "events/skb/kfree_skb/format"), R_OK))
		return err_set(err, -errno,
			       "drops cannot be told by cause: the kernel lacks the event "
			       "skb:kfree_skb, or this needs root");
	return 0;
}

static void trace_remove_instance(const struct trace *t)
{
	char path[TRACE_PATH_MAX];

	rmdir(trace_path(t, path, TRACE_INSTANCE));
}

static void trace_remove_probe(const struct trace *t)
{
	char path[TRACE_PATH_MAX];

	if (!access(trace_path(t, path, "events/" TRACE_GROUP "/" TRACE_EVENT), F_OK))
		trace_put(t, "dynamic_events", "-:" TRACE_GROUP "/" TRACE_EVENT "\n", NULL);
}

static int trace_make_probe(struct trace *t, struct err *err)
{
	char text[256];
	int offset, ret = file_read(&t->buf, "/sys/kernel/btf/vmlinux", err);

	if (ret)
		return ret;
	offset = btf_member_offset(t->buf.text, t->buf.len, "sk_buff", "skb_iif", err);
	file_buf_free(&t->buf); /* several MB that are not needed again */
	if (offset < 0)
		return offset;
	snprintf(text, sizeof(text),
		 "e:" TRACE_GROUP "/" TRACE_EVENT " skb/kfree_skb iif=+%d($skbaddr):s32 "
		 "protocol=$protocol:u16 reason=$reason:u32 location=$location:x64\n",
		 offset);
	return trace_put(t, "dynamic_events", text, err);
}

int trace_open(struct trace *t, struct err *err)
{
	char path[TRACE_PATH_MAX];
	int ret;

	memset(t, 0, sizeof(*t));
	ret = trace_find_root(t, err);
	if (!ret)
		ret = file_read(&t->buf, trace_path(t, path, "events/skb/kfree_skb/format"), err);
	if (!ret)
		ret = evformat_parse(&t->reasons, t->buf.text, t->buf.len, "reason", err);
	if (ret)
		return ret;
	trace_remove_instance(t);
	trace_remove_probe(t);
	t->origin = !trace_make_probe(t, err);
	t->usable = true;
	return 0;
}

/*
 * Three keys are the kernel's limit. IPv4 needs the interface and no protocol, everything else the
 * protocol and no interface: two triggers that share out the packets between them.
 */
static int trace_triggers(struct trace *t, struct err *err)
{
	static const char probe[] =
		TRACE_INSTANCE "/events/" TRACE_GROUP "/" TRACE_EVENT "/trigger";
	static const char plain[] = TRACE_INSTANCE "/events/skb/kfree_skb/trigger";
	int ret;

	if (!t->origin)
		return trace_put(t, plain,
				 "hist:keys=protocol,reason,location.sym:size=" TRACE_SIZE "\n",
				 err);
	ret = trace_put(t, probe,
			"hist:keys=iif,reason,location.sym:size=" TRACE_SIZE
			" if protocol == 0x800\n",
			err);
	if (ret)
		return ret;
	return trace_put(t, probe,
			 "hist:keys=protocol,reason,location.sym:size=" TRACE_SIZE
			 " if protocol != 0x800\n",
			 err);
}

int trace_arm(struct trace *t, struct err *err)
{
	char path[TRACE_PATH_MAX];
	int ret;

	if (!t->usable)
		return err_set(err, -ENOTSUP, "drops cannot be told by cause on this kernel");
	trace_remove_instance(t);
	t->armed = false;
	if (mkdir(trace_path(t, path, TRACE_INSTANCE), 0700))
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
	const char *name = t->origin ? TRACE_INSTANCE "/events/" TRACE_GROUP "/" TRACE_EVENT "/hist"
				     : TRACE_INSTANCE "/events/skb/kfree_skb/hist";
	char path[TRACE_PATH_MAX];
	int ret;

	if (!t->armed)
		return 0;
	ret = file_read(&t->buf, trace_path(t, path, name), err);
	if (ret)
		return ret;
	ret = khist_parse(&t->hist, t->buf.text, t->buf.len, err);
	if (!ret && t->hist.blocks != (t->origin ? 2u : 1u))
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

void trace_drop(const struct trace *t, unsigned i, struct trace_drop *d)
{
	const struct khist_row *r = &t->hist.rows[i];
	const char *reason = evformat_name(&t->reasons, r->reason);

	d->protocol = r->by_iif ? ETHERTYPE_IP : r->first;
	d->iif = r->by_iif ? r->first : -1;
	d->reason = reason ? reason : "?";
	d->location = r->symbol;
	d->pkts = r->pkts;
	d->cause = cause_of(reason, r->symbol);
	/*
	 * A packet of the backlog has not passed the point where skb_iif is set: it was received,
	 * by whatever interface.
	 */
	d->counted = d->protocol == ETHERTYPE_IP && (d->iif != 0 || d->cause == CAUSE_SOFTNET);
}
