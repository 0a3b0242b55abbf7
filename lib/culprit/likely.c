/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "culprit/internal.h"

/*
 * How likely a cause is.
 *
 * The rules' bounds are pessimistic: every line from memory, every page missed.  How far from that
 * each cause is on average shows where it is the only one left, where it is left and nothing
 * stalls, and where it competes with different others.  Those averages are learnt by expectation
 * maximization: each stall is divided among its suspects in proportion to what they may be expected
 * to account for, which is their average share of their bounds; from the parts the shares are made
 * anew.  A few rounds are enough to tell what is common from what is not; many would find that
 * whatever is rare never happens.  Three were chosen on programs in the simulator.
 */

#define ROUNDS 3

struct row {
	float cycles;
	float bound[VTI_RULES]; /* what each cause can be thought to do */
};

struct vt_culprit_evidence {
	struct row *rows;
	size_t count;
	size_t cap;
	bool known[VT_NSTALLS]; /* causes whose number and cost are known, not just bounded */
};

struct vt_culprit_evidence *vt_culprit_evidence_new(void)
{
	return calloc(1, sizeof(struct vt_culprit_evidence));
}

void vt_culprit_evidence_free(struct vt_culprit_evidence *e)
{
	if (!e)
		return;
	free(e->rows);
	free(e);
}

/* The bounds with as many events as are most likely; without events, no others. */
static void bound_expected_events(const struct vti_stalled *st, struct vti_suspect *suspects)
{
	struct vti_stalled again = *st;

	again.expected = true;
	vti_culprit_suspects(&again, suspects);
}

/* Nobody can account for more than this; what may take any time is thought to take that. */
static double limit_bound(const struct vti_stalled *st, double bound)
{
	/* More than any miss takes, in cycles, and no infinity in a float. */
	double most = st->executions * 1000;

	return bound < most ? bound : most;
}

static int add_evidence(struct vt_culprit_evidence *e, const struct vti_stalled *st,
			struct vt_error *err)
{
	struct vti_suspect suspects[VTI_RULES];
	struct row *r;
	uint32_t i;

	if (!vt_array_grow(&e->rows, &e->cap, e->count + 1, sizeof(*e->rows)))
		return vt_error_nomem(err);
	r = &e->rows[e->count++];
	bound_expected_events(st, suspects);
	r->cycles = (float)st->cycles;
	for (i = 0; i < VTI_RULES; i++)
		r->bound[i] = (float)limit_bound(st, suspects[i].bound);
	return 0;
}

int vt_culprit_collect(const struct vt_culprit_input *in, struct vt_culprit_evidence *e,
		       struct vt_error *err)
{
	struct vti_culprit c;
	struct vti_stalled st;
	uint32_t i;
	int code = vti_culprit_init(&c, in, err);

	/* A page's translation and a wrong branch always cost the same. */
	e->known[VT_STALL_MISPREDICT] = true;
	e->known[VT_STALL_ITLB] = in->period[VT_CULPRIT_ITBMISS] > 0;
	e->known[VT_STALL_DTLB] = in->period[VT_CULPRIT_DTBMISS] > 0;
	for (i = 0; i < in->flow->cfg->ninsns && code == 0; i++)
		if (vti_culprit_stalled(&c, i, &st))
			code = add_evidence(e, &st, err);
	vti_culprit_fini(&c);
	return code;
}

/* What a cause may be expected to account for, which is not more than all of the stall. */
static double get_expected_cycles(double cycles, double bound, double share)
{
	return fmin(cycles, bound * share);
}

/* Divides a stall among its suspects. */
static void divide_stall(const struct row *r, const double *share, double *got)
{
	double part[VTI_RULES], all = 0, cycles = (double)r->cycles;
	uint32_t i;

	if (!(cycles > 0))
		return;
	for (i = 0; i < VTI_RULES; i++)
		all += part[i] = get_expected_cycles(cycles, (double)r->bound[i], share[i]);
	for (i = 0; i < VTI_RULES && all > 0; i++)
		got[i] += fmin((double)r->bound[i], cycles * part[i] / all);
}

void vt_culprit_compute_shares(const struct vt_culprit_evidence *e,
			       struct vt_culprit_shares *shares)
{
	double share[VTI_RULES], bounds[VTI_RULES] = {0};
	uint32_t i, round;
	size_t k;

	for (k = 0; k < e->count; k++)
		for (i = 0; i < VTI_RULES; i++)
			bounds[i] += (double)e->rows[k].bound[i];
	for (i = 0; i < VTI_RULES; i++)
		share[i] = 1;
	for (round = 0; round < ROUNDS; round++) {
		double got[VTI_RULES] = {0};

		for (k = 0; k < e->count; k++)
			divide_stall(&e->rows[k], share, got);
		for (i = 0; i < VTI_RULES; i++)
			if (!e->known[vti_culprit_cause(i)])
				share[i] = bounds[i] > 0 ? got[i] / bounds[i] : 0;
	}
	*shares = (struct vt_culprit_shares){{0}};
	for (i = 0; i < VTI_RULES; i++)
		shares->of[vti_culprit_cause(i)] = share[i];
}

void vti_culprit_likely(const struct vti_stalled *st, const struct vti_suspect *suspects,
			double *typical, double *likely)
{
	const struct vt_culprit_shares *shares = st->c->in->shares;
	struct vti_suspect likeliest[VTI_RULES];
	double all = 0;
	uint32_t i;

	bound_expected_events(st, likeliest);
	for (i = 0; i < VTI_RULES; i++) {
		typical[i] = suspects[i].bound > 0 ? limit_bound(st, likeliest[i].bound) : 0;
		likely[i] = get_expected_cycles(st->cycles, typical[i],
						shares->of[vti_culprit_cause(i)]);
		all += likely[i];
	}
	for (i = 0; i < VTI_RULES; i++)
		likely[i] = all > 0 ? likely[i] / all : 1;
}
