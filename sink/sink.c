// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/sink.h"

#include <arpa/inet.h>
#include <errno.h>
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

/* --- scenario to responder -------------------------------------------------------------------- */

/* "A.B.C.D", with or without "/LEN" behind it. */
static int sink_dut_address(const char *text, uint32_t *out, struct err *err)
{
	char addr[INET_ADDRSTRLEN];
	size_t len = strcspn(text, "/");
	struct in_addr in;

	if (len >= sizeof(addr))
		return err_set(err, -EINVAL, "the DUT's address %.64s is no IPv4 address", text);
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, &in) != 1)
		return err_set(err, -EINVAL, "the DUT's address %.64s is no IPv4 address", text);
	*out = ntohl(in.s_addr);
	return 0;
}

/* Those of the controller, and those of the scenario. */
static int sink_dut_addresses(const struct sink *s, const struct sink_conf *conf, uint32_t *out,
			      uint32_t *nr, struct err *err)
{
	const char *own[] = {s->scenario.in[0].text, s->scenario.out[0].text};
	int ret = 0;

	*nr = 0;
	for (unsigned int i = 0; i < conf->nr_dut && !ret; i++)
		ret = sink_dut_address(conf->dut[i], &out[(*nr)++], err);
	for (unsigned int i = 0; i < 2 && !ret; i++) {
		if (own[i])
			ret = sink_dut_address(own[i], &out[(*nr)++], err);
	}
	return ret;
}

static int sink_respond(struct sink *s, const struct sink_conf *conf, struct err *err)
{
	const struct addrset **sets = calloc(s->scenario.nr_streams, sizeof(*sets));
	uint32_t *dut = calloc(conf->nr_dut + 2, sizeof(*dut)), nr_dut = 0;
	int ret = -ENOMEM;

	if (!sets || !dut) {
		err_set(err, ret, "no memory for the responder");
		goto out;
	}
	for (uint32_t i = 0; i < s->scenario.nr_streams; i++)
		sets[i] = &s->scenario.streams[i].destinations;
	ret = sink_dut_addresses(s, conf, dut, &nr_dut, err);
	if (!ret)
		ret = respond_init(&s->account.respond,
				   &(struct respond_conf){.sets = sets,
							  .nr_sets = s->scenario.nr_streams,
							  .dut = dut,
							  .nr_dut = nr_dut,
							  .seed = s->scenario.seed,
							  .answer_ratio = s->scenario.answer_ratio,
							  .delay_ms = s->scenario.delay_ms,
							  .answer_probe = s->scenario.answer_probe},
				   err);
	s->account.answers_arp = !ret;
out:
	free(sets);
	free(dut);
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
		ret = sink_respond(s, conf, err);
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
