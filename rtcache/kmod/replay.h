/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debugfs file rtcache/replay: write a trace (core/trace.h), read the state that it leaves. Each
 * open file has a cache of its own; the switches are the module's. With timer=percpu the state depends on
 * the CPU, so the writer has to stay on one.
 */
#ifndef KMOD_REPLAY_H
#define KMOD_REPLAY_H

struct dentry;

void replay_init(struct dentry *dir);

#endif
