// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges a trace of bursts ("t_ns,lane,packets") by itself:
 *
 *	gen-window FILE RATE BURST
 *
 * No window of 1 ms may hold more than RATE / 1000 + BURST packets, all lanes together, and the rate
 * from the first to the last burst must be within 0.5 % of RATE. Prints what it found; exit 1 if
 * that breaks a promise, 2 for a file that is no trace.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct burst {
	uint64_t t, n;
};

static int by_time(const void *a, const void *b)
{
	uint64_t s = ((const struct burst *)a)->t, t = ((const struct burst *)b)->t;

	return (s > t) - (s < t);
}

static struct burst *load(const char *path, size_t *nr)
{
	FILE *file = fopen(path, "r");
	struct burst *all = NULL;
	char line[128];
	size_t room = 0;

	if (!file || !fgets(line, sizeof(line), file) || strcmp(line, "t_ns,lane,packets\n"))
		exit(2);
	while (fgets(line, sizeof(line), file)) {
		if (*nr == room) {
			room = room ? 2 * room : 4096;
			all = realloc(all, room * sizeof(*all));
		}
		if (!all || sscanf(line, "%" SCNu64 ",%*u,%" SCNu64, &all[*nr].t, &all[*nr].n) != 2)
			exit(2);
		++*nr;
	}
	fclose(file);
	if (*nr < 2)
		exit(2);
	qsort(all, *nr, sizeof(*all), by_time);
	return all;
}

int main(int argc, char **argv)
{
	uint64_t in_window = 0, most = 0, sum = 0, rate, burst;
	size_t nr = 0, old = 0;
	struct burst *all;
	double achieved;

	if (argc != 4)
		return 2;
	rate = strtoull(argv[2], NULL, 10);
	burst = strtoull(argv[3], NULL, 10);
	all = load(argv[1], &nr);
	for (size_t i = 0; i < nr; i++) {
		in_window += all[i].n;
		sum += all[i].n;
		while (all[i].t - all[old].t >= 1000000)
			in_window -= all[old++].n;
		if (in_window > most)
			most = in_window;
	}
	/* The first burst is at the beginning of the span, so its packets are not in it. */
	achieved = (double)(sum - all[0].n) * 1e9 / (double)(all[nr - 1].t - all[0].t);
	printf("packets %" PRIu64 " bursts %zu rate %.1f of %" PRIu64 " most in 1 ms %" PRIu64 " of %"
	       PRIu64 "\n", sum, nr, achieved, rate, most, rate / 1000 + burst);
	free(all);
	return most > rate / 1000 + burst || achieved < 0.995 * (double)rate ||
	       achieved > 1.005 * (double)rate;
}
