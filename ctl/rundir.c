// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/rundir.h"

#define RUNDIR_BASE "/tmp"
#define RUNDIR_MAX_PIDS 16

/* The folder holds sockets and files, no folders. */
static void rundir_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	struct stat st;
	DIR *d;

	/* Anybody may put something of that name there: only what is our own is emptied. */
	d = fd < 0 || fstat(fd, &st) || st.st_uid != getuid() ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(path);
}

/* "dststorm-<uid>-<pid>" of ours whose process is gone. */
static void rundir_sweep(void)
{
	char prefix[40], path[300];
	DIR *d = opendir(RUNDIR_BASE);
	struct dirent *e;
	struct stat st;

	if (!d)
		return;
	snprintf(prefix, sizeof(prefix), "dststorm-%u-", getuid());
	while ((e = readdir(d))) {
		long pid;

		if (strncmp(e->d_name, prefix, strlen(prefix)))
			continue;
		pid = strtol(e->d_name + strlen(prefix), NULL, 10);
		snprintf(path, sizeof(path), RUNDIR_BASE "/%s", e->d_name);
		if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH && !lstat(path, &st) &&
		    S_ISDIR(st.st_mode) && st.st_uid == getuid())
			rundir_remove(path);
	}
	closedir(d);
}

/* Signal all, wait for all, up to @ms; pidfds cannot mean another process. */
static void janitor_end(int *fds, unsigned int n, int sig, int ms)
{
	for (unsigned int i = 0; i < n; i++)
		syscall(SYS_pidfd_send_signal, fds[i], sig, NULL, 0);
	for (unsigned int i = 0; i < n; i++) {
		struct pollfd p = {.fd = fds[i], .events = POLLIN};

		while (ms > 0 && poll(&p, 1, 50) == 0)
			ms -= 50;
	}
}

static void janitor(int pipe, const char *path)
{
	int fds[RUNDIR_MAX_PIDS];
	unsigned int n = 0;
	pid_t pid;

	setsid();
	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGCHLD)
			signal(sig, SIG_IGN);
	for (int fd = 0; fd < 256; fd++)
		if (fd != pipe)
			close(fd);
	while (read(pipe, &pid, sizeof(pid)) == sizeof(pid)) {
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		if (fd >= 0 && n < RUNDIR_MAX_PIDS)
			fds[n++] = fd;
	}
	janitor_end(fds, n, SIGTERM, 1500);
	janitor_end(fds, n, SIGKILL, 500);
	rundir_remove(path);
	_exit(0);
}

int rundir_open(struct rundir *r, struct err *err)
{
	int fds[2];

	rundir_sweep();
	snprintf(r->path, sizeof(r->path), RUNDIR_BASE "/dststorm-%u-%d", getuid(), getpid());
	rundir_remove(r->path);
	if (mkdir(r->path, 0700) < 0)
		return err_set(err, -errno, "%s: cannot be made: %s; sockets need a place there",
			       r->path, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "no pipe: %s", strerror(errno));
	fflush(NULL);
	r->janitor_pid = fork();
	if (r->janitor_pid < 0)
		return err_set(err, -errno, "cannot fork: %s", strerror(errno));
	if (!r->janitor_pid) {
		close(fds[1]);
		janitor(fds[0], r->path);
	}
	close(fds[0]);
	r->janitor = fds[1];
	return 0;
}

void rundir_guard(struct rundir *r, pid_t pid)
{
	/* A pipe takes four bytes whole; a janitor that is gone is no reason to stop. */
	if (write(r->janitor, &pid, sizeof(pid)) != sizeof(pid))
		return;
}

void rundir_close(struct rundir *r)
{
	rundir_remove(r->path);
	close(r->janitor);
	waitpid(r->janitor_pid, NULL, 0);
}
