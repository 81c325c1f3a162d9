// SPDX-License-Identifier: GPL-2.0-or-later
/* dststorm-sink: the command line, and the only place that prints and exits. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "lib/err.h"
#include "lib/out.h"
#include "lib/probe.h"
#include "lib/scenario.h"
#include "sink/agent.h"
#include "sink/options.h"
#include "sink/sink.h"
#include "sink/source.h"
#include "sink/source_pcap.h"
#include "sink/stats.h"

const char *argp_program_version = "dststorm-sink " DSTSTORM_VERSION " (" DSTSTORM_GIT_ID ")";

/* One line, whatever the sentence quotes. */
static int fail(int code, const struct err *err)
{
	fprintf(stderr, "dststorm-sink: %s\n", err->text);
	return code;
}

static int configure(struct sink *s, const struct options *o, struct err *err)
{
	int ret = 0;

	if (o->files.hist_dir)
		ret = stats_check_dir(o->files.hist_dir, err);
	if (ret)
		return ret;
	return sink_configure(s,
			      &(struct sink_conf){.path = o->scenario,
						  .sets = o->sets,
						  .nr_sets = o->nr_sets,
						  .allow = o->allow,
						  .nr_allow = o->nr_allow,
						  .nr_shards = o->nr_shards,
						  .answers_arp = o->source != SOURCE_PCAP &&
								 !o->passive,
						  .write = o->files.write},
			      err);
}

/* At rate max without a count as much goes as the port takes, which a capture does not tell. */
static bool has_end(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_streams; i++)
		if (s->streams[i].count > PROBE_SEQ_MAX)
			return false;
	return true;
}

/* What the generator sent, when no controller tells: everything, or what --sent says. */
static int tell_sent(struct sink *s, const struct options *o, struct err *err)
{
	if (o->sent_given)
		return track_sent(&s->account.track, 0, 0, &o->sent_pkts, 1, err);
	if (o->source == SOURCE_PCAP && has_end(&s->scenario))
		track_sent_all(&s->account.track);
	return 0;
}

/* Judge and write; @state says how it ended. The statistics go to stdout unless --json has them. */
static int results(struct sink *s, const struct options *o, const char *state, struct err *err)
{
	struct sink_files files = o->files;
	json_t *stats;
	int ret;

	sink_finish(s);
	if (!files.json)
		files.json = "-";
	stats = stats_json(s, state, sink_now_ns());
	ret = sink_write(s, &files, stats, err);
	json_decref(stats);
	return ret;
}

/* --- a file ----------------------------------------------------------------------------------- */

static void on_signal(int number)
{
	(void)number;
	source_pcap_stop();
}

/* Without SA_RESTART a read from a pipe ends, too. */
static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int run_pcap(const struct options *o, struct err *err)
{
	struct source_pcap_result read;
	struct sink s = {0};
	struct err late;
	int code = EXIT_OK, ret;

	if (configure(&s, o, err))
		return EXIT_USAGE;
	catch_signals();
	ret = tell_sent(&s, o, err);
	if (!ret)
		ret = source_pcap_run(&s.account, o->where, o->align, &read, err);
	else
		read.opened = false;
	if (ret)
		code = read.opened ? EXIT_RIG : EXIT_USAGE;
	if (!ret && s.account.track.failed) {
		err_set(err, -ENOMEM, "no memory for so many destinations or flows");
		code = EXIT_RIG;
	}
	/* What was read before the file broke off is still told. */
	if ((!ret || read.opened) && results(&s, o, code ? "failed" : "done", &late) && !code) {
		*err = late;
		code = EXIT_RIG;
	}
	sink_free(&s);
	return code;
}

/* --- a port or an interface ------------------------------------------------------------------- */

/* By hand, without a controller: until a signal, or until the source fails. */
static int run_alone(const struct options *o, struct source *source, const sigset_t *end,
		     struct err *err)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sink s = {0};
	int code = EXIT_RIG, number, failed;
	struct err late;

	if (configure(&s, o, err))
		return EXIT_USAGE;
	account_start_storms(&s.account, sink_now_ns());
	if (!source_start(source, &s, &lock, err)) {
		sigwait(end, &number);
		source_stop(source);
		failed = source_failure(source, err);
		if (!failed)
			failed = tell_sent(&s, o, err);
		if (!results(&s, o, failed ? "failed" : "done", failed ? &late : err) && !failed)
			code = EXIT_OK;
	}
	sink_free(&s);
	return code;
}

static int run_source(const struct options *o, struct err *err)
{
	struct source *source;
	sigset_t end;
	int code, ret;

	/* Before DPDK starts threads, so that none of them takes the signals. */
	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	signal(SIGPIPE, SIG_IGN);
	ret = source_open(&source,
			  &(struct source_conf){.kind = o->source,
						.port = &o->port,
						.interface = o->where,
						.huge = o->huge,
						.telemetry = o->telemetry,
						.memory_mb = o->memory_mb,
						.buffer_mb = o->buffer_mb},
			  err);
	if (ret)
		return ret == -EINVAL ? EXIT_USAGE : EXIT_RIG;
	if (o->control)
		code = agent_run(&(struct agent_conf){.path = o->control,
						      .version = DSTSTORM_VERSION,
						      .source = source,
						      .files = o->files,
						      .passive = o->passive,
						      .end = &end},
				 err)
			       ? EXIT_RIG
			       : EXIT_OK;
	else
		code = run_alone(o, source, &end, err);
	source_close(source);
	return code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct err err = {.text = ""};
	int code;

	out_hold();
	scenario_pcap = capture_destinations;
	if (options_parse(&o, argc, argv, &err))
		return fail(EXIT_USAGE, &err);
	code = o.source == SOURCE_PCAP ? run_pcap(&o, &err) : run_source(&o, &err);
	options_free(&o);
	return code ? fail(code, &err) : EXIT_OK;
}
