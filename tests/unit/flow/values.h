/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FLOW_VALUES_H
#define TESTS_UNIT_FLOW_VALUES_H

#include "flow/value.h"

/* Whether a value is nothing but this number. */
static inline bool is_number(const struct vti_value *v, uint64_t n)
{
	return !v->entry && v->lo == n && v->hi == n;
}

#endif
