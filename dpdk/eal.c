// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/eal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "dpdk/hush.h"
#include "lib/err.h"

enum {
	EAL_ARGS_MAX = 64,
	EAL_FILES_MIN = 64, /* about 16 are for DPDK itself, and few for a port */
};

static struct {
	bool started, telemetry;
	pthread_mutex_t lock; /* of last, which any of DPDK's threads may write */
	char last[HUSH_LINE];
	char told[HUSH_LINE];
	FILE *log;
} eal = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- what DPDK says --------------------------------------------------------------------------- */

static ssize_t log_write(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	pthread_mutex_lock(&eal.lock);
	hush_line(text, len, eal.last);
	pthread_mutex_unlock(&eal.lock);
	return (ssize_t)len;
}

const char *eal_last_words(void)
{
	pthread_mutex_lock(&eal.lock);
	memcpy(eal.told, eal.last, HUSH_LINE);
	eal.last[0] = '\0';
	pthread_mutex_unlock(&eal.lock);
	return eal.told;
}

static int log_open(struct err *err)
{
	cookie_io_functions_t io = { .write = log_write };

	eal.log = fopencookie(NULL, "w", io);
	if (!eal.log)
		return err_set(err, -ENOMEM, "no memory for DPDK's log");
	setvbuf(eal.log, NULL, _IOLBF, 0);
	rte_openlog_stream(eal.log);
	rte_log_set_global_level(RTE_LOG_ERR);
	return 0;
}

/* --- start ------------------------------------------------------------------------------------ */

/* DPDK's one core may run wherever this process may, instead of being pinned. */
static void lcores_text(char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "--lcores=0@(");
	const char *sep = "";
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && len < size - 8; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%d", sep, cpu);
		sep = ",";
	}
	snprintf(out + len, size - len, ")");
}

static bool gives(char **args, const char *const *names)
{
	for (; args && *args; args++)
		for (const char *const *name = names; *name; name++)
			if (!strncmp(*args, *name, strlen(*name)))
				return true;
	return false;
}

/* Only the devices that are asked for are touched, and without any the bus is not looked at. */
static int add_pci(char **argv, int argc, const struct eal_options *o)
{
	static char no_pci[] = "--no-pci", text[EAL_PCI_MAX][32];

	if (!o->nr_pci)
		argv[argc++] = no_pci;
	for (unsigned int i = 0; i < o->nr_pci; i++) {
		snprintf(text[i], sizeof(text[i]), "-a%s", o->pci[i]);
		argv[argc++] = text[i];
	}
	return argc;
}

static int add_users(char **argv, int argc, char **args, struct err *err)
{
	static const char *const help[] = { "-h", "--help", NULL };

	if (gives(args, help))
		return err_set(err, -EINVAL, "arguments after -- are DPDK's: its guide lists them");
	for (; args && *args; args++) {
		if (argc >= EAL_ARGS_MAX - 1)
			return err_set(err, -E2BIG, "too many arguments after --");
		argv[argc++] = *args;
	}
	argv[argc] = NULL;
	return argc;
}

static const char *remedy(const struct eal_options *o, int code)
{
	if (code == EINVAL)
		return "see the arguments after --";
	if (code == EAGAIN)
		return "raise ulimit -u, which counts all processes and threads of this user";
	return o->huge ? "reserve hugepages (sysctl vm.nr_hugepages), or leave out --huge" :
			 "try another --memory";
}

/* With too few DPDK ends in several ways, of which some are an abort. */
static int check_files(struct err *err)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= EAL_FILES_MIN)
		return 0;
	return err_set(err, -EMFILE, "this process may have %u open files, and DPDK needs more: ulimit -n %d",
		       (unsigned int)files.rlim_cur, EAL_FILES_MIN);
}

static int start(const struct eal_options *o, int argc, char **argv, struct err *err)
{
	char said[HUSH_LINE];
	struct hush h;
	int ret, code;

	hush_begin(&h);
	ret = rte_eal_init(argc, argv);
	code = rte_errno;
	hush_end(&h, said);
	if (ret >= 0)
		return 0;
	if (!said[0])
		memcpy(said, eal_last_words(), HUSH_LINE);
	if (!said[0])
		snprintf(said, sizeof(said), "%s", rte_strerror(code));
	return err_set(err, code ? -code : -EIO, "DPDK does not start: %s: %s", said, remedy(o, code));
}

/* --- what telemetry needs in the file system, and DPDK leaves there --------------------------- */

static bool telemetry_socket(const char *directory, struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/dpdk_telemetry.v2", directory) <
	       (int)sizeof(addr->sun_path);
}

static void remove_directory(const char *directory)
{
	struct sockaddr_un addr;

	if (telemetry_socket(directory, &addr))
		unlink(addr.sun_path);
	rmdir(directory);
}

/* Processes of another PID namespace seem to be gone, so nobody may answer, either. */
static bool is_dead(const char *directory, pid_t pid)
{
	struct sockaddr_un addr;
	bool dead = false;
	int fd;

	if (!kill(pid, 0) || errno != ESRCH || !telemetry_socket(directory, &addr))
		return false;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		dead = errno == ECONNREFUSED || errno == ENOENT;
	close(fd);
	return dead;
}

/* Those of our programs that were killed, which are beside ours. */
static void remove_dead(void)
{
	char parent[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], rest;
	struct dirent *e;
	DIR *d;
	int pid;

	snprintf(parent, sizeof(parent), "%s", rte_eal_get_runtime_dir());
	*strrchr(parent, '/') = '\0';
	d = opendir(parent);
	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, "dststorm-%*[a-z]-%d%c", &pid, &rest) != 1 || pid <= 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, e->d_name);
		if (is_dead(path, pid))
			remove_directory(path);
	}
	if (d)
		closedir(d);
}

int eal_start(const struct eal_options *o, struct err *err)
{
	static const char *const lcores[] = { "-l", "-c", "--lcores", "-S", NULL };
	static const char *const memory[] = { "-m", "--socket-mem", NULL };
	static char size[32], where[512]; /* DPDK keeps pointers into them */
	static char name[32], prefix[64], no_telemetry[] = "--no-telemetry";
	char *argv[EAL_ARGS_MAX] = { name, o->huge ? (char[]){ "--in-memory" } :
						     (char[]){ "--no-huge" },
				     (char[]){ "--no-shconf" }, prefix };
	int argc = 4, ret;

	snprintf(name, sizeof(name), "%s", o->name);
	snprintf(prefix, sizeof(prefix), "--file-prefix=%s-%d", o->name, (int)getpid());
	if (!o->telemetry)
		argv[argc++] = no_telemetry;
	argc = add_pci(argv, argc, o);
	if (!gives(o->args, memory)) {
		snprintf(size, sizeof(size), "-m%u", o->memory_mb);
		argv[argc++] = size;
	}
	if (!gives(o->args, lcores)) {
		lcores_text(where, sizeof(where));
		argv[argc++] = where;
	}
	argc = add_users(argv, argc, o->args, err);
	if (argc < 0)
		return argc;
	ret = check_files(err);
	if (!ret)
		ret = log_open(err);
	if (ret)
		return ret;
	/*
	 * DPDK would make a run-time directory, put nothing into it, and never remove it. Where it
	 * cannot, with --no-shconf, it goes on without.
	 */
	if (!o->telemetry)
		setenv("RUNTIME_DIRECTORY", "/dev/null", 1);
	ret = start(o, argc, argv, err);
	if (!o->telemetry)
		unsetenv("RUNTIME_DIRECTORY");
	eal.telemetry = o->telemetry && !ret;
	eal.started = !ret;
	if (eal.telemetry)
		remove_dead();
	return ret;
}

void eal_stop(void)
{
	if (!eal.started)
		return;
	eal.started = false;
	if (eal.telemetry)
		remove_directory(rte_eal_get_runtime_dir());
	rte_eal_cleanup();
}
