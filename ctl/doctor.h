/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

enum doctor_state { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_MISSING };

/* One line. 1 if something is missing, or else 0. */
int doctor_say(enum doctor_state state, const char *what, const char *detail);

/*
 * Whether lab netns can run here, tried out in namespaces that are gone before this returns. What it
 * lacks is a note: nothing else needs it.
 */
void doctor_netns(void);

#endif
