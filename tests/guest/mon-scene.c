// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/guest/mon-scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig rig;

void __attribute__((format(printf, 3, 4))) check(bool good, const char *name, const char *fmt, ...)
{
	va_list ap;

	printf(good ? "ok %s\n" : "not ok %s: ", name);
	if (!good) {
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		putchar('\n');
	}
	fflush(stdout);
}

void check_equal(const char *name, json_int_t got, json_int_t want)
{
	check(got == want, name, "%lld, wanted %lld", (long long)got, (long long)want);
}

void begin(json_t *configure)
{
	json_t *error = NULL, *result = rig_call(&rig, "configure", configure, &error);

	if (error)
		printf("not ok configure: %s\n", json_string_value(json_object_get(error, "text")));
	json_decref(error);
	json_decref(result);
	rig_pump(&rig, 100);
	json_decref(rig_call(&rig, "arm", NULL, NULL));
	json_decref(rig_call(&rig, "start", NULL, NULL));
	rig.udp_out = rig.icmp_in = 0;
}

json_int_t dropped(const json_t *sample)
{
	json_int_t sum = 0;
	const char *cause;
	json_t *pkts;

	json_object_foreach(json_object_get(sample, "drops_pkts"), cause, pkts) sum +=
		json_integer_value(pkts);
	return sum;
}

/* Poll until nothing moved for a second, then finish. */
json_t *settle(void)
{
	json_int_t before = -1, now, still = 0;

	for (int i = 0; i < 60 && still < 4; i++) {
		json_t *s = rig_call(&rig, "stats", NULL, NULL);

		now = dropped(s) + rig_int(s, "ip.forwarded_pkts") + (json_int_t)rig.udp_out +
		      rig_int(s, "ip.in_pkts");
		still = now == before ? still + 1 : 0;
		before = now;
		json_decref(s);
		rig_pump(&rig, 250);
	}
	return rig_call(&rig, "finish", NULL, NULL);
}

void show(const char *scene, const json_t *finish)
{
	char *text = json_dumps(json_object_get(json_object_get(finish, "final"), "drops"),
				JSON_COMPACT);

	fprintf(stderr, "%s: drops %s\n", scene, text);
	free(text);
}

json_int_t cause_pkts(const json_t *finish, const char *cause)
{
	return json_integer_value(json_object_get(
		json_object_get(json_object_get(finish, "final"), "drops_pkts"), cause));
}

json_int_t diff(const json_t *finish, const char *path)
{
	return rig_int(json_object_get(finish, "difference"), path);
}

/* What must hold in every scene once it is quiet. */
void check_identities(const char *scene, const json_t *finish, json_int_t sent)
{
	const json_t *final = json_object_get(finish, "final");
	char name[96];

	snprintf(name, sizeof(name), "%s: every packet is delivered or named", scene);
	check((json_int_t)rig.udp_out + dropped(final) == sent, name,
	      "%lld sent, %llu delivered, %lld named", (long long)sent,
	      (unsigned long long)rig.udp_out, (long long)dropped(final));
	snprintf(name, sizeof(name), "%s: allocations minus destructions is the change of entries",
		 scene);
	check_equal(name, diff(finish, "neigh.ipv4.allocs") - diff(finish, "neigh.ipv4.destroys"),
		    diff(finish, "neigh.ipv4.entries"));
	snprintf(name, sizeof(name), "%s: and so for IPv6", scene);
	check_equal(name, diff(finish, "neigh.ipv6.allocs") - diff(finish, "neigh.ipv6.destroys"),
		    diff(finish, "neigh.ipv6.entries"));
	snprintf(name, sizeof(name), "%s: the histogram held every row", scene);
	check_equal(name, rig_int(final, "hist_overflow"), 0);
}
