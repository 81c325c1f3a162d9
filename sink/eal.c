// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/eal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "lib/err.h"

enum { EAL_COMPLAINT = 160, EAL_CPUS = 512 };

static char eal_last[EAL_COMPLAINT];
static pthread_mutex_t eal_lock = PTHREAD_MUTEX_INITIALIZER; /* of eal_last: DPDK's threads log */
static bool eal_started;

static ssize_t eal_log(void *cookie, const char *text, size_t len)
{
	size_t n = len;

	(void)cookie;
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	if (!n)
		return (ssize_t)len;
	pthread_mutex_lock(&eal_lock);
	snprintf(eal_last, sizeof(eal_last), "%.*s", (int)n, text);
	for (char *c = eal_last; *c; c++) {
		if (*c == '\n')
			*c = ' ';
	}
	pthread_mutex_unlock(&eal_lock);
	return (ssize_t)len;
}

const char *eal_complaint(void)
{
	static char text[EAL_COMPLAINT];

	pthread_mutex_lock(&eal_lock);
	memcpy(text, eal_last, sizeof(text));
	pthread_mutex_unlock(&eal_lock);
	return text;
}

static int eal_log_open(struct err *err)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = eal_log});

	if (!f)
		return err_set(err, -ENOMEM, "no memory for the log of DPDK");
	setvbuf(f, NULL, _IOLBF, 0);
	rte_openlog_stream(f);
	rte_log_set_global_level(RTE_LOG_ERR);
	return 0;
}

/* One DPDK core that may run on any CPU that this process may: pinning is the user's to ask for. */
static void eal_lcores(char *text, size_t size)
{
	const char *separator = "";
	cpu_set_t set;
	size_t len;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		CPU_ZERO(&set);
		CPU_SET(0, &set);
	}
	len = (size_t)snprintf(text, size, "--lcores=0@(");
	for (int cpu = 0; cpu < CPU_SETSIZE && len + 8 < size; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%d", separator, cpu);
		separator = ",";
	}
	snprintf(text + len, size - len, ")");
}

/* DPDK also writes to stdout and stderr itself, before its log works. */
static int eal_init_silently(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), out, err, ret;

	fflush(NULL);
	out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	ret = rte_eal_init(argc, argv);
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(null);
	return ret;
}

/* DPDK insists on a directory for its run-time files, though it is told to make none. */
static int eal_dir_make(char *dir, size_t size, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, size, "%s/dststorm-sink-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return err_set(err, -errno, "cannot make a directory like %s: %s; set TMPDIR", dir,
			       strerror(errno));
	setenv("RUNTIME_DIRECTORY", dir, 1);
	return 0;
}

static void eal_dir_remove(const char *dir)
{
	char path[1100];

	snprintf(path, sizeof(path), "%s/dpdk/sink", dir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/dpdk", dir);
	rmdir(path);
	rmdir(dir);
	unsetenv("RUNTIME_DIRECTORY");
}

int eal_start(bool huge, unsigned int memory_mb, struct err *err)
{
	/* DPDK may keep pointers to its arguments. */
	static char cpus[EAL_CPUS], mem[16], name[] = "dststorm-sink",
					     prefix[] = "--file-prefix=sink";
	static char quiet[] = "--no-telemetry", pci[] = "--no-pci";
	static char in_memory[] = "--in-memory", no_huge[] = "--no-huge",
		    no_shconf[] = "--no-shconf";
	char *argv[] = {name,
			huge ? in_memory : no_huge,
			huge ? quiet : no_shconf,
			quiet,
			pci,
			prefix,
			mem,
			cpus,
			NULL};
	char dir[1024];
	int ret;

	snprintf(mem, sizeof(mem), "-m%u", memory_mb);
	eal_lcores(cpus, sizeof(cpus));
	ret = eal_log_open(err);
	if (!ret)
		ret = eal_dir_make(dir, sizeof(dir), err);
	if (ret)
		return ret;
	ret = eal_init_silently((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv);
	eal_dir_remove(dir);
	if (ret < 0)
		return err_set(err, rte_errno ? -rte_errno : -EIO,
			       "DPDK does not start with %u MB%s (%s): try more --memory%s",
			       memory_mb, huge ? " of hugepages" : "", eal_complaint(),
			       huge ? ", or leave out --huge" : "");
	eal_started = true;
	return 0;
}

void eal_stop(void)
{
	if (eal_started)
		rte_eal_cleanup();
	eal_started = false;
}
