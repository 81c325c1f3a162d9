/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standard input, output and error as a program finds and leaves them. */
#ifndef LIB_OUT_H
#define LIB_OUT_H

#include "lib/err.h"

/*
 * Those that came closed are kept busy, so that no file or socket of the program gets their numbers
 * and what is printed. To read or write there fails as before. To be called first.
 */
void out_hold(void);

/*
 * Writes what is left of stdout. Returns 0, also where its reader has gone, as head(1) does; -EIO
 * with a sentence if something of it was lost.
 */
int out_end(struct err *err);

#endif
