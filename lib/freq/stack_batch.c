/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "freq/stack_count_internal.h"

/*
 * Stacks with times, many at once: first, how far they reach back, which is what windows follow
 * from; then, how long runs in windows take; then, what the branches in windows count for.
 */

/*
 * Processors that never tell of two branches in one cycle tell of a cycle between them, whether
 * there was one or none.  What is known is that none goes on for longer with more than one taken
 * branch in a cycle.  So each such cycle is taken for half of one, but for that; and all of them or
 * none may be right.  (A Xeon 6154's stacks count 2,400 million executions, of a loop of 28 cycles
 * in which it tells of 3.7 such, as 2,230 million where these are taken as told.)
 */
#define HALF 0.5

/*
 * A few zeros say nothing else: the first branch has one after a processor was told to begin, or
 * go on, with its stack.
 */
static bool has_zeros(const struct vti_stacksource *s)
{
	return 20 * s->zeros > s->ones;
}

struct stack {
	const struct vti_stackbranch *branches;
	size_t count;
	double period;
	bool zeros;
};

/* The time from branch `i` + 1 to the newest one, of that from branch `i`. */
static double add_time(const struct stack *s, size_t i, double before)
{
	uint16_t cycles = s->branches[i].cycles;

	if (s->zeros || cycles != 1)
		return before + cycles;
	return fmax(before + HALF, (double)i + 1);
}

static double reach_of(const struct stack *s)
{
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count; i++)
		before = add_time(s, i, before);
	return before;
}

static struct vti_stackstart *start_at(const struct vt_stackcount *c, const struct stack *s,
				       size_t i)
{
	return vt_hash_at(&c->starts, s->branches[i].start);
}

/* ---- windows ---- */

struct window {
	double length;			   /* cycles */
	double weight;			   /* of what is in all of it */
	double doubt;			   /* deviation of that, as a part of it */
	const struct vt_stacktimes *times; /* what follows its newest branch */
};

/*
 * What is not known of where a window lies, in standard deviations of uniform distributions.
 * Processors may hold an interrupt until what they wait for has come, so that half of the time
 * since the newest branch is in doubt either way; and there are cycles that may be none.
 */
#define UNIFORM 0.2887 /* 1 / sqrt(12) */

static double doubt_of(const struct stack *s, const struct window *w)
{
	double since = vt_stackwindow_since(w->times, w->length);
	double time = since, ones = 0, spare;
	size_t i;

	for (i = 0; i + 1 < s->count && time < w->length; i++) {
		time += s->branches[i].cycles;
		ones += s->branches[i].cycles == 1;
	}
	spare = s->zeros ? 0 : fmin(ones, fmax(time - (double)i, 0));
	return UNIFORM * hypot(since, spare) / (VT_STACKWINDOW_AREA * w->length);
}

/*
 * Places that stacks were taken at have windows.  The shortest of those in a stack is taken, so
 * that all stacks of a loop have the same: a pattern in it would otherwise be looked at for longer
 * from some places than from others.
 */
static struct window window_of(const struct vt_stackcount *c, const struct stack *s)
{
	struct window w = {.length = reach_of(s)};
	size_t i;

	for (i = 0; i < s->count; i++)
		w.length = fmin(w.length, vt_stackreach_window(&start_at(c, s, i)->reach));
	w.weight = s->period / (VT_STACKWINDOW_AREA * w.length);
	return w;
}

/* ---- the three steps ---- */

static void note_reach(struct vt_stackcount *c, const struct stack *s)
{
	vt_stackreach_add(&start_at(c, s, 0)->reach, reach_of(s));
}

static void note_runs(struct vt_stackcount *c, const struct stack *s)
{
	struct window w = window_of(c, s);
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		const struct vti_stackbranch *b = &s->branches[i + 1];
		struct vti_stackcontext *context;

		vt_stacktimes_add(&start_at(c, s, i + 1)->times, s->branches[i].cycles, w.weight);
		if (b->context != UINT32_MAX) {
			context = vt_hash_at(&c->contexts, b->context);
			vt_stacktimes_add(&context->times, s->branches[i].cycles, w.weight);
		}
		before = add_time(s, i, before);
	}
}

/*
 * What follows the newest branch, as far as stacks have told: if none has it elsewhere, like its
 * own runs.
 */
static const struct vt_stacktimes *find_times(const struct vt_stackcount *c, const struct stack *s,
					      struct vt_stacktimes *own)
{
	const struct vti_stackcontext *context;
	const struct vt_stacktimes *times;
	size_t i;

	assert(s->branches->context != UINT32_MAX);
	context = vt_hash_at(&c->contexts, s->branches->context);
	times = &context->times;
	if (vt_stacktimes_sum(times) > 0)
		return times;
	times = &start_at(c, s, 0)->times;
	if (vt_stacktimes_sum(times) > 0)
		return times;
	for (i = 0; i + 1 < s->count; i++)
		vt_stacktimes_add(own, s->branches[i].cycles, 1);
	return own;
}

static void count(struct vt_stackcount *c, const struct stack *s, struct vti_stacksource *source)
{
	struct window w = window_of(c, s);
	struct vt_stacktimes own = {.times = {0}};
	struct vti_stackshare share;
	double before = 0;
	size_t i, k;

	w.times = find_times(c, s, &own);
	share.bias = doubt_of(s, &w);
	source->e.weight += w.weight;
	c->stack++;
	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		vt_stackwindow_share(w.times, w.length, before, share.parts);
		for (k = 0; k < VT_STACK_PARTS; k++)
			share.parts[k] *= w.weight;
		vti_stackcount_add(c, s->branches[i].branch, &share);
		vti_stackcount_add(c, s->branches[i].run, &share);
		before = add_time(s, i, before);
	}
}

static struct stack stack_at(const struct vt_stackcount *c, size_t i)
{
	const struct vti_stackbatch *b = &c->batch;
	const struct vti_stackwaiting *w = &b->stacks[i];
	const struct vti_stacksource *source = vt_hash_at(&c->sources, w->source);
	size_t end = i + 1 < b->nstacks ? w[1].first : b->nbranches;

	assert(end >= w->first + 2 && end <= b->nbranches);
	return (struct stack){b->branches + w->first, end - w->first, w->period, has_zeros(source)};
}

void vti_stackbatch_flush(struct vt_stackcount *c)
{
	struct vti_stackbatch *b = &c->batch;
	struct stack s;
	size_t i;

	for (i = 0; i < b->nstacks; i++) {
		s = stack_at(c, i);
		note_reach(c, &s);
	}
	for (i = 0; i < b->nstacks; i++) {
		s = stack_at(c, i);
		note_runs(c, &s);
	}
	for (i = 0; i < b->nstacks; i++) {
		s = stack_at(c, i);
		count(c, &s, vt_hash_at(&c->sources, b->stacks[i].source));
	}
	b->nstacks = 0;
	b->nbranches = 0;
}
