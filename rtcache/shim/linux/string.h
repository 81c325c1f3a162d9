/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_STRING_H
#define SHIM_STRING_H

#include <string.h>

#endif
