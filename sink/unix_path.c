// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/unix_path.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/err.h"

/* 1 if somebody listens at @path. */
static int unix_path_alive(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), alive;

	if (fd < 0)
		return 1;
	strcpy(sun.sun_path, path);
	alive = !connect(fd, (struct sockaddr *)&sun, sizeof(sun)) || errno != ECONNREFUSED;
	close(fd);
	return alive;
}

int unix_path_claim(const char *path, struct err *err)
{
	struct stat st;

	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(err, -ENAMETOOLONG, "%s is too long for a socket: at most %zu bytes",
			       path, sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	if (lstat(path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "%s exists and is no socket: take another path", path);
	if (unix_path_alive(path))
		return err_set(err, -EADDRINUSE,
			       "%s is in use by another process: take another "
			       "path, or end that process",
			       path);
	if (unlink(path))
		return err_set(err, -errno, "cannot remove the stale socket %s: %s", path,
			       strerror(errno));
	return 0;
}
