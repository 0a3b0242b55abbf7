/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP 16u /* bins that are allocated at a time, at least */

uint64_t vt_evbins_low(uint32_t bin)
{
	uint32_t above = bin - VT_EVBINS_EXACT;

	if (bin < VT_EVBINS_EXACT)
		return bin;
	return (uint64_t)(VT_EVBINS_PARTS + above % VT_EVBINS_PARTS)
	       << (above / VT_EVBINS_PARTS + 1);
}

uint64_t vt_evbins_width(uint32_t bin)
{
	return bin < VT_EVBINS_EXACT
		       ? 1
		       : UINT64_C(1) << ((bin - VT_EVBINS_EXACT) / VT_EVBINS_PARTS + 1);
}

bool vt_evbins_grow(struct vt_evbins *b, uint32_t bin)
{
	uint32_t n = b->n ? 2 * b->n : STEP;
	double *count;

	if (n <= bin)
		n = (bin / STEP + 1) * STEP;
	if (n > VT_EVBINS_MAX)
		n = VT_EVBINS_MAX;
	count = realloc(b->count, n * sizeof(*count));
	if (!count)
		return false;
	memset(count + b->n, 0, (n - b->n) * sizeof(*count));
	b->count = count;
	b->n = n;
	return true;
}

bool vt_evbins_join(struct vt_evbins *to, const struct vt_evbins *from, double factor)
{
	uint32_t i;

	for (i = 0; i < from->n; i++)
		if (from->count[i] > 0 && !vt_evbins_add(to, i, factor * from->count[i]))
			return false;
	return true;
}

double vt_evbins_total(const struct vt_evbins *b)
{
	double total = 0;
	uint32_t i;

	for (i = 0; i < b->n; i++)
		total += b->count[i];
	return total;
}

double vt_evbins_quantile(const struct vt_evbins *b, double q)
{
	double total = vt_evbins_total(b), sum = 0;
	uint32_t i, last = UINT32_MAX;

	for (i = 0; i < b->n; i++) {
		if (!(b->count[i] > 0))
			continue;
		last = i;
		sum += b->count[i];
		/* Sums of fractions are not exact. */
		if (sum >= q * total * (1 - 1e-12))
			break;
	}
	if (last == UINT32_MAX)
		return NAN;
	return (double)vt_evbins_low(last) + (double)(vt_evbins_width(last) - 1) / 2;
}

void vt_evbins_fini(struct vt_evbins *b)
{
	free(b->count);
	*b = (struct vt_evbins){0};
}
