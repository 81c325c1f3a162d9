// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include "lib/err.h"
#include "mon/rtnl.h"
#include "mon/sysctl.h"

/* Atomic: a crash leaves the old file or the new one. */
static int undo_save(const struct undo *u, struct err *err)
{
	char tmp[sizeof(u->path) + 8];
	int fd, ret = 0;

	if (!u->path[0])
		return 0;
	snprintf(tmp, sizeof(tmp), "%s.tmp", u->path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(err, -errno,
			       "cannot write %s: %s; name a writable file with --state", tmp,
			       strerror(errno));
	if (json_dumpfd(u->log, fd, JSON_INDENT(1)) || fsync(fd) || rename(tmp, u->path))
		ret = err_set(err, errno ? -errno : -EIO,
			      "cannot write %s; name a writable file with --state", u->path);
	close(fd);
	return ret;
}

static int undo_note(struct undo *u, json_t *change, struct err *err)
{
	if (json_array_append_new(u->log, change))
		return err_set(err, -ENOMEM, "no memory to remember a change of this host");
	return undo_save(u, err);
}

int undo_sysctl(struct undo *u, const char *key, const char *old, struct err *err)
{
	return undo_note(u, json_pack("{s:s,s:s}", "sysctl", key, "old", old), err);
}

int undo_address(struct undo *u, const char *ifname, int ifindex, const char *address,
		 struct err *err)
{
	return undo_note(
		u, json_pack("{s:s,s:s,s:i}", "address", address, "if", ifname, "index", ifindex),
		err);
}

int undo_route(struct undo *u, const char *prefix, const char *type, const char *via,
	       struct err *err)
{
	return undo_note(u, json_pack("{s:s,s:s,s:s*}", "route", prefix, "type", type, "via", via),
			 err);
}

int undo_forget_last(struct undo *u, struct err *err)
{
	json_array_remove(u->log, json_array_size(u->log) - 1);
	return undo_save(u, err);
}

int undo_link_up(struct undo *u, const char *ifname, int ifindex, struct err *err)
{
	return undo_note(u, json_pack("{s:s,s:i}", "down", ifname, "index", ifindex), err);
}

/* The interface may have been removed, or its index given to another one, since. */
static bool undo_same_link(const json_t *change, const char *name_key, int *index)
{
	const char *name = json_string_value(json_object_get(change, name_key));
	char now[IF_NAMESIZE];

	*index = (int)json_integer_value(json_object_get(change, "index"));
	return name && *index > 0 && if_indextoname((unsigned)*index, now) && !strcmp(now, name);
}

static int undo_one_route(const json_t *change, const char *prefix, struct rtnl *r, struct err *err)
{
	struct rtnl_route route;
	int ret =
		rtnl_route_parse(&route, prefix, json_string_value(json_object_get(change, "type")),
				 json_string_value(json_object_get(change, "via")), err);

	if (!ret)
		ret = rtnl_route_del(r, &route, err);
	/* It went with its interface, or the address of it. */
	return ret == -ESRCH ? 0 : ret;
}

static int undo_one(const json_t *change, struct rtnl *r, struct err *err)
{
	const char *route = json_string_value(json_object_get(change, "route"));
	const char *key = json_string_value(json_object_get(change, "sysctl"));
	const char *address = json_string_value(json_object_get(change, "address"));
	struct rtnl_addr a;
	int index, ret;

	if (key) {
		const char *old = json_string_value(json_object_get(change, "old"));

		/* The settings of an interface go with it. */
		ret = old ? sysctl_write(key, old, err) : -EBADMSG;
		return ret == -ENOENT ? 0 : ret;
	}
	if (route)
		return undo_one_route(change, route, r, err);
	if (address) {
		if (!undo_same_link(change, "if", &index))
			return 0;
		ret = rtnl_addr_parse(&a, address, err);
		if (!ret)
			ret = rtnl_addr_del(r, index, &a, err);
		return ret == -EADDRNOTAVAIL ? 0 : ret;
	}
	if (undo_same_link(change, "down", &index))
		return rtnl_set_up(r, index, false, err);
	return 0;
}

int undo_all(struct undo *u, struct rtnl *r, struct err *err)
{
	int ret = 0;

	for (size_t i = json_array_size(u->log); i--;) {
		int one = undo_one(json_array_get(u->log, i), r, err);

		if (one)
			ret = one;
	}
	json_array_clear(u->log);
	if (u->path[0] && unlink(u->path) && errno != ENOENT && !ret)
		ret = err_set(err, -errno, "cannot remove %s: %s", u->path, strerror(errno));
	return ret;
}

int undo_open(struct undo *u, const char *path, struct rtnl *r, struct err *err)
{
	json_error_t why;
	json_t *left;
	int nr, ret;

	memset(u, 0, sizeof(*u));
	if (path && strlen(path) >= sizeof(u->path))
		return err_set(err, -EINVAL, "the path of the state file is too long");
	if (path)
		strcpy(u->path, path);
	left = path && !access(path, F_OK) ? json_load_file(path, 0, &why) : json_array();
	if (!json_is_array(left)) {
		json_decref(left);
		return err_set(err, -EBADMSG,
			       "%s, which an earlier run left, is damaged: check the host's "
			       "settings by hand and remove the file",
			       path ? path : "the state file");
	}
	u->log = left;
	nr = (int)json_array_size(left);
	if (!nr)
		return 0;
	ret = undo_all(u, r, err);
	return ret ? ret : nr;
}

void undo_close(struct undo *u)
{
	json_decref(u->log);
	u->log = NULL;
}
