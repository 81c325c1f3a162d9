/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libraries print themselves, kept from the user's terminal and for our own sentence: DPDK
 * before its log works, libbpf and libxdp always. Standard output and error are the process's, so
 * other threads had better print nothing meanwhile.
 */
#ifndef DPDK_HUSH_H
#define DPDK_HUSH_H

#include <stddef.h>

#define HUSH_LINE 200u

struct hush {
	int memory, out, err;
};

void hush_begin(struct hush *h);

/* @said: the first line that was printed, tidied as by hush_line(), or "". */
void hush_end(struct hush *h, char said[HUSH_LINE]);

/* The last line of @text with anything in it, without "EAL: " and the like; else @out stays. */
void hush_line(const char *text, size_t len, char out[HUSH_LINE]);

#endif
