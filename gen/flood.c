// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/flood.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "dpdk/telemetry.h"
#include "gen/stats.h"

enum {
	FLOOD_TICK_US = 50 * 1000,
	FLOOD_TICK_TRACE_US = 10 * 1000, /* well within what the rings hold */
	FLOOD_TICK_RX_US = 1000,
	FLOOD_CHECK_NS = 100 * 1000 * 1000,
	FLOOD_SILENCE_NS = 1000 * 1000 * 1000, /* how long a port may refuse all there is */
	FLOOD_SEEN_PKTS = 16384, /* counted between two looks at the clock */
};

/* Why, if DPDK has said something. */
static const char *last_words(void)
{
	const char *said = eal_last_words();

	return said[0] ? said : "is somebody there to receive them?";
}

static const char *const names[] = { "idle", "configured", "armed", "running", "done", "failed" };

const char *flood_state_name(enum flood_state state)
{
	return names[state];
}

uint64_t flood_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* --- what the ports say ------------------------------------------------------------------------ */

static uint64_t lane_bytes(const struct flood *f, uint32_t lane)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < f->plan.nr_streams; i++)
		bytes += templates_bytes(&f->plan.streams[i].templates,
					 lanes_get(&lanes_counters(&f->lanes, i, lane)->sent_pkts), lane,
					 f->lanes.nr);
	return bytes;
}

static int check_port(struct flood *f, uint32_t port, uint64_t now)
{
	uint64_t sent = 0, refused = 0, bytes = 0;

	for (uint32_t lane = port; lane < f->lanes.nr; lane += f->ports.nr) {
		uint64_t no;

		sent += lanes_sent(&f->lanes, lane, &no);
		refused += no;
		bytes += lane_bytes(f, lane);
	}
	/* It is offered packets, and takes none. */
	if (!sent && refused && !f->silent_ns[port])
		f->silent_ns[port] = now;
	if (!sent && refused && now > f->silent_ns[port] + FLOOD_SILENCE_NS)
		return err_set(&f->err, -EIO, "port %s has taken no packet for 1 s: %s",
			       f->ports.name[port].text, last_words());
	return port_check(&f->ports.port[port], sent, bytes, &f->err);
}

static int check_ports(struct flood *f)
{
	uint64_t now = flood_clock_ns();
	int ret = 0;

	for (uint32_t i = 0; i < f->ports.nr && !ret; i++)
		ret = check_port(f, i, now);
	return ret;
}

/* --- destinations of random orders ------------------------------------------------------------ */

static int seen_open(struct flood *f, struct err *err)
{
	int ret = 0;

	f->seen = calloc(f->plan.nr_streams, sizeof(*f->seen));
	if (!f->seen)
		return err_set(err, -ENOMEM, "no memory for statistics");
	for (uint32_t i = 0; i < f->plan.nr_streams && !ret; i++)
		ret = seen_init(&f->seen[i], &f->plan.streams[i].sched, f->plan.scenario.lanes, err);
	return ret;
}

static void seen_close(struct flood *f)
{
	for (uint32_t i = 0; f->seen && i < f->plan.nr_streams; i++)
		seen_free(&f->seen[i]);
	free(f->seen);
	f->seen = NULL;
}

/* Count until @until_ns, or until all is counted. */
static void seen_follow(struct flood *f, uint64_t until_ns)
{
	uint64_t sent[64], done;

	do {
		done = 0;
		for (uint32_t i = 0; i < f->plan.nr_streams; i++) {
			for (uint32_t lane = 0; lane < f->lanes.nr; lane++)
				sent[lane] = lanes_get(&lanes_counters(&f->lanes, i, lane)->sent_pkts);
			done += seen_advance(&f->seen[i], sent, FLOOD_SEEN_PKTS);
		}
	} while (done && flood_clock_ns() < until_ns);
}

/* --- life ------------------------------------------------------------------------------------- */

/* The lanes have ended, or are told to. What the port says last decides how it ended. */
static void flood_end(struct flood *f, bool port_failed)
{
	lanes_stop(&f->lanes);
	event_del(f->done);
	if (lanes_join(&f->lanes, &f->err) ||
	    (!port_failed && check_ports(f)))
		port_failed = true;
	f->state = port_failed ? FLOOD_FAILED : FLOOD_DONE;
}

static void flood_on_done(evutil_socket_t fd, short what, void *arg)
{
	struct flood *f = arg;

	(void)fd;
	(void)what;
	flood_end(f, false);
	f->ended(f, f->arg);
}

static void flood_on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct flood *f = arg;
	uint64_t now = flood_clock_ns();

	(void)fd;
	(void)what;
	if (ports_receive(&f->ports))
		answer_poll(&f->answer, f->state == FLOOD_RUNNING);
	trace_drain(&f->trace);
	if (f->state == FLOOD_RUNNING)
		seen_follow(f, now + f->tick_ns / 2);
	if (now < f->next_check_ns)
		return;
	f->next_check_ns = now + FLOOD_CHECK_NS;
	if (f->eal.telemetry)
		telemetry_tell(flood_stats(f));
	if (f->state != FLOOD_RUNNING)
		return;
	if (!check_ports(f))
		return;
	flood_end(f, true);
	f->ended(f, f->arg);
}

int flood_init(struct flood *f, struct err *err)
{
	f->tick = event_new(f->base, -1, EV_PERSIST, flood_on_tick, f);
	if (!f->tick)
		return err_set(err, -ENOMEM, "no memory for events");
	return 0;
}

/* What a port cannot do, told before it is made. */
static int check_request(const struct flood *f, const struct port_name *port, struct err *err)
{
	bool paced = plan_has_rate(&f->plan);

	if (port_is(port, "pcap:") && f->plan.scenario.lanes > f->ports.nr)
		return err_set(err, -EINVAL, "%s has one queue, and each lane needs one: use --lanes %"
			       PRIu32, port->text, f->ports.nr);
	if (!paced && port_is(port, "vhost:"))
		return err_set(err, -EINVAL, "rate max on %s would measure the host, not the guest: give "
			       "a rate", port->text);
	return 0;
}

int flood_configure(struct flood *f, const struct plan_request *r, struct err *err)
{
	int ret = plan_make(&f->plan, r, err);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < f->ports.nr && !ret; i++)
		ret = check_request(f, &f->ports.name[i], err);
	if (!ret && !plan_has_rate(&f->plan) && f->trace_path)
		ret = err_set(err, -EINVAL, "--trace-bursts needs a rate: rate max reads no clock");
	if (!ret && f->plan.scenario.lanes < f->ports.nr)
		ret = err_set(err, -EINVAL, "%" PRIu32 " ports need as many lanes: use --lanes %" PRIu32,
			      f->ports.nr, f->ports.nr);
	if (ret) {
		plan_free(&f->plan);
		return ret;
	}
	f->answer = (struct answer){ .ports = &f->ports, .plan = &f->plan };
	f->state = FLOOD_CONFIGURED;
	return 0;
}

static int open_all(struct flood *f, struct err *err)
{
	uint32_t nr_lanes = f->plan.scenario.lanes;
	int ret = f->trace_path ? trace_open(&f->trace, f->trace_path, err) : 0;

	f->eal.name = "dststorm-gen";
	if (!ret)
		ret = seen_open(f, err);
	if (!ret)
		ret = ports_open(&f->ports, nr_lanes, f->plan.len_max, f->plan.tagged, &f->eal, err);
	if (!ret && f->eal.telemetry)
		ret = telemetry_open("/dststorm/gen/stats", "What the generator counts", err);
	if (!ret && f->trace.file)
		ret = trace_start(&f->trace, nr_lanes, err);
	return ret;
}

int flood_arm(struct flood *f, struct err *err)
{
	struct timeval tick = { .tv_usec = FLOOD_TICK_US };
	int ret = open_all(f, err);

	if (ret) {
		f->state = FLOOD_FAILED;
		f->err = *err;
		return ret;
	}
	if (f->trace.file)
		tick.tv_usec = FLOOD_TICK_TRACE_US;
	if (ports_receive(&f->ports))
		tick.tv_usec = FLOOD_TICK_RX_US;
	f->tick_ns = (uint64_t)tick.tv_usec * 1000;
	event_add(f->tick, &tick);
	f->state = FLOOD_ARMED;
	return 0;
}

bool flood_ready(struct flood *f)
{
	return f->state == FLOOD_ARMED && ports_ready(&f->ports);
}

int flood_start(struct flood *f, uint64_t t0_ns, struct err *err)
{
	int ret;

	eal_last_words(); /* nothing that was said before can be why packets are refused */
	ret = lanes_start(&f->lanes, &f->plan, &f->ports, f->trace.file ? &f->trace : NULL, t0_ns,
			      err);

	if (ret)
		return ret;
	f->done = event_new(f->base, f->lanes.done_fd, EV_READ, flood_on_done, f);
	if (!f->done) {
		lanes_stop(&f->lanes);
		lanes_join(&f->lanes, NULL);
		return err_set(err, -ENOMEM, "no memory for events");
	}
	event_add(f->done, NULL);
	f->state = FLOOD_RUNNING;
	return 0;
}

void flood_stop(struct flood *f)
{
	if (f->state == FLOOD_RUNNING)
		flood_end(f, false);
}

int flood_free(struct flood *f, struct err *err)
{
	int ret;

	flood_stop(f);
	if (f->done)
		event_free(f->done);
	if (f->tick)
		event_free(f->tick);
	ret = trace_close(&f->trace, err);
	lanes_free(&f->lanes);
	telemetry_tell(NULL);
	seen_close(f);
	ports_close(&f->ports);
	eal_stop();
	plan_free(&f->plan);
	f->done = f->tick = NULL;
	f->state = FLOOD_IDLE;
	return ret;
}

json_t *flood_stats(struct flood *f)
{
	struct stats_source s = { .state = names[f->state], .t_ns = flood_clock_ns(),
				  .plan = &f->plan, .lanes = &f->lanes, .answer = &f->answer,
				  .seen = f->seen };

	if (f->lanes.nr)
		seen_follow(f, f->state == FLOOD_RUNNING ? s.t_ns + f->tick_ns / 2 : UINT64_MAX);
	return stats_json(&s);
}
