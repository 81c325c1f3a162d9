/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the host under test (DUT) comes from. A lab makes two wires, generator to DUT and DUT to
 * sink, and a DUT in which dststorm-mon runs; all else in a run is the same in every lab.
 */
#ifndef CTL_LAB_H
#define CTL_LAB_H

#include <stdbool.h>
#include <limits.h>
#include <sys/types.h>
#include <jansson.h>

#include "ctl/role.h"
#include "ctl/vm.h"
#include "lib/err.h"

#define LAB_IN_MAC  "52:54:00:d5:00:01" /* of the DUT, towards the generator */
#define LAB_OUT_MAC "52:54:00:d5:00:02" /* towards the sink */

struct run;

struct lab_ops {
	const char *name;  /* as in the key `lab:` */
	const char *about; /* one line for --help */
	const char *dut;   /* what the DUT is called in sentences */
	/* Check and fetch what is needed, before anything is made. Each returns 0 or negative errno. */
	int (*prepare)(struct run *run, struct err *err);
	/* Make what the ports of gen and sink stand on. The run's folders are there. */
	int (*open)(struct run *run, struct err *err);
	/* Gen and sink are there: start the DUT, and dststorm-mon in it; connect run->mon. */
	int (*start)(struct run *run, struct err *err);
	/* End the DUT, gen and sink, in the order that suits it. */
	void (*stop)(struct run *run);
	/* The lab's own process @pid ended. True if it was one. */
	bool (*exited)(struct run *run, pid_t pid, int status);
	/* "dut.…" of the manifest, beside the kernel. */
	void (*manifest)(const struct run *run, json_t *doc);
	void (*free)(struct run *run);
};

extern const struct lab_ops lab_vm, lab_netns;
extern const struct lab_ops *const lab_all[]; /* NULL-terminated; in the order of enum scenario_lab */

enum { LAB_NS_GEN, LAB_NS_DUT, LAB_NS_SINK, LAB_NR_NS };

struct lab {
	const struct lab_ops *ops;
	char release[128];		    /* of the DUT's kernel */
	char gen_port[PATH_MAX + 8];	    /* what gen's --port is told */
	char sink_source[PATH_MAX + 8];	    /* and sink's --source */
	const char *gen_sock, *sink_sock;   /* sockets that have to be there before the DUT; NULL: none */
	const char *console;		    /* of the DUT; NULL: it has none */
	struct role guest;		    /* vm: QEMU */
	struct vm vm;
	int ns[LAB_NR_NS];		    /* netns: the namespaces; -1 elsewhere */
};

/* Start @argv as @r, with its log in the results directory and the janitor watching. @piped: its
 * standard input and output are the control connection. */
int lab_spawn(struct run *run, struct role *r, char *const argv[], int death_signal, bool piped,
	      struct err *err);

/* Wait until dststorm-mon says that it is alive. */
int lab_await_mon(struct run *run, uint64_t timeout_ms, struct err *err);

#endif
