// SPDX-License-Identifier: GPL-2.0-or-later
/* `dststorm doctor`: one line a prerequisite; what is missing comes with the command that mends it. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/doctor.h"

int doctor_say(enum doctor_state state, const char *what, const char *detail)
{
	static const char *const marks[] = {"ok", "note", "MISSING"};

	printf("%-8s %-26s %s\n", marks[state], what, detail);
	return state == DOCTOR_MISSING;
}

static bool doctor_in_path(const char *program)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *save, *dir;
	char full[PATH_MAX];
	bool found = false;

	for (dir = strtok_r(path, ":", &save); dir && !found; dir = strtok_r(NULL, ":", &save)) {
		snprintf(full, sizeof(full), "%s/%s", dir, program);
		found = !access(full, X_OK);
	}
	free(path);
	return found;
}

static int doctor_program(const char *program, const char *package)
{
	char remedy[128];

	if (doctor_in_path(program))
		return doctor_say(DOCTOR_OK, program, "");
	snprintf(remedy, sizeof(remedy), "apt-get install --no-install-recommends %s", package);
	return doctor_say(DOCTOR_MISSING, program, remedy);
}

static int doctor_sibling(const char *name)
{
	char path[PATH_MAX], out[128], remedy[512];
	char *argv[] = {path, (char *)"--version", NULL};
	struct err err;

	if (ctl_find(name, path, &err) < 0)
		return doctor_say(DOCTOR_MISSING, name, "make");
	if (ctl_capture(argv, out, sizeof(out), &err) < 0) { /* it lacks a library: libpcap, DPDK */
		snprintf(remedy, sizeof(remedy), "%s: scripts/deps build && make", err.text);
		return doctor_say(DOCTOR_MISSING, name, remedy);
	}
	return doctor_say(DOCTOR_OK, name, path);
}

/* Without it neither our programs nor what they measure is found. */
static int doctor_proc(void)
{
	if (!access("/proc/self/exe", F_OK))
		return 0;
	return doctor_say(DOCTOR_MISSING, "/proc", "mount -t proc proc /proc");
}

unsigned long ctl_available_mb(void)
{
	unsigned long mb = 0, kb;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu", &kb) == 1)
			mb = kb / 1024;
	if (f)
		fclose(f);
	return mb;
}

static int doctor_memory(void)
{
	unsigned long mb = ctl_available_mb();
	char detail[128];

	if (mb >= 1600) {
		snprintf(detail, sizeof(detail), "%lu MB available", mb);
		return doctor_say(DOCTOR_OK, "memory", detail);
	}
	snprintf(detail, sizeof(detail),
		 "%lu MB available of 1,600: run with --set dut.memory_mb=512, or end something", mb);
	return doctor_say(DOCTOR_MISSING, "memory", detail);
}

static int doctor_disk(void)
{
	struct statvfs v;
	char detail[128];
	unsigned long mb;

	if (statvfs(".", &v) < 0)
		return doctor_say(DOCTOR_MISSING, "disk", strerror(errno));
	mb = (unsigned long)((double)v.f_bavail * (double)v.f_frsize / 1e6);
	snprintf(detail, sizeof(detail), "%lu MB free here%s", mb,
		 mb >= 200 ? "" : " of 200: rm -r results, or run with --results DIR");
	return doctor_say(mb >= 200 ? DOCTOR_OK : DOCTOR_MISSING, "disk", detail);
}

static int doctor_kvm(void)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return doctor_say(DOCTOR_NOTE, "/dev/kvm",
				  errno == EACCES ? "not accessible: adduser $USER kvm; TCG is used" :
						    "none: guests run under TCG, which is slower");
	close(fd);
	return doctor_say(DOCTOR_OK, "/dev/kvm", "used where a trial boot with it succeeds");
}

static int doctor_kernel(const char *name)
{
	char path[PATH_MAX], out[PATH_MAX], what[32];
	char *argv[] = {path, (char *)name, NULL};
	struct err err;

	snprintf(what, sizeof(what), "kernel %s", name);
	if (ctl_find("guest-kernel", path, &err) < 0 || ctl_capture(argv, out, sizeof(out), &err) < 0)
		return doctor_say(DOCTOR_MISSING, what, err.text);
	return doctor_say(DOCTOR_OK, what, out);
}

static int doctor_cpus(void)
{
	char detail[64];
	int n = get_nprocs();

	snprintf(detail, sizeof(detail), "%d; generator, guest and sink share them", n);
	return doctor_say(n >= 2 ? DOCTOR_OK : DOCTOR_NOTE, "CPUs", detail);
}

int verb_doctor(int argc, char **argv)
{
	static const struct argp argp = {NULL, NULL, NULL,
					 "Tell what this machine lacks, and the command that mends it."
					 "\vExit status: 0 nothing is missing; 3 something is.",
					 NULL, NULL, NULL};
	int missing = 0;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (doctor_proc())
		return EXIT_RIG;
	missing += doctor_sibling("dststorm-gen");
	missing += doctor_sibling("dststorm-sink");
	missing += doctor_sibling("dststorm-mon");
	missing += doctor_program("qemu-system-x86_64", "qemu-system-x86");
	missing += doctor_program("busybox", "busybox-static");
	missing += doctor_program("cpio", "cpio");
	missing += doctor_program("xz", "xz-utils");
	missing += doctor_kernel("debian-6.1");
	missing += doctor_kernel("debian-6.12");
	missing += doctor_cpus();
	missing += doctor_memory();
	missing += doctor_disk();
	missing += doctor_kvm();
	doctor_netns();
	if (missing)
		printf("\n%d missing\n", missing);
	return missing ? EXIT_RIG : EXIT_OK;
}
