/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenes of mon-scenes share: the rig, checks, and what every scene does. */
#ifndef TESTS_GUEST_MON_SCENE_H
#define TESTS_GUEST_MON_SCENE_H

#include "tests/guest/mon-rig.h"

extern struct rig rig;

/* Print "ok NAME", or "not ok NAME: what was wrong". */
void __attribute__((format(printf, 3, 4))) check(bool good, const char *name, const char *fmt, ...);
void check_equal(const char *name, json_int_t got, json_int_t want);

/* Configure (@configure is stolen), arm and start. */
void begin(json_t *configure);
/* Poll until nothing moved for a second, then finish. */
json_t *settle(void);
/* What must hold in every scene once it is quiet: 4 checks. */
void check_identities(const char *scene, const json_t *finish, json_int_t sent);

/* The rows of drops, as a note for people. */
void show(const char *scene, const json_t *finish);
json_int_t dropped(const json_t *sample); /* all causes together */
json_int_t cause_pkts(const json_t *finish, const char *cause);
json_int_t diff(const json_t *finish, const char *path);

/* mon-scenes6.c */
void scenes6(void);
void scene_many(void);

#endif
