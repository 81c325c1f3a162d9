// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/source.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/err.h"
#include "sink/sink.h"
#include "sink/source_live.h"
#include "sink/source_port.h"

/* One of the two is there. */
struct source {
	struct source_port *port;
	struct source_live *live;
};

int source_open(struct source **out, const struct source_conf *conf, struct err *err)
{
	struct source *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, -ENOMEM, "no memory");
	if (conf->kind == SOURCE_LIVE)
		ret = source_live_open(&s->live, conf->interface, conf->buffer_mb, err);
	else
		ret = source_port_open(&s->port, conf, err);
	if (ret)
		free(s);
	else
		*out = s;
	return ret;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	source_live_close(s->live);
	source_port_close(s->port);
	free(s);
}

bool source_ready(const struct source *s)
{
	return s->live ? source_live_ready(s->live) : source_port_ready(s->port);
}

void source_waits_for(const struct source *s, char *buf, size_t size)
{
	if (s->live)
		source_live_waits_for(s->live, buf, size);
	else
		source_port_waits_for(s->port, buf, size);
}

int source_start(struct source *s, struct sink *sink, pthread_mutex_t *lock, struct err *err)
{
	if (s->live)
		return source_live_start(s->live, sink, lock, err);
	return source_port_start(s->port, sink, lock, err);
}

void source_stop(struct source *s)
{
	source_live_stop(s->live);
	source_port_stop(s->port);
}

int source_failure(const struct source *s, struct err *err)
{
	return s->live ? source_live_failure(s->live, err) : source_port_failure(s->port, err);
}
