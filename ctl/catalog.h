/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scenarios that come with dststorm. */
#ifndef CTL_CATALOG_H
#define CTL_CATALOG_H

#include <stdio.h>

/* One line a scenario of configs/: its path as one may type it, and the first line of its comment. */
void catalog_print(FILE *f);

#endif
