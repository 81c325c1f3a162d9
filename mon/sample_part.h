/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files sample*.c only. They fill their part of a sample or return -errno. */
#ifndef MON_SAMPLE_PART_H
#define MON_SAMPLE_PART_H

#include "mon/sample.h"

int sample_ip(struct sampler *s, struct sample_ip *ip, struct err *err);
int sample_ip6(struct sampler *s, struct sample *out, struct err *err);
int sample_devs6(struct sampler *s, struct sample *out, struct err *err);

/* What the host answered itself since sampler_reset(); after the drops have been read. */
void sample_answered(struct sampler *s, struct sample *out);

#endif
