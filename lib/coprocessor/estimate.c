/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "coprocessor/host.h"

#define MOST_ROUNDS 100
#define CLOSE	    1e-6 /* of the samples: shares that change less are found */

/* The samples of a value in which neither its hits nor misses were counted: the same for each. */
static double share_rest(const struct vt_host_site *s)
{
	double told = 0, rest;
	size_t i;

	for (i = 0; i < s->nvalues; i++)
		told += s->values[i].hits + s->values[i].misses;
	rest = fmax(s->weighted - told, 0);
	return fmin(rest / (double)s->nvalues, VT_HOST_MOST_REST * rest);
}

/* ---- A.6 ---- */

/* What each hit gets of the misses of a value: they go to the hits of the others. */
static double for_each_hit(const struct vt_host_value *v, double hits)
{
	double others = hits - v->hits;

	return others > 0 ? v->misses / others : 0;
}

static void estimate_by_hits(struct vt_host_site *s, double rest)
{
	double hits = 0, all = 0;
	size_t i;

	for (i = 0; i < s->nvalues; i++)
		hits += s->values[i].hits;
	for (i = 0; i < s->nvalues; i++)
		all += for_each_hit(&s->values[i], hits);
	for (i = 0; i < s->nvalues; i++) {
		struct vt_host_value *v = &s->values[i];

		v->estimate = v->hits + rest + v->hits * (all - for_each_hit(v, hits));
	}
}

/* ---- the likeliest shares ---- */

/* First, all values and what is none of them have the same. */
static void begin_shares(struct vt_host_site *s)
{
	size_t i;

	for (i = 0; i < s->nvalues; i++)
		s->values[i].estimate = s->weighted / (double)(s->nvalues + 1);
}

/* The misses of a value, by the share of all other values. */
static double misses_of_others(const struct vt_host_value *v, double total)
{
	return v->misses > 0 ? v->misses / (1 - v->estimate / total) : 0;
}

/* Divides misses by the shares of the round before.  Returns the largest change of a share. */
static double refine_shares(struct vt_host_site *s, double rest)
{
	double total = s->weighted, all = 0, change = 0;
	size_t i;

	for (i = 0; i < s->nvalues; i++)
		all += misses_of_others(&s->values[i], total);
	for (i = 0; i < s->nvalues; i++) {
		struct vt_host_value *v = &s->values[i];
		double others = all - misses_of_others(v, total), was = v->estimate;

		v->estimate = v->hits + rest + was / total * others;
		change = fmax(change, fabs(v->estimate - was) / total);
	}
	return change;
}

void vt_host_estimate(struct vt_host_site *s, bool by_hits)
{
	double rest;
	unsigned round;
	size_t i;

	assert(s->nvalues && s->weighted > 0);
	rest = share_rest(s);
	if (by_hits)
		estimate_by_hits(s, rest);
	else
		begin_shares(s);
	for (round = 0; !by_hits && round < MOST_ROUNDS; round++)
		if (refine_shares(s, rest) < CLOSE)
			break;
	for (i = 0; i < s->nvalues; i++)
		s->values[i].estimate *= (double)s->total / s->weighted;
}
