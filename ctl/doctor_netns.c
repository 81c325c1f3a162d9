// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/doctor.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif

#define DOCTOR_TRACING "/sys/kernel/tracing"
#define DOCTOR_EVENT   DOCTOR_TRACING "/events/skb/kfree_skb/"
#define DOCTOR_DROPS   ", without which losses inside the host cannot be named: "
#define DOCTOR_KERNEL  "boot Debian's kernel (apt-get install linux-image-amd64), or use lab: vm"

/* Each is run in a child that may change what is its own, and returns 0 or an errno. */

static int doctor_try_namespace(void)
{
	return unshare(CLONE_NEWNET) < 0 ? errno : 0;
}

static int doctor_try_tables(void)
{
	return access("/proc/net/stat/arp_cache", R_OK) < 0 ? errno : 0;
}

static int doctor_try_ip(void)
{
	char *argv[] = {(char *)"ip", (char *)"-V", NULL}, out[64];
	struct err err;

	return ctl_capture(argv, out, sizeof(out), &err) < 0 ? ENOENT : 0;
}

static int doctor_try_veth(void)
{
	char *argv[] = {(char *)"ip", (char *)"link", (char *)"add", (char *)"in", (char *)"type",
			(char *)"veth", (char *)"peer", (char *)"name", (char *)"gen", NULL};
	int ret = doctor_try_namespace();
	char out[64];
	struct err err;

	if (!ret && ctl_capture(argv, out, sizeof(out), &err) < 0)
		ret = ENOTSUP;
	return ret;
}

static int doctor_try_socket(int family)
{
	int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int doctor_try_packet(void)
{
	return doctor_try_socket(AF_PACKET);
}

static int doctor_try_xdp(void)
{
	return doctor_try_socket(AF_XDP);
}

/* tracefs, in a mount namespace of our own where the host has it not: dststorm-mon will mount it. */
static int doctor_try_event(void)
{
	if (!access(DOCTOR_EVENT "format", R_OK))
		return 0;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    (mount("tracefs", DOCTOR_TRACING, "tracefs", 0, NULL) < 0 && errno != EBUSY))
		return errno;
	return access(DOCTOR_EVENT "format", R_OK) < 0 ? errno : 0;
}

static int doctor_try_reasons(void)
{
	FILE *f = doctor_try_event() ? NULL : fopen(DOCTOR_EVENT "format", "re");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, " reason;") != NULL;
	if (f)
		fclose(f);
	return found ? 0 : ENOTSUP;
}

static int doctor_try_hist(void)
{
	int ret = doctor_try_event();

	return ret || !access(DOCTOR_EVENT "hist", F_OK) ? ret : ENOTSUP;
}

static const struct {
	const char *what;
	int (*try)(void);
	const char *lacks; /* and the remedy */
	bool needed;	   /* for those that follow, too */
} doctor_tries[] = {
	{"namespaces", doctor_try_namespace,
	 "none can be made: give this container CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run "
	 "--privileged), raise sysctl user.max_net_namespaces, or use lab: vm",
	 true},
	{"neighbour tables", doctor_try_tables,
	 "the host's cannot be seen: start dststorm in the first network namespace: nsenter -t 1 -n",
	 false},
	{"ip", doctor_try_ip, "apt-get install --no-install-recommends iproute2", true},
	{"veth", doctor_try_veth, "modprobe veth; a kernel without it: " DOCTOR_KERNEL, false},
	{"packet sockets", doctor_try_packet,
	 "give it CAP_NET_RAW, or modprobe af_packet; a kernel without them: " DOCTOR_KERNEL, false},
	{"XDP sockets", doctor_try_xdp, "none: leave out --gen-port af_xdp, or " DOCTOR_KERNEL,
	 false},
	{"drop event", doctor_try_event, "no skb:kfree_skb" DOCTOR_DROPS DOCTOR_KERNEL, true},
	{"drop reasons", doctor_try_reasons, "none before Linux 5.17" DOCTOR_DROPS DOCTOR_KERNEL, true},
	{"histogram triggers", doctor_try_hist,
	 "no CONFIG_HIST_TRIGGERS" DOCTOR_DROPS DOCTOR_KERNEL, true},
};
#define DOCTOR_TRIES (sizeof(doctor_tries) / sizeof(*doctor_tries))

static bool doctor_works(int (*try)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(try());
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

void doctor_netns(void)
{
	bool works = !geteuid();

	if (!works)
		doctor_say(DOCTOR_NOTE, "lab netns", "needs root: sudo ./dststorm doctor; lab vm does not");
	for (unsigned int i = 0; i < DOCTOR_TRIES && works; i++) {
		char what[48];
		bool found = doctor_works(doctor_tries[i].try);

		snprintf(what, sizeof(what), "netns: %s", doctor_tries[i].what);
		doctor_say(found ? DOCTOR_OK : DOCTOR_NOTE, what, found ? "" : doctor_tries[i].lacks);
		works = found || !doctor_tries[i].needed;
	}
}
