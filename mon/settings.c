// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/settings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mon/rtnl.h"

/* Files, or folders of files. A host may have hundreds of interfaces, so these are not walked. */
static const char *const settings_roots[] = {
	"net/ipv4/neigh/default",  "net/ipv6/neigh/default",
	"net/ipv4/route",	   "net/ipv6/route",
	"net/ipv4/ip_forward",	   "net/ipv6/conf/all/forwarding",
	"net/ipv4/conf/all",	   "net/ipv4/conf/default",
	"net/ipv4/icmp_ratelimit", "net/ipv4/icmp_msgs_per_sec",
	"net/ipv6/icmp",	   "net/core/netdev_max_backlog",
	"net/core/default_qdisc",
};

static const char *const settings_of_link[] = {"net/ipv4/neigh", "net/ipv6/neigh", "net/ipv4/conf"};

/* One file: its value, with what separates a list made blanks. */
static void settings_file(int fd, const char *path, json_t *out)
{
	char value[256], key[256];
	ssize_t n = read(fd, value, sizeof(value) - 1);

	if (n <= 0)
		return;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	snprintf(key, sizeof(key), "%s", path);
	for (char *c = key; *c; c++)
		*c = *c == '/' ? '.' : *c;
	for (char *c = value; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	json_object_set_new(out, key, json_string(value));
}

static void settings_take(const char *path, bool walk, json_t *out)
{
	char full[320];
	struct dirent *e;
	int fd;
	DIR *d;

	snprintf(full, sizeof(full), "/proc/sys/%s", path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	d = walk ? fdopendir(fd) : NULL;
	if (!d) {
		settings_file(fd, path, out);
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		char below[256];

		if (e->d_name[0] != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) < (int)sizeof(below))
			settings_take(below, false, out);
	}
	closedir(d);
}

json_t *settings_read(const struct rtnl_link *links, unsigned nr)
{
	json_t *out = json_object();

	for (unsigned i = 0; out && i < sizeof(settings_roots) / sizeof(*settings_roots); i++)
		settings_take(settings_roots[i], true, out);
	for (unsigned i = 0; out && i < nr; i++) {
		for (unsigned k = 0; k < 3; k++) {
			char path[96];

			snprintf(path, sizeof(path), "%s/%s", settings_of_link[k], links[i].name);
			settings_take(path, true, out);
		}
	}
	return out;
}
