// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "sink/dump.h"
#include "sink/stats.h"

uint64_t sink_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- scenario to schedule --------------------------------------------------------------------- */

static int sink_load(struct sink *s, const struct sink_conf *conf, struct err *err)
{
	const struct scenario_source from = {.path = conf->path,
					     .text = conf->text,
					     .overrides = conf->sets,
					     .nr_overrides = conf->nr_sets,
					     .allow = conf->allow,
					     .nr_allow = conf->nr_allow};
	int ret = scenario_load(&s->scenario, &from, err);

	s->has_scenario = !ret;
	return ret;
}

/* @scheds: nr_streams * nr_shards, stream after stream. */
static int sink_scheds(struct sink *s, uint32_t nr_shards, struct sched *scheds,
		       struct track_stream_conf *streams, struct err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->scenario.nr_streams && !ret; i++) {
		streams[i] = (struct track_stream_conf){
			.set = &s->scenario.streams[i].destinations,
			.scheds = &scheds[(size_t)i * nr_shards],
			.nr_shards = nr_shards,
			.start_ns = (uint64_t)llround(s->scenario.streams[i].start_s * 1e9),
		};
		for (uint32_t j = 0; j < nr_shards && !ret; j++)
			ret = scenario_sched(&s->scenario, i, j, nr_shards,
					     &scheds[(size_t)i * nr_shards + j], err);
	}
	return ret;
}

static int sink_track(struct sink *s, uint32_t nr_shards, struct err *err)
{
	uint32_t nr = s->scenario.nr_streams;
	struct track_stream_conf *streams = calloc(nr, sizeof(*streams));
	struct sched *scheds = calloc((size_t)nr * nr_shards, sizeof(*scheds));
	int ret;

	if (!streams || !scheds)
		ret = err_set(err, -ENOMEM, "no memory for %u streams", nr);
	else
		ret = sink_scheds(s, nr_shards, scheds, streams, err);
	if (!ret)
		ret = track_init(&s->account.track, streams, nr, TRACK_WINDOW_BITS, err);
	free(streams);
	free(scheds);
	return ret;
}

/* --- life ------------------------------------------------------------------------------------ */

static int sink_dump(struct sink *s, const char *path, struct err *err)
{
	int ret = dump_open(&s->dump, path, err);

	s->account.tap = dump_frame;
	s->account.tap_arg = s->dump;
	return ret;
}

int sink_configure(struct sink *s, const struct sink_conf *conf, struct err *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	if (!conf->path)
		ret = track_init_free(&s->account.track, TRACK_WINDOW_BITS, err);
	else
		ret = sink_load(s, conf, err);
	if (!ret && s->has_scenario)
		ret = sink_track(s, conf->nr_shards, err);
	if (!ret && s->has_scenario && conf->answers_arp)
		ret = neighbours_init(&s->neighbours, &s->account, &s->scenario, conf->dut,
				      conf->nr_dut, err);
	s->configured = true;
	if (!ret && conf->write)
		ret = sink_dump(s, conf->write, err);
	if (ret)
		sink_free(s);
	return ret;
}

void sink_free(struct sink *s)
{
	if (!s->configured)
		return;
	(void)dump_close(s->dump, NULL);
	account_free(&s->account);
	neighbours_free(&s->neighbours);
	if (s->has_scenario)
		scenario_free(&s->scenario);
	memset(s, 0, sizeof(*s));
}

void sink_finish(struct sink *s)
{
	account_flush(&s->account);
	track_finish(&s->account.track);
}

/* --- results ---------------------------------------------------------------------------------- */

int sink_write(struct sink *s, const struct sink_files *files, json_t *stats, struct err *err)
{
	struct err later;
	int ret = dump_close(s->dump, err), r;

	s->dump = NULL;
	s->account.tap = NULL;
	if (files->json) {
		r = stats_write(stats, files->json, ret ? &later : err);
		ret = ret ? ret : r;
	}
	if (files->destinations) {
		r = stats_write_destinations(s, files->destinations, ret ? &later : err);
		ret = ret ? ret : r;
	}
	if (files->hist_dir) {
		r = stats_write_hists(s, files->hist_dir, ret ? &later : err);
		ret = ret ? ret : r;
	}
	return ret;
}
