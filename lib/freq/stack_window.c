/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_window.h"

#include <assert.h>
#include <math.h>

/*
 * Of a hundred stacks, this many may end before the window does; what they have is taken for what
 * they lack.  More would favour slow code, and fewer leave windows shorter than they need be.
 */
#define SHORT_PERCENT 2

/* Up to this part of the window all count alike; from there on ever less. */
#define FLAT 0.5

/* Shorter ones are no longer than the cycles that they are measured in. */
#define SHORTEST 4

/* Durations below this have a bin of their own; above, each half octave has. */
#define EXACT	     8
#define EXACT_OCTAVE 3 /* its logarithm */

/* ---- what stacks show about each other ---- */

static size_t reach_bin(double reach)
{
	double bin = floor(2 * log2(fmax(reach, 1)));

	return bin < VT_STACKWINDOW_REACHES ? (size_t)bin : VT_STACKWINDOW_REACHES - 1;
}

/* The square root of 2, times 2^63: what is above lies in the upper half of its octave. */
#define HALF_OCTAVE UINT64_C(0xb504f333f9de6484)

size_t vt_stacktimes_bin(uint64_t cycles)
{
	unsigned zeros;
	size_t bin;

	if (cycles < EXACT)
		return cycles;
	zeros = (unsigned)__builtin_clzll(cycles);
	bin = EXACT + 2 * (63 - zeros - EXACT_OCTAVE) + (cycles << zeros > HALF_OCTAVE);
	return bin < VT_STACKWINDOW_TIMES ? bin : VT_STACKWINDOW_TIMES - 1;
}

/* How long the runs of a bin are: in the middle, by the logarithm. */
static double bin_time(size_t bin)
{
	/* 2^(1/4) and 2^(3/4) */
	static const double quarters[] = {1.18920711500272107, 1.68179283050742909};

	if (bin < EXACT)
		return (double)bin;
	return quarters[(bin - EXACT) % 2] *
	       (double)(UINT64_C(1) << (EXACT_OCTAVE + (bin - EXACT) / 2));
}

void vt_stacktimes_add(struct vt_stacktimes *t, uint64_t cycles, double weight)
{
	t->times[vt_stacktimes_bin(cycles)] += (float)(weight * (double)cycles);
}

double vt_stacktimes_sum(const struct vt_stacktimes *t)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < VT_STACKWINDOW_TIMES; i++)
		sum += (double)t->times[i];
	return sum;
}

void vt_stackreach_add(struct vt_stackreach *r, double reach)
{
	size_t i, bin = reach_bin(reach);

	if (r->stacks[bin] == UINT16_MAX)
		for (i = 0; i < VT_STACKWINDOW_REACHES; i++)
			r->stacks[i] /= 2;
	r->stacks[bin]++;
}

double vt_stackreach_window(const struct vt_stackreach *r)
{
	uint64_t all = 0, sum = 0;
	size_t i;

	for (i = 0; i < VT_STACKWINDOW_REACHES; i++)
		all += r->stacks[i];
	if (!all)
		return INFINITY;
	for (i = 0; i + 1 < VT_STACKWINDOW_REACHES; i++) {
		sum += r->stacks[i];
		if (100 * sum > SHORT_PERCENT * all)
			break;
	}
	return fmax(exp2((double)i / 2), SHORTEST);
}

/* ---- what a branch counts for ---- */

/* The integral of what branches count for over a part of the window that begins at the sample. */
static double area(double part)
{
	double rest = 1 - part;

	if (part <= FLAT)
		return part;
	return VT_STACKWINDOW_AREA - (rest > 0 ? rest * rest / (2 * (1 - FLAT)) : 0);
}

/* Where the parts of equal area end. */
static const double ends[VT_STACK_PARTS] = {
	0.1875,
	0.375,
	0.56698729810778070, /* 1 - sqrt(0.1875) */
	1,
};

struct vt_stackruns vt_stackwindow_runs(const struct vt_stacktimes *t)
{
	double all = vt_stacktimes_sum(t);
	struct vt_stackruns r = {.count = 0};
	size_t i;

	assert(all > 0);
	for (i = 1; i < VT_STACKWINDOW_TIMES; i++) {
		if (!(t->times[i] > 0))
			continue;
		r.cycles[r.count] = bin_time(i);
		r.part[r.count++] = (double)t->times[i] / all;
	}
	return r;
}

/*
 * Adds `weight` times what a branch counts for on the average, when the sample came any time within
 * a run from `first` to `last`, parts of the window, behind the branch.
 */
static void add_run_share(double first, double last, double weight, double parts[VT_STACK_PARTS])
{
	double begin = first;
	size_t i;

	for (i = 0; i < VT_STACK_PARTS && begin < last && begin < 1; i++) {
		double end = ends[i] < last ? ends[i] : last;

		if (end <= begin)
			continue;
		parts[i] += weight * (area(end) - area(begin)) / (last - first);
		begin = end;
	}
}

void vt_stackwindow_share(const struct vt_stackruns *r, double window, double before,
			  double parts[VT_STACK_PARTS])
{
	size_t i;

	assert(window > 0 && before >= 0);
	for (i = 0; i < VT_STACK_PARTS; i++)
		parts[i] = 0;
	for (i = 0; i < r->count; i++)
		add_run_share(before / window, (before + r->cycles[i]) / window, r->part[i], parts);
}

/* The mean of the time since the newest branch, or of the window if that is shorter. */
static double mean_since(double window, double run)
{
	return run < window ? run / 2 : window - window * window / (2 * run);
}

double vt_stackwindow_since(const struct vt_stackruns *r, double window)
{
	double since = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		since += r->part[i] * mean_since(window, r->cycles[i]);
	return since;
}
