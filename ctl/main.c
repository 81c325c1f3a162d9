// SPDX-License-Identifier: GPL-2.0-or-later
/* dststorm: the one command that users type. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <argp.h>

#include "capture/capture.h"
#include "ctl/catalog.h"
#include "ctl/ctl.h"
#include "ctl/lab.h"
#include "lib/out.h"
#include "lib/scenario.h"

const char *ctl_version = DSTSTORM_VERSION, *ctl_git_id = DSTSTORM_GIT_ID;

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
} verbs[] = {
	{"run", verb_run, "flood the host under test and say what happened"},
	{"report", verb_report, "compute the summary of a results directory again"},
	{"doctor", verb_doctor, "tell what this machine lacks, and the command that mends it"},
};

#define NR_VERBS (sizeof(verbs) / sizeof(*verbs))

uint64_t ctl_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int usage(FILE *f, int code)
{
	fprintf(f, "Usage: dststorm VERB [OPTION...]\n\n");
	for (unsigned int i = 0; i < NR_VERBS; i++)
		fprintf(f, "  %-8s %s\n", verbs[i].name, verbs[i].about);
	fprintf(f, "\nLabs, where the host under test is; a key of the scenario:\n");
	for (unsigned int i = 0; lab_all[i]; i++)
		fprintf(f, "  lab: %-8s %s\n", lab_all[i]->name, lab_all[i]->about);
	fprintf(f, "\nScenarios; each says at its top what to expect:\n");
	catalog_print(f);
	fprintf(f, "\nThe first run: dststorm run configs/many-destinations.yaml\n"
		   "Another kernel: --set dut.kernel=debian-6.12, or the path of a bzImage\n"
		   "`dststorm VERB --help' tells about one verb, --version which dststorm this is.\n");
	return code;
}

static int ctl_main(int argc, char **argv)
{
	static char name[64], version[128];

	snprintf(version, sizeof(version), "dststorm %s (%s)", ctl_version, ctl_git_id);
	argp_program_version = version; /* for the verbs */
	argp_err_exit_status = EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	scenario_pcap = capture_destinations;
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	for (unsigned int i = 0; i < NR_VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			snprintf(name, sizeof(name), "dststorm %s", verbs[i].name);
			argv[1] = name;
			return verbs[i].run(argc - 1, argv + 1);
		}
	if (!strcmp(argv[1], "--version")) {
		printf("%s\n", version);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--usage") || !strcmp(argv[1], "help"))
		return usage(stdout, EXIT_OK);
	if (!access(argv[1], F_OK))
		fprintf(stderr, "dststorm: no verb `%s'; try dststorm run %s\n", argv[1], argv[1]);
	else
		fprintf(stderr, "dststorm: no verb `%s'; see dststorm --help\n", argv[1]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct err err;
	int code;

	out_hold();
	code = ctl_main(argc, argv);
	if (!out_end(&err))
		return code;
	fprintf(stderr, "dststorm: %s\n", err.text);
	return EXIT_RIG;
}
