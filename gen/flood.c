// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/flood.h"

#include <errno.h>
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
};

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

static uint64_t flood_sent(const struct flood *f)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < f->lanes.nr; i++)
		sent += atomic_load(&lanes_counters(&f->lanes, i)->sent_pkts);
	return sent;
}

static int flood_check_port(struct flood *f)
{
	uint64_t sent = flood_sent(f);

	return port_check(&f->port, sent, sent * TEMPLATE_LEN, &f->err);
}

/* The lanes have ended, or are told to. What the port says last decides how it ended. */
static void flood_end(struct flood *f, bool port_failed)
{
	lanes_stop(&f->lanes);
	event_del(f->done);
	if (lanes_join(&f->lanes, &f->err) ||
	    (!port_failed && flood_check_port(f)))
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
	if (f->port.nr_rx)
		answer_poll(&f->answer, f->state == FLOOD_RUNNING);
	trace_drain(&f->trace);
	if (now < f->next_check_ns)
		return;
	f->next_check_ns = now + FLOOD_CHECK_NS;
	if (f->eal.telemetry)
		telemetry_tell(flood_stats(f));
	if (f->state != FLOOD_RUNNING)
		return;
	if (!flood_check_port(f))
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

int flood_configure(struct flood *f, const struct plan_request *r, struct err *err)
{
	int ret = plan_make(&f->plan, r, err);

	if (ret)
		return ret;
	if (port_is(&f->port_name, "pcap:") && f->plan.scenario.lanes > 1)
		ret = err_set(err, -EINVAL, "%s has one queue, and each lane needs one: use --lanes 1",
			      f->port_name.text);
	else if (!f->plan.sched.rate.pps && port_is(&f->port_name, "vhost:"))
		ret = err_set(err, -EINVAL, "rate max on %s would measure the host, not the guest: give "
			      "a rate", f->port_name.text);
	else if (!f->plan.sched.rate.pps && f->trace_path)
		ret = err_set(err, -EINVAL, "--trace-bursts needs a rate: rate max reads no clock");
	if (ret) {
		plan_free(&f->plan);
		return ret;
	}
	f->answer = (struct answer){ .port = &f->port, .sources = &f->plan.stream->sources };
	f->state = FLOOD_CONFIGURED;
	return 0;
}

int flood_arm(struct flood *f, struct err *err)
{
	struct timeval tick = { .tv_usec = FLOOD_TICK_US };
	uint32_t nr_lanes = f->plan.scenario.lanes;
	struct port_conf conf = { .nr_queues = (uint16_t)nr_lanes, .rx = true, .tx = true,
				  .frame_max = TEMPLATE_LEN };
	int ret = f->trace_path ? trace_open(&f->trace, f->trace_path, err) : 0;

	f->eal.name = "dststorm-gen";
	if (!f->eal.memory_mb)
		f->eal.memory_mb = PORT_MEMORY_BASE_MB + port_memory_mb(&f->port_name, &conf);
	if (!ret)
		ret = port_prepare(&f->port_name, &f->eal, err);
	if (!ret)
		ret = eal_start(&f->eal, err);
	if (!ret && f->eal.telemetry)
		ret = telemetry_open("/dststorm/gen/stats", "What the generator counts", err);
	if (!ret)
		ret = port_open(&f->port, &f->port_name, &conf, err);
	if (!ret)
		ret = answer_open(&f->answer, err);
	if (!ret && f->trace.file)
		ret = trace_start(&f->trace, nr_lanes, err);
	if (ret) {
		f->state = FLOOD_FAILED;
		f->err = *err;
		return ret;
	}
	if (f->trace.file)
		tick.tv_usec = FLOOD_TICK_TRACE_US;
	if (f->port.nr_rx)
		tick.tv_usec = FLOOD_TICK_RX_US;
	event_add(f->tick, &tick);
	f->state = FLOOD_ARMED;
	return 0;
}

bool flood_ready(struct flood *f)
{
	return f->state == FLOOD_ARMED && port_ready(&f->port);
}

int flood_start(struct flood *f, uint64_t t0_ns, struct err *err)
{
	int ret = lanes_start(&f->lanes, &f->plan, &f->port, f->answer.replies,
			      f->trace.file ? &f->trace : NULL, t0_ns, err);

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
	answer_close(&f->answer);
	port_close(&f->port);
	telemetry_tell(NULL);
	eal_stop();
	plan_free(&f->plan);
	f->done = f->tick = NULL;
	f->state = FLOOD_IDLE;
	return ret;
}

json_t *flood_stats(const struct flood *f)
{
	struct stats_source s = { .state = names[f->state], .t_ns = flood_clock_ns(),
				  .plan = &f->plan, .lanes = &f->lanes, .answer = &f->answer };

	return stats_json(&s);
}
