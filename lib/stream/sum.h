/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_SUM_H
#define VT_STREAM_SUM_H

#include <stdbool.h>

/* Records hold no larger sums: those of many of these stay finite, and so do their squares. */
#define VT_MOST_SUM 1e140

/* The most that is counted in a double: above, one more is no other number. */
#define VT_MOST_COUNT 9007199254740992.0

/* Whether a record may hold it as a sum of what is not negative. */
static inline bool vt_is_sum(double v)
{
	return v >= 0 && v <= VT_MOST_SUM;
}

/*
 * Whether `product` can be the sum of products of numbers whose squares add up to a and b: Cauchy
 * and Schwarz, but for what rounding adds.  All are below VT_MOST_SUM.
 */
static inline bool vt_is_product_sum(double product, double a, double b)
{
	return product * product <= a * b * (1 + 1e-6);
}

#endif
