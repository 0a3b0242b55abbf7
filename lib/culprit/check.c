/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/check.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "culprit/cause.h"
#include "freq/region.h"

/* A procedure's misses and what they cost. */
struct point {
	double misses;
	double low;
	double high;
};

struct vt_culpritcheck {
	const struct vt_freqprofile *truth;
	struct vt_culpritcheck_totals totals;
	struct point *points;
	size_t npoints;
	size_t cap;
};

static double sum_truth(const struct vt_freqprofile *truth)
{
	const struct vt_hash *images = vt_freqprofile_images(truth);
	double sum = 0;
	size_t i, k, n;

	for (i = 0; i < images->count; i++) {
		const struct vt_stall *list = vt_freqprofile_stalls(
			truth, *(uint32_t *)vt_hash_at(images, i), 0, UINT64_MAX, &n);

		for (k = 0; k < n; k++)
			sum += list[k].high;
	}
	return sum;
}

struct vt_culpritcheck *vt_culpritcheck_new(const struct vt_freqprofile *truth)
{
	struct vt_culpritcheck *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->truth = truth;
	/* What is compared comes off. */
	c->totals.without = truth ? sum_truth(truth) : 0;
	return c;
}

void vt_culpritcheck_free(struct vt_culpritcheck *c)
{
	if (!c)
		return;
	free(c->points);
	free(c);
}

/*
 * A simulator does not tell what of a wait for an operand or a unit was to be expected, so static
 * and dynamic names of the same thing count as one.
 */
static unsigned get_common_cause(unsigned cause)
{
	switch (cause) {
	case VT_STALL_OPERAND_A:
	case VT_STALL_OPERAND_B:
	case VT_STALL_OPERAND_C:
		return VT_STALL_DEPENDENCY;
	case VT_STALL_SLOTTING:
	case VT_STALL_UNIT_STATIC:
	case VT_STALL_MULTIPLIER:
	case VT_STALL_DIVIDER:
		return VT_STALL_UNIT;
	default:
		return cause;
	}
}

/* What no schedule can know of. */
static bool is_dynamic_cause(unsigned cause)
{
	cause = get_common_cause(cause);
	return cause != VT_STALL_DEPENDENCY && cause != VT_STALL_UNIT && cause != VT_STALL_GAIN &&
	       cause != VT_STALL_UNEXPLAINED;
}

/* The reported stalls of one instruction, or of a region. */
struct reported {
	const struct vt_culprit_stall *list;
	size_t count;
};

static bool is_listed(const struct reported *t, unsigned cause)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (vt_culprit_is_acquittal(&t->list[i]))
			continue;
		/* What a fence waits for without any miss is the schedule's, as a unit. */
		if (cause == VT_STALL_SYNC && t->list[i].cause == VT_STALL_UNIT_STATIC)
			return true;
		if (get_common_cause(t->list[i].cause) == get_common_cause(cause))
			return true;
	}
	return false;
}

/* The cause that most of an instruction's true stall cycles have, of all or of dynamic ones. */
static unsigned main_cause(const struct vt_stall *list, size_t n, bool dynamic, double *cycles)
{
	double sum[VT_NSTALLS] = {0};
	unsigned best = VT_NSTALLS, i;
	size_t k;

	*cycles = 0;
	for (k = 0; k < n; k++) {
		if (dynamic && !is_dynamic_cause(list[k].cause))
			continue;
		sum[get_common_cause(list[k].cause)] += list[k].high;
		*cycles += list[k].high;
	}
	for (i = 0; i < VT_NSTALLS; i++)
		if (sum[i] > 0 && (best == VT_NSTALLS || sum[i] > sum[best]))
			best = i;
	return best;
}

/* `region` are the stalls of the region that the instruction is in. */
static void compare_causes(struct vt_culpritcheck_totals *t, const struct reported *reported,
			   const struct reported *region, const struct vt_stall *list, size_t n)
{
	double cycles;
	unsigned cause = main_cause(list, n, false, &cycles);
	size_t i;

	for (i = 0; i < n; i++) {
		t->truth[list[i].cause] += list[i].high;
		t->without -= list[i].high;
	}
	t->stalled += cycles;
	if (cause < VT_NSTALLS && (is_listed(reported, cause) || is_listed(region, cause)))
		t->found += cycles;
	cause = main_cause(list, n, true, &cycles);
	t->dynamic += cycles;
	if (cause >= VT_NSTALLS)
		return;
	if (is_listed(reported, cause) || is_listed(region, cause))
		t->dynamic_found += cycles;
	else
		t->missed[cause] += cycles;
}

/* How many causes a stall has been given. */
static void count_causes(struct vt_culpritcheck_totals *t, const struct reported *reported)
{
	double cycles = 0;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < reported->count; i++) {
		const struct vt_culprit_stall *s = &reported->list[i];

		if (vt_culprit_is_acquittal(s))
			continue;
		t->low[s->cause] += s->low;
		t->high[s->cause] += s->high;
		if (s->cause == VT_STALL_UNEXPLAINED)
			t->unexplained += s->high;
		if (vt_stall_is_static(s->cause) || s->cause == VT_STALL_GAIN ||
		    s->cause == VT_STALL_UNEXPLAINED)
			continue;
		n++;
		if (s->high > cycles)
			cycles = s->high;
	}
	if (!n)
		return;
	t->stalls++;
	t->listed += n;
	t->weight += cycles;
	t->weighted += cycles * (double)n;
}

static int add_point(struct vt_culpritcheck *c, const struct vt_culprits_proc *p,
		     struct vt_error *err)
{
	struct point at = {.misses = p->events[VT_CULPRIT_IMISS]};
	size_t i;

	for (i = 0; i < p->nstalls; i++)
		if (p->stalls[i].cause == VT_STALL_ICACHE &&
		    !vt_culprit_is_acquittal(&p->stalls[i])) {
			at.low += p->stalls[i].low;
			at.high += p->stalls[i].high;
		}
	if (!vt_array_grow(&c->points, &c->cap, c->npoints + 1, sizeof(*c->points)))
		return vt_error_nomem(err);
	c->points[c->npoints++] = at;
	return 0;
}

/* Those of the stalls from `at` on that are of the same instruction, or region, as the first. */
static struct reported take_reported(const struct vt_culprits_proc *p, size_t at)
{
	const struct vt_culprit_stall *first = &p->stalls[at];
	struct reported r = {first, 0};

	for (; at < p->nstalls && p->stalls[at].insn == first->insn &&
	       !((p->stalls[at].flags ^ first->flags) & VT_STALL_SCOPE);
	     at++)
		r.count++;
	return r;
}

/* Counts what was reported, and notes it by instruction and by region. */
static void note_reported(struct vt_culpritcheck *c, const struct vt_culprits_proc *p,
			  struct reported *by_insn, struct reported *by_region)
{
	size_t at;

	for (at = 0; at < p->nstalls;) {
		struct reported r = take_reported(p, at);

		if (r.list->flags & VT_STALL_OF_REGION)
			by_region[r.list->region] = r;
		else
			by_insn[r.list->insn] = r;
		count_causes(&c->totals, &r);
		at += r.count;
	}
}

/* On machines that issue out of order, only what regions of a certain time lose is looked into. */
static bool is_judged(const struct vt_culprits_proc *p, uint32_t insn,
		      const struct reported *reported)
{
	size_t i;

	for (i = 0; i < reported->count; i++)
		if (!vt_stall_is_static(reported->list[i].cause) &&
		    !vt_culprit_is_acquittal(&reported->list[i]))
			return true;
	return !p->out_of_order ||
	       (p->regions &&
		vt_region_is_told(&p->regions->list[p->regions->of[p->flow->block[insn]]]));
}

static void count_cycles(struct vt_culpritcheck_totals *t, const struct vt_culprits_proc *p,
			 uint32_t insn, const struct reported *reported)
{
	const struct vt_freq *f = p->freqs[insn];

	double beyond = f ? (f->cycles - f->issue) * f->executions : NAN;

	if (f && f->cycles > 0)
		t->cycles += f->cycles * f->executions;
	if (isfinite(beyond) && !is_judged(p, insn, reported))
		t->not_judged += beyond;
}

static void compare_insn(struct vt_culpritcheck *c, const struct vt_culprits_proc *p, uint32_t insn,
			 const struct reported *reported, const struct reported *region)
{
	uint64_t offset = p->offset + (p->flow->cfg->insns[insn].addr - p->flow->proc.start);
	const struct vt_stall *truth;
	size_t n;

	count_cycles(&c->totals, p, insn, reported);
	if (!c->truth)
		return;
	truth = vt_freqprofile_stalls(c->truth, p->flow->proc.image, offset, offset + 1, &n);
	if (n)
		compare_causes(&c->totals, reported, region, truth, n);
}

int vt_culpritcheck_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err)
{
	static const struct reported nothing = {NULL, 0};
	struct vt_culpritcheck *c = arg;
	uint32_t ninsns = p->flow->cfg->ninsns, i;
	uint32_t nregions = p->regions ? p->regions->count : 0;
	struct reported *by_insn = calloc((size_t)ninsns + nregions + 1, sizeof(*by_insn));
	struct reported *by_region;

	if (!by_insn)
		return vt_error_nomem(err);
	by_region = by_insn + ninsns;
	note_reported(c, p, by_insn, by_region);
	for (i = 0; i < ninsns; i++)
		compare_insn(c, p, i, &by_insn[i],
			     p->regions ? &by_region[p->regions->of[p->flow->block[i]]] : &nothing);
	free(by_insn);
	return add_point(c, p, err);
}

const struct vt_culpritcheck_totals *vt_culpritcheck_totals(const struct vt_culpritcheck *c)
{
	return &c->totals;
}

double vt_culpritcheck_high(const struct vt_culpritcheck_totals *t, enum vt_stall_cause cause)
{
	double not_judged = vt_stall_is_sought(cause) ? fmax(t->not_judged, 0) : 0;

	return fmin(t->high[cause] + not_judged, t->cycles);
}

/* ---- correlation ---- */

/* Pearson's, of misses with a + b of what they cost. */
static double compute_correlation(const struct vt_culpritcheck *c, double a, double b)
{
	double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = (double)c->npoints;
	size_t i;

	for (i = 0; i < c->npoints; i++) {
		x += c->points[i].misses / n;
		y += (a * c->points[i].low + b * c->points[i].high) / n;
	}
	for (i = 0; i < c->npoints; i++) {
		double dx = c->points[i].misses - x;
		double dy = a * c->points[i].low + b * c->points[i].high - y;

		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	return c->npoints > 2 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

struct vt_culpritcheck_correlation vt_culpritcheck_correlate(const struct vt_culpritcheck *c)
{
	const struct vt_culpritcheck_correlation r = {
		.procedures = c->npoints,
		.high = compute_correlation(c, 0, 1),
		.low = compute_correlation(c, 1, 0),
		.middle = compute_correlation(c, 0.5, 0.5),
	};

	return r;
}
