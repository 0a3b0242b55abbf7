/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/host.h"

/* What each hit gets of the misses of a value: they go to the hits of the others. */
static double for_each_hit(const struct vt_host_value *v, double hits)
{
	double others = hits - (double)v->hits;

	return others > 0 ? (double)v->misses / others : 0;
}

void vt_host_estimate(struct vt_host_site *s)
{
	double hits = 0, told = 0, rest, share, all = 0;
	size_t i;

	for (i = 0; i < s->nvalues; i++) {
		hits += (double)s->values[i].hits;
		told += (double)(s->values[i].hits + s->values[i].misses);
	}
	rest = (double)s->total > told ? (double)s->total - told : 0;
	share = s->nvalues ? rest / (double)s->nvalues : 0;
	if (share > VT_HOST_MOST_REST * rest)
		share = VT_HOST_MOST_REST * rest;
	for (i = 0; i < s->nvalues; i++)
		all += for_each_hit(&s->values[i], hits);
	for (i = 0; i < s->nvalues; i++) {
		struct vt_host_value *v = &s->values[i];

		v->estimate =
			(double)v->hits + share + (double)v->hits * (all - for_each_hit(v, hits));
	}
}
