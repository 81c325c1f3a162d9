/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line as data. */
#ifndef SINK_OPTIONS_H
#define SINK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dpdk/port.h"
#include "sink/sink.h"
#include "sink/source.h"

struct err;

struct options {
	enum source_kind source;
	struct port_name port; /* of SOURCE_PORT */
	const char *where; /* the interface of SOURCE_LIVE, the file of SOURCE_PCAP */
	const char *control, *scenario;
	const char **sets, **allow;
	unsigned int nr_sets, nr_allow;
	uint32_t nr_shards;
	struct sink_files files;
	bool sent_given, align, huge, telemetry, passive;
	uint64_t sent_pkts;
	uint32_t memory_mb; /* 0: as much as it takes */
	uint32_t buffer_mb;
};

/* Returns 0 or -EINVAL. --help and --version end the program. Strings are those of @argv. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_free(struct options *o);

#endif
