// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/out.h"

void out_hold(void)
{
	/* Ascending: open() takes the lowest number that is free. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

int out_end(struct err *err)
{
	struct pollfd reader = {.fd = STDOUT_FILENO};

	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
		return 0;
	return err_set(err, -EIO,
		       "cannot write to standard output: redirect it to where there is room");
}
