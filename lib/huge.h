/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_HUGE_H
#define LIB_HUGE_H

/* Megabytes in free hugepages of all sizes. */
unsigned long huge_free_mb(void);

#endif
