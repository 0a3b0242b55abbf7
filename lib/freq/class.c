/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "freq/internal.h"

/*
 * Limits of the method PAPER.  DCPI 6.1.3 gives the 1.5.  It also requires a minimum part of the
 * points for a cluster, no unreasonable stall, and sums for classes with few samples, but without
 * numbers: these were chosen on programs.
 */
#define CLUSTER_RATIO 1.5
#define MIN_FRACTION  0.25   /* of a class's points, in a cluster */
#define MAX_STALL     2000.0 /* cycles; longer than any miss */
#define FEW_SAMPLES   10.0   /* per point; classes with fewer are summed up */

/* ---- the points of a class ---- */

bool vti_freq_repeats(const struct vti_freqwork *w, uint32_t insn)
{
	return w->g->insns[insn].flags & VT_FACT_REPEATED;
}

static bool is_point(const struct vti_freqwork *w, uint32_t insn)
{
	return w->in->flow->costs[insn].head > 0 && !vti_freq_repeats(w, insn);
}

/* The point of an instruction: with the instructions since the one that it depends on. */
static struct vti_freq_point point_of(const struct vti_freqwork *w, uint32_t insn)
{
	const struct vt_procflow *f = w->in->flow;
	const struct vt_cfg_block *b = &w->g->blocks[f->block[insn]];
	int32_t depends = f->costs[insn].depends;
	struct vti_freq_point p = {.prior = 1};
	uint32_t i = insn;

	if (depends >= (int32_t)b->insn && (uint32_t)depends < insn)
		while (i > (uint32_t)depends + 1 && !vti_freq_repeats(w, i - 1))
			i--;
	for (; i <= insn; i++) {
		p.samples += (double)w->in->samples[i];
		p.cycles += w->cycles[i];
		p.best += (double)f->costs[i].head;
	}
	return p;
}

static int64_t list_points(const struct vti_freqwork *w, uint32_t class_,
			   struct vti_freq_point **points, struct vt_error *err)
{
	uint32_t i, first = w->members.first[class_], end = w->members.first[class_ + 1];
	struct vti_freq_point *list = malloc((end - first + 1) * sizeof(*list));
	size_t n = 0;

	if (!list)
		return vt_error_nomem(err);
	/* An instruction issued together with another gets no samples unless it stalls. */
	for (i = first; i < end; i++)
		if (is_point(w, w->members.insns[i]))
			list[n++] = point_of(w, w->members.insns[i]);
	*points = list;
	return (int64_t)n;
}

/*
 * The mean cycles that an execution of a block waits for mispredicted branches before it.  A sum of
 * time contains them in all code whose branches go both ways, most in rarely executed code, and no
 * other point of the class reveals them.  A prediction by frequency alone misses an outcome as
 * often as the other one comes; that predictors avoid half of these misses was chosen on programs
 * (scripts/tune/constants UNPREDICTED).
 */
#define UNPREDICTED 0.5

static double mispredicts(const struct vti_freqwork *w, uint32_t block)
{
	const struct vt_cfg_block *b = &w->g->blocks[block];
	double all = 0, missed = 0;
	uint32_t i;

	for (i = 0; i < b->nin; i++) {
		uint32_t in = w->g->in[b->in + i], from = w->g->edges[in].from;
		double f = w->edges[in].f, out = w->left[from];

		all += f;
		if (from >= VT_CFG_FIRST && out > 0)
			missed += f * (1 - f / out);
	}
	return all > 0 ? UNPREDICTED * w->in->core->mispredict * missed / all : 0;
}

struct vti_estimate vti_freq_sum(const struct vti_freqwork *w, uint32_t class_)
{
	const struct vt_procflow *f = w->in->flow;
	double cycles = 0, best = 0, samples = 0, points = 0, waits = 0;
	uint32_t i;

	for (i = w->members.first[class_]; i < w->members.first[class_ + 1]; i++) {
		uint32_t insn = w->members.insns[i];

		if (vti_freq_repeats(w, insn))
			continue;
		samples += (double)w->in->samples[insn];
		cycles += w->cycles[insn];
		best += (double)f->costs[insn].head;
		points += f->costs[insn].head > 0;
		if (w->in->skewed && w->in->core && insn == w->g->blocks[f->block[insn]].insn)
			waits += mispredicts(w, f->block[insn]);
	}
	if (!(best > 0))
		return (struct vti_estimate){.sigma = INFINITY};
	best += waits;
	return (struct vti_estimate){
		.known = true,
		.f = cycles / best,
		.sigma = samples > 0 ? cycles / best / sqrt(samples) : w->period / best,
		.points = points,
	};
}

/* ---- clusters ---- */

static double ratio(const struct vti_freq_point *p)
{
	return p->cycles / p->best;
}

static int by_ratio(const void *x, const void *y)
{
	const struct vti_freq_point *a = x, *b = y;
	double ra = ratio(a), rb = ratio(b);

	return ra != rb ? (ra > rb) - (ra < rb) : (a->best > b->best) - (a->best < b->best);
}

static double mean_ratio(const struct vti_freq_point *points, size_t n, double *spread)
{
	double sum = 0, squares = 0, mean;
	size_t i;

	for (i = 0; i < n; i++)
		sum += ratio(&points[i]);
	mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += (ratio(&points[i]) - mean) * (ratio(&points[i]) - mean);
	*spread = mean > 0 ? sqrt(squares / (double)n) / mean : 0;
	return mean;
}

/* Whether a point would have stalled for longer than MAX_STALL. */
static bool is_unreasonable(const struct vti_freq_point *points, size_t n, double f)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (points[i].cycles - f * points[i].best > MAX_STALL * f)
			return true;
	return false;
}

struct vti_estimate vti_freq_cluster(struct vti_freq_point *points, size_t n)
{
	struct vti_estimate e = {.sigma = INFINITY};
	size_t first, end, i;

	qsort(points, n, sizeof(*points), by_ratio);
	for (first = 0; first < n; first = end) {
		double low = ratio(&points[first]), samples = 0, spread, f;

		for (end = first + 1; end < n && ratio(&points[end]) <= CLUSTER_RATIO * low; end++)
			;
		f = mean_ratio(points + first, end - first, &spread);
		if ((double)(end - first) < MIN_FRACTION * (double)n || f <= 0 ||
		    is_unreasonable(points, n, f))
			continue;
		for (i = first; i < end; i++)
			samples += points[i].samples;
		e = (struct vti_estimate){
			.known = true,
			.f = f,
			.sigma = f * sqrt(1 / fmax(samples, 1) +
					  spread * spread / (double)(end - first)),
			.points = (double)(end - first),
			.spread = spread,
		};
		break;
	}
	return e;
}

int vti_freq_paper(struct vti_freqwork *w, struct vt_error *err)
{
	uint32_t c;

	for (c = 0; c < w->in->flow->classes->count; c++) {
		struct vti_estimate e = vti_freq_sum(w, c), cluster;
		struct vti_freq_point *points = NULL;
		int64_t n;

		w->classes[c] = e;
		/* Few samples: their number is (e.f / e.sigma) squared. */
		if (w->in->skewed || !e.known ||
		    (e.f / e.sigma) * (e.f / e.sigma) < FEW_SAMPLES * e.points)
			continue;
		n = list_points(w, c, &points, err);
		if (n < 0)
			return (int)n;
		cluster = vti_freq_cluster(points, (size_t)n);
		if (cluster.known)
			w->classes[c] = cluster;
		free(points);
	}
	return 0;
}
