/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_BINS_H
#define VT_EVENTS_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A histogram of numbers of any size in constant space: a bin for each number below 32, and 16 bins
 * of equal width for each power of two above.
 */
struct vt_evbins {
	double *count; /* of each bin; owned */
	uint32_t n;    /* bins that there are: those above are empty */
};

#define VT_EVBINS_EXACT 32u
#define VT_EVBINS_PARTS 16u
#define VT_EVBINS_MAX	(VT_EVBINS_EXACT + (64 - 5) * VT_EVBINS_PARTS)

/* The bin of a number. */
static inline uint32_t vt_evbins_of(uint64_t v)
{
	unsigned top;

	if (v < VT_EVBINS_EXACT)
		return (uint32_t)v;
	top = 63 - (unsigned)__builtin_clzll(v);
	return VT_EVBINS_EXACT + (top - 5) * VT_EVBINS_PARTS +
	       (uint32_t)(v >> (top - 4) & (VT_EVBINS_PARTS - 1));
}

/* The least number of a bin, and the number of values in it.  bin < VT_EVBINS_MAX. */
uint64_t vt_evbins_low(uint32_t bin);
uint64_t vt_evbins_width(uint32_t bin);

/* Makes room for a bin.  False: out of memory. */
bool vt_evbins_grow(struct vt_evbins *b, uint32_t bin);

/* Adds to a bin.  False: out of memory. */
static inline bool vt_evbins_add(struct vt_evbins *b, uint32_t bin, double count)
{
	if (bin >= b->n && !vt_evbins_grow(b, bin))
		return false;
	b->count[bin] += count;
	return true;
}

/* Adds all bins of another histogram, each `factor` times.  False: out of memory. */
bool vt_evbins_join(struct vt_evbins *to, const struct vt_evbins *from, double factor);

/* The sum of all bins. */
double vt_evbins_total(const struct vt_evbins *b);

/*
 * The number below or at which a share `q` of the total lies: exact below 32, else the middle of
 * its bin.  NaN if the histogram is empty.
 */
double vt_evbins_quantile(const struct vt_evbins *b, double q);

void vt_evbins_fini(struct vt_evbins *b);

#endif
