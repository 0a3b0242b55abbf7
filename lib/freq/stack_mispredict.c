/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "freq/stack_internal.h"
#include "stream/kinds.h"

/* Fewer do not tell how much they differ. */
#define MIN_TIMED 16

/* The sums of a branch over its ways; the cost is of all mispredicted ones that are compared. */
struct mispredict_sum {
	double branches;
	double mispredicted;
	double compared;
	double cost;
	double variance;
};

/* Of a mean. */
static double get_variance(const struct stack_outcome *o, unsigned wrong)
{
	double n = (double)o->timed[wrong], mean = o->cycles[wrong] / n;

	return fmax(o->squares[wrong] / n - mean * mean, 0) / (n - 1);
}

static void add_outcome(struct mispredict_sum *s, const struct stack_outcome *o)
{
	double n = (double)o->timed[1];

	s->branches += (double)(o->seen[0] + o->seen[1]);
	s->mispredicted += (double)o->seen[1];
	if (o->timed[0] < MIN_TIMED || o->timed[1] < MIN_TIMED)
		return;
	s->compared += n;
	s->cost += n * (o->cycles[1] / n - o->cycles[0] / (double)o->timed[0]);
	s->variance += n * n * (get_variance(o, 0) + get_variance(o, 1));
}

static void write_mispredict(const struct link_key *k, const struct mispredict_sum *s,
			     struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_MISPREDICT);
	bool known = s->compared > 0;

	row[VT_MISPREDICT_IMAGE] = k->image;
	row[VT_MISPREDICT_OFFSET] = k->from;
	row[VT_MISPREDICT_EVENT] = k->event;
	row[VT_MISPREDICT_BRANCHES] = (uint64_t)s->branches;
	row[VT_MISPREDICT_MISPREDICTED] = (uint64_t)s->mispredicted;
	vt_row_set_f64(&row[VT_MISPREDICT_COST], known ? s->cost / s->mispredicted : 0);
	vt_row_set_f64(&row[VT_MISPREDICT_DEVIATION],
		       known ? sqrt(s->variance) / s->mispredicted : INFINITY);
}

static bool is_same_branch(const struct link_key *a, const struct link_key *b)
{
	return a->event == b->event && a->image == b->image && a->pid == b->pid &&
	       a->run == b->run && a->from == b->from;
}

void vt_stackcount_write_mispredicts(const struct vt_stackcount *c, uint64_t time,
				     struct vt_writer *w)
{
	const struct vt_stackcount_event *e = vt_stackcount_best(c, time);
	size_t i, k;

	for (i = 0; e && i < c->count; i = k) {
		struct mispredict_sum sum = {0};

		for (k = i; k < c->count && is_same_branch(&c->keys[k], &c->keys[i]); k++)
			if (c->outcome_of[k])
				add_outcome(&sum, &c->outcomes[c->outcome_of[k] - 1]);
		if (c->keys[i].event == e->id && sum.branches > 0)
			write_mispredict(&c->keys[i], &sum, w);
	}
}
