// SPDX-License-Identifier: GPL-2.0-or-later
/* Sibling programs and scripts: where they are, and what they print. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"

int ctl_find(const char *name, char *buf, struct err *err)
{
	static const char *const places[] = {"build/", "scripts/", "", "../lib/dststorm/"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return err_set(err, -errno, "/proc is missing, or not readable: mount -t proc proc /proc");
	self[n] = '\0';
	slash = strrchr(self, '/');
	slash[1] = '\0';
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (snprintf(buf, PATH_MAX, "%s%s%s", self, places[i], name) < PATH_MAX &&
		    !access(buf, X_OK))
			return 0;
	}
	return err_set(err, -ENOENT, "%s is not beside dststorm (%s): run make", name, self);
}

/* In the child: standard output and error to the two pipes. */
static void ctl_child(char *const argv[], int out, int errors)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* a trial boot or a download must not outlive us */
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	dup2(out, 1);
	dup2(errors, 2);
	execvp(argv[0], argv);
	dprintf(2, "%s: cannot be run: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* First line of @f into @first, last line into @last; each may be NULL. */
static void ctl_lines(FILE *f, char *first, char *last, size_t size)
{
	char line[PATH_MAX];
	int n = 0;

	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (first && !n++)
			snprintf(first, size, "%s", line);
		if (last && line[0])
			snprintf(last, size, "%s", line);
	}
	fclose(f);
}

int ctl_capture(char *const argv[], char *out, size_t size, struct err *err)
{
	char path[] = "/tmp/dststorm-err-XXXXXX", words[300] = "";
	int pipes[2], status, errors = mkostemp(path, O_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	if (errors < 0 || pipe2(pipes, O_CLOEXEC) < 0)
		return err_set(err, -errno, "%s cannot be run: %s", argv[0], strerror(errno));
	unlink(path);
	pid = fork();
	if (!pid)
		ctl_child(argv, pipes[1], errors);
	close(pipes[1]);
	ctl_lines(fdopen(pipes[0], "r"), out, NULL, size);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = -1;
	lseek(errors, 0, SEEK_SET);
	ctl_lines(fdopen(errors, "r"), NULL, words, sizeof(words));
	if (status)
		return err_set(err, -EIO, "%s", words[0] ? words : argv[0]);
	return 0;
}
