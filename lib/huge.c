// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/huge.h"

#include <dirent.h>
#include <stdio.h>

unsigned long huge_free_mb(void)
{
	static const char root[] = "/sys/kernel/mm/hugepages";
	unsigned long kb, nr, sum = 0;
	DIR *dir = opendir(root);
	struct dirent *e;
	char path[128];
	FILE *f;

	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, "hugepages-%lukB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/%.40s/free_hugepages", root, e->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%lu", &nr) == 1)
			sum += nr * kb / 1024;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return sum;
}
