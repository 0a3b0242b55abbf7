/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_PLURAL_H
#define VT_BASE_PLURAL_H

#include <stdint.h>

/* English after a number: the ending of a noun, and the verb. */
static inline const char *vt_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *vt_is_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

#endif
