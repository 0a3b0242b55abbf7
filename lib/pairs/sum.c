/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs/sum.h"

#include <math.h>

#include "stream/sum.h"

/* The quantile of the normal distribution for 95 %. */
#define Z 1.959964

/* Squares up to this share of those of x are what rounding leaves of 0. */
#define ALIKE 1e-10

/* What confidences take: pairs, and errors relative to the value. */
#define FEW	    30
#define MANY	    200
#define LARGE_ERROR .5
#define SMALL_ERROR .1

/* The confidence is low if more than one in so many instructions is missing. */
#define MOST_MISSING 10

void vt_pairsum_add(struct vt_pairsum *s, double x, double y)
{
	s->x += x;
	s->x2 += x * x;
	s->y += y;
	s->y2 += y * y;
	s->xy += x * y;
}

void vt_pairsum_join(struct vt_pairsum *s, const struct vt_pairsum *other)
{
	s->pairs += other->pairs;
	s->missing += other->missing;
	s->x += other->x;
	s->x2 += other->x2;
	s->y += other->y;
	s->y2 += other->y2;
	s->xy += other->xy;
	s->cycles += other->cycles;
	s->overlaps += other->overlaps;
	s->far += other->far;
	s->counted |= other->counted;
	s->partial |= other->partial;
}

bool vt_pairsum_is_valid(const struct vt_pairsum *s)
{
	double pairs = (double)s->pairs; /* at least as many as groups */

	return pairs <= VT_MOST_COUNT && (double)s->missing <= VT_MOST_COUNT &&
	       vt_is_sum(fabs(s->x)) && vt_is_sum(s->x2) && vt_is_sum(fabs(s->y)) &&
	       vt_is_sum(s->y2) && vt_is_sum(fabs(s->xy)) &&
	       vt_is_product_sum(s->x, s->x2, pairs) && vt_is_product_sum(s->y, s->y2, pairs) &&
	       vt_is_product_sum(s->xy, s->x2, s->y2);
}

static enum vt_confidence judge(const struct vt_pairsum *s, double value, double error)
{
	double relative = value != 0 ? error / fabs(value) : INFINITY;

	if (!s->pairs)
		return VT_CONFIDENCE_NONE;
	if (s->pairs < FEW || !(relative <= LARGE_ERROR) || s->partial ||
	    s->missing > (s->pairs + s->missing) / MOST_MISSING)
		return VT_CONFIDENCE_LOW;
	return s->pairs >= MANY && relative <= SMALL_ERROR ? VT_CONFIDENCE_HIGH
							   : VT_CONFIDENCE_MEDIUM;
}

/*
 * The sum over groups of (x - r y) squared; infinite if the error is unknown: one pair does not
 * tell how far pairs are from each other, nor do pairs that are all alike.  Executed code is
 * counted, so that equal groups have no error if there are enough: by Cauchy and Schwarz, there
 * are at least y^2 / y2 of them.
 */
static double sum_squares(const struct vt_pairsum *s, double r)
{
	double squares = s->x2 - 2 * r * s->xy + r * r * s->y2;

	if (s->pairs < 2 || !isfinite(squares))
		return INFINITY;
	if (squares > ALIKE * s->x2)
		return squares;
	return s->counted && s->y * s->y >= FEW * s->y2 ? 0 : INFINITY;
}

/* As of a total: as if there were so many more pairs without any slope. */
#define PRIOR 20

static double estimate_slope(const struct vt_pairsum *s)
{
	double pairs = (double)s->pairs;

	return s->y2 > 0 ? s->xy / s->y2 * pairs / (pairs + PRIOR) : 0;
}

struct vt_pairvalue vt_pairsum_value(const struct vt_pairsum *s, bool total)
{
	const struct vt_pairvalue withheld = {NAN, NAN, NAN, NAN, VT_CONFIDENCE_NONE};
	double b = estimate_slope(s), r = total ? b : s->y != 0 ? s->x / s->y : 0;
	struct vt_pairvalue v = {.value = total ? s->x - b * s->y : r,
				 .error = sqrt(sum_squares(s, r))};

	if (s->missing > s->pairs || !isfinite(v.value) || (!total && s->y == 0))
		return withheld;
	if (!total)
		v.error = s->y != 0 ? v.error / fabs(s->y) : INFINITY;
	if (isnan(v.error))
		v.error = INFINITY;
	v.low = v.value - Z * v.error;
	v.high = v.value + Z * v.error;
	v.confidence = judge(s, v.value, v.error);
	return v;
}
