/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_PLURAL_H
#define VT_BASE_PLURAL_H

#include <stdint.h>

/* The ending of an English noun after a number: "s", but not of one. */
static inline const char *vt_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
