/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict: the cause with the most lost packets, in one sentence; `clean` only if nothing was
 * lost. Pure.
 */
#ifndef CTL_VERDICT_H
#define CTL_VERDICT_H

#include <jansson.h>

/*
 * Set "valid", "verdict", "verdict_text" and "accounting" of @summary from its other members.
 * @why_invalid: the sentence of a failed run, or NULL. @dut_died: the failure was the DUT's death.
 * @drops: the rows of the monitor's statistics, or NULL: they tell the family that a cause is about,
 * and the kernel symbol behind "other".
 */
void verdict_set(json_t *summary, const char *why_invalid, int dut_died, const json_t *drops);

#endif
