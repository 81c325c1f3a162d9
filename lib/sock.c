// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/err.h"

static int sock_address(const char *path, struct sockaddr_un *sun, struct err *err)
{
	*sun = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!*path)
		return err_set(err, -EINVAL, "the path of a socket is missing");
	if (strlen(path) >= sizeof(sun->sun_path))
		return err_set(err, -ENAMETOOLONG, "%.60s...: a socket's path has at most %zu bytes",
			       path, sizeof(sun->sun_path) - 1);
	strcpy(sun->sun_path, path);
	return 0;
}

/* 1: somebody listens. 0: nobody does. Else negative errno. */
static int sock_probe(const struct sockaddr_un *sun)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret = 1;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) && errno != EAGAIN)
		ret = errno == ECONNREFUSED || errno == ENOENT ? 0 : -errno;
	close(fd);
	return ret;
}

int sock_make_way(const char *path, struct err *err)
{
	struct sockaddr_un sun;
	struct stat st;
	int ret = sock_address(path, &sun, err);

	if (ret)
		return ret;
	if (lstat(path, &st))
		return errno == ENOENT ? 0 :
					 err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "%s is there and is no socket: choose another path", path);
	ret = sock_probe(&sun);
	if (ret > 0)
		return err_set(err, -EADDRINUSE, "%s is in use: end the program that listens there, "
			       "or choose another path", path);
	if (ret < 0)
		return err_set(err, ret, "%s: %s", path, strerror(-ret));
	if (unlink(path) && errno != ENOENT)
		return err_set(err, -errno, "cannot remove the stale socket %s: %s", path,
			       strerror(errno));
	return 0;
}

int sock_listen(const char *path, struct err *err)
{
	struct sockaddr_un sun;
	mode_t mask;
	int fd, ret = sock_make_way(path, err);

	if (!ret)
		ret = sock_address(path, &sun, err);
	if (ret)
		return ret;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, -errno, "no socket: %s", strerror(errno));
	mask = umask(0177);
	ret = bind(fd, (struct sockaddr *)&sun, sizeof(sun)) ? -errno : 0;
	umask(mask);
	if (!ret && listen(fd, 4)) {
		ret = -errno;
		unlink(path);
	}
	if (!ret)
		return fd;
	close(fd);
	return err_set(err, ret, "cannot listen on %s: %s", path, strerror(-ret));
}
