// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/catalog.h"
#include "ctl/ctl.h"

static int catalog_is_scenario(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot && !strcmp(dot, ".yaml");
}

/* The first line of the comment at the top that says something; "" if there is none. */
static void catalog_about(const char *path, char *buf, size_t size)
{
	char line[256];
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	while (f && !buf[0] && fgets(line, sizeof(line), f) && line[0] == '#') {
		line[strcspn(line, "\n")] = '\0';
		if (line[1] == ' ' && strncmp(line + 2, "SPDX", 4) != 0)
			snprintf(buf, size, "%s", line + 2);
	}
	if (f)
		fclose(f);
}

void catalog_print(FILE *f)
{
	char dir[PATH_MAX], here[PATH_MAX], path[PATH_MAX + 300], about[256];
	struct dirent **names;
	struct err err;
	size_t skip;
	int n;

	if (ctl_find("configs", dir, &err) < 0)
		return;
	n = scandir(dir, &names, catalog_is_scenario, alphasort);
	/* Below the folder we are in the shorter name does as well. */
	skip = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	if (!skip || strncmp(dir, here, skip) != 0 || dir[skip++] != '/')
		skip = 0;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		catalog_about(path, about, sizeof(about));
		fprintf(f, "  %-32s %s\n", path + skip, about);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}
