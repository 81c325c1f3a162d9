// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/telemetry.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "lib/err.h"

enum { TELEMETRY_NAME = 64 };

static struct {
	pthread_mutex_t lock; /* of stats, held to replace it and to take a reference */
	json_t *stats;
} telemetry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * DPDK has no numbers with a fraction and its nesting is shallow: an object in an object, and an
 * item of an array, become "outer/inner"; what is no whole number becomes text.
 */
struct flat {
	struct rte_tel_data *data;
	unsigned int nr, left_out;
};

static void flat_value(struct flat *f, const char *name, const json_t *value)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	if (f->nr >= RTE_TEL_MAX_DICT_ENTRIES - 1) {
		f->left_out++;
		return;
	}
	f->nr++;
	if (json_is_integer(value)) {
		rte_tel_data_add_dict_u64(f->data, name, (uint64_t)json_integer_value(value));
		return;
	}
	if (json_is_string(value))
		snprintf(text, sizeof(text), "%s", json_string_value(value));
	else if (json_is_real(value))
		snprintf(text, sizeof(text), "%.17g", json_real_value(value));
	else
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" :
			 json_is_false(value) ? "false" : "null");
	rte_tel_data_add_dict_string(f->data, name, text);
}

/* DPDK takes letters, digits, _ and / only. */
static void flat_name(char out[TELEMETRY_NAME], const char *prefix, const char *name)
{
	snprintf(out, TELEMETRY_NAME, "%s%s%s", prefix, *prefix ? "/" : "", name);
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '/')
			*c = '_';
}

/* Statistics are a few levels deep; deeper ones are told as null. */
static void flat_add(struct flat *f, const char *prefix, const json_t *value, int depth)
{
	char name[TELEMETRY_NAME], index[24];
	const char *key;
	json_t *inner;
	size_t i;

	if (json_is_object(value) && depth) {
		json_object_foreach((json_t *)value, key, inner) {
			flat_name(name, prefix, key);
			flat_add(f, name, inner, depth - 1);
		}
	} else if (json_is_array(value) && depth) {
		json_array_foreach(value, i, inner) {
			snprintf(index, sizeof(index), "%zu", i);
			flat_name(name, prefix, index);
			flat_add(f, name, inner, depth - 1);
		}
	} else {
		flat_value(f, prefix, value);
	}
}

/* Called by DPDK's thread. */
static int telemetry_answer(const char *command, const char *params, struct rte_tel_data *data)
{
	struct flat f = { .data = data };
	json_t *stats;

	(void)command;
	(void)params;
	pthread_mutex_lock(&telemetry.lock);
	stats = json_incref(telemetry.stats);
	pthread_mutex_unlock(&telemetry.lock);
	rte_tel_data_start_dict(data);
	if (stats)
		flat_add(&f, "", stats, 6);
	if (f.left_out)
		rte_tel_data_add_dict_u64(data, "left_out", f.left_out);
	json_decref(stats);
	return 0;
}

int telemetry_open(const char *command, const char *help, struct err *err)
{
	int ret = rte_telemetry_register_cmd(command, telemetry_answer, help);

	return ret ? err_set(err, ret, "DPDK takes no telemetry %s: %s", command, strerror(-ret)) : 0;
}

void telemetry_tell(json_t *stats)
{
	json_t *old;

	pthread_mutex_lock(&telemetry.lock);
	old = telemetry.stats;
	telemetry.stats = stats;
	pthread_mutex_unlock(&telemetry.lock);
	json_decref(old);
}
