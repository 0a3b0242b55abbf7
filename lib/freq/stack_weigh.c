/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "freq/stack_internal.h"

/* ---- what stacks add ---- */

void vti_stack_settle(struct link_count *l)
{
	l->sum.variance += l->current * l->current;
	l->current = 0;
}

void vti_stack_add(struct stack_weigher *c, uint32_t entry, const struct stack_share *s)
{
	struct link_count *l;
	double all = 0;
	size_t i;

	if (entry == UINT32_MAX)
		return;
	l = &c->links[entry];
	if (l->last != c->stack) {
		vti_stack_settle(l);
		l->stacks++;
		l->last = c->stack;
	}
	for (i = 0; i < VT_STACK_PARTS; i++) {
		l->sum.parts[i] += s->parts[i];
		all += s->parts[i];
	}
	l->current += all;
	l->sum.bias += all * s->bias;
}

static void begin_stack(struct stack_weigher *c, const struct waiting_stack *s, double weight)
{
	c->sources[s->source].stacks++;
	c->sources[s->source].weight += weight;
	c->stack++;
}

/* ---- stacks with times ---- */

/*
 * Stacks with times, many at once: first, how far they reach back, which is what windows follow
 * from; then, how long runs in windows take; then, what the branches in windows count for.
 */

/*
 * Some processors never report 0 cycles between two branches: they report 1, whether it was 1 or 0.
 * No processor sustains more than one taken branch a cycle.  So each such cycle counts as half a
 * cycle within that limit, with the deviation that all of them or none are right.  (A Xeon 6154's
 * stacks count 2,400 million executions of a loop of 28 cycles with 3.7 such cycles; taken as
 * reported, they would count 2,230 million.)
 */
#define HALF 0.5

struct timed_stack {
	const struct stack_branch *branches;
	size_t count;
	double period;
	bool zeros;
};

/* The time from branch `i` + 1 to the newest one, of that from branch `i`. */
static double add_time(const struct timed_stack *s, size_t i, double before)
{
	uint16_t cycles = s->branches[i].cycles;

	if (s->zeros || cycles != 1)
		return before + cycles;
	return fmax(before + HALF, (double)i + 1);
}

static double reach_of(const struct timed_stack *s)
{
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count; i++)
		before = add_time(s, i, before);
	return before;
}

static struct start_count *branch_start(const struct stack_weigher *c, const struct timed_stack *s,
					size_t i)
{
	return &c->starts[s->branches[i].start];
}

struct stack_window {
	double length; /* cycles */
	double weight; /* of what is in all of it */
};

/*
 * What is not known of where a window lies, in standard deviations of uniform distributions.
 * Processors may hold an interrupt until what they wait for has come, so that half of the time
 * since the newest branch is in doubt either way; and there are cycles that may be none.
 */
#define UNIFORM 0.2887 /* 1 / sqrt(12) */

static double doubt_of(const struct timed_stack *s, const struct stack_window *w,
		       const struct vt_stackruns *behind)
{
	double since = vt_stackwindow_since(behind, w->length);
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
static struct stack_window window_of(const struct stack_weigher *c, const struct timed_stack *s)
{
	struct stack_window w = {.length = reach_of(s)};
	size_t i;

	for (i = 0; i < s->count; i++)
		w.length = fmin(w.length, branch_start(c, s, i)->window);
	w.weight = s->period / (VT_STACKWINDOW_AREA * w.length);
	return w;
}

static void note_reach(struct stack_weigher *c, const struct timed_stack *s)
{
	vt_stackreach_add(&branch_start(c, s, 0)->reach, reach_of(s));
}

static void note_runs(struct stack_weigher *c, const struct timed_stack *s)
{
	struct stack_window w = window_of(c, s);
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		const struct stack_branch *b = &s->branches[i + 1];

		vt_stacktimes_add(&branch_start(c, s, i + 1)->times, s->branches[i].cycles,
				  w.weight);
		if (b->context != UINT32_MAX)
			vt_stacktimes_add(&c->contexts[b->context], s->branches[i].cycles,
					  w.weight);
		before = add_time(s, i, before);
	}
}

/*
 * What follows the newest branch, if stacks have it elsewhere; else its own runs are the best
 * guess.
 */
static const struct vt_stacktimes *
find_times(const struct stack_weigher *c, const struct timed_stack *s, struct vt_stacktimes *own)
{
	const struct vt_stacktimes *times;
	size_t i;

	assert(s->branches->context != UINT32_MAX);
	times = &c->contexts[s->branches->context];
	if (vt_stacktimes_sum(times) > 0)
		return times;
	times = &branch_start(c, s, 0)->times;
	if (vt_stacktimes_sum(times) > 0)
		return times;
	for (i = 0; i + 1 < s->count; i++)
		vt_stacktimes_add(own, s->branches[i].cycles, 1);
	return own;
}

static void count_timed(struct stack_weigher *c, const struct timed_stack *s,
			const struct waiting_stack *of)
{
	struct stack_window w = window_of(c, s);
	struct vt_stacktimes own = {.times = {0}};
	struct vt_stackruns behind = vt_stackwindow_runs(find_times(c, s, &own));
	struct stack_share share;
	double before = 0;
	size_t i, k;

	/* What is in doubt here is part of what is not known of the unit. */
	share.bias = fmax(doubt_of(s, &w, &behind), VTI_STACK_TIME_BIAS);
	begin_stack(c, of, w.weight);
	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		vt_stackwindow_share(&behind, w.length, before, share.parts);
		for (k = 0; k < VT_STACK_PARTS; k++)
			share.parts[k] *= w.weight;
		vti_stack_add(c, s->branches[i].branch, &share);
		vti_stack_add(c, s->branches[i].run, &share);
		before = add_time(s, i, before);
	}
}

static struct timed_stack timed_at(const struct stack_weigher *c, size_t i)
{
	const struct waiting_stack *w = &c->batch.stacks[i];

	return (struct timed_stack){c->batch.branches + w->first, w->count, w->period, w->zeros};
}

static void set_windows(struct stack_weigher *c)
{
	size_t i;

	for (i = 0; i < c->nstarts; i++)
		c->starts[i].window = vt_stackreach_window(&c->starts[i].reach);
}

static void count_waiting_timed(struct stack_weigher *c)
{
	struct stack_batch *b = &c->batch;
	struct timed_stack s;
	size_t i;

	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (b->stacks[i].way == STACK_TIMED)
			note_reach(c, &s);
	}
	set_windows(c);
	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (b->stacks[i].way == STACK_TIMED)
			note_runs(c, &s);
	}
	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (b->stacks[i].way == STACK_TIMED)
			count_timed(c, &s, &b->stacks[i]);
	}
}

/* ---- stacks of which the instructions are known ---- */

/*
 * A stack is taken in a run as often as the run is long.  So it represents all the less executions
 * the longer the run is that it was taken in, of which only the start is known: as long as the runs
 * are that begin there elsewhere, counted in the same way.  (As in Palm's probabilities.)
 */
#define WEIGHINGS 5

/* The instructions of the run that a stack was taken in. */
static double open_length(const struct stack_weigher *c, const struct timed_stack *s)
{
	double mean = vt_stacklength_mean(&branch_start(c, s, 0)->length);
	struct vt_stacklength own = {0};
	size_t i;

	if (mean > 0)
		return mean;
	/* Nothing begins there but what samples were taken in: as long as others of the stack. */
	for (i = 0; i + 1 < s->count; i++)
		vt_stacklength_add(&own, s->branches[i].cycles, 1);
	vt_stacklength_settle(&own, true);
	mean = vt_stacklength_mean(&own);
	return mean > 0 ? mean : 1;
}

static void weigh_lengths(struct stack_weigher *c, bool last)
{
	struct stack_batch *b = &c->batch;
	size_t i, k;

	for (i = 0; i < b->nstacks; i++) {
		struct timed_stack s = timed_at(c, i);
		double weight;

		if (b->stacks[i].way != STACK_LENGTHS)
			continue;
		weight = s.period / open_length(c, &s);
		for (k = 0; k + 1 < s.count; k++)
			vt_stacklength_add(&branch_start(c, &s, k + 1)->length,
					   s.branches[k].cycles, weight);
	}
	for (i = 0; i < c->nstarts; i++)
		vt_stacklength_settle(&c->starts[i].length, last);
}

static void count_instructions(struct stack_weigher *c, const struct timed_stack *s,
			       const struct waiting_stack *of)
{
	double weight = s->period / open_length(c, s) / (double)(s->count - 1);
	size_t i;

	begin_stack(c, of, weight);
	for (i = 0; i + 1 < s->count; i++) {
		struct stack_share share = {.bias = VTI_STACK_UNIT_BIAS};

		share.parts[i * VT_STACK_PARTS / (s->count - 1)] = weight;
		vti_stack_add(c, s->branches[i].branch, &share);
		vti_stack_add(c, s->branches[i].run, &share);
	}
}

static void count_waiting_instructions(struct stack_weigher *c)
{
	struct stack_batch *b = &c->batch;
	struct timed_stack s;
	size_t i;

	for (i = 0; i < WEIGHINGS && c->instructions; i++)
		weigh_lengths(c, i + 1 == WEIGHINGS);
	for (i = 0; i < b->nstacks && c->instructions; i++) {
		s = timed_at(c, i);
		if (b->stacks[i].way == STACK_LENGTHS)
			count_instructions(c, &s, &b->stacks[i]);
	}
}

/* ---- others ---- */

/*
 * Without cycles, or with as many samples for each branch, all of the stack is the window, and
 * branches are what it is measured in.
 */
static void count_untimed(struct stack_weigher *c, const struct timed_stack *s,
			  const struct waiting_stack *of)
{
	double weight = s->period / (double)(s->count - 1);
	size_t i;

	begin_stack(c, of, weight);
	for (i = 0; i + 1 < s->count; i++) {
		struct stack_share share = {.bias = of->counted ? VTI_STACK_UNIT_BIAS : 0};

		share.parts[i * VT_STACK_PARTS / (s->count - 1)] = weight;
		vti_stack_add(c, s->branches[i].branch, &share);
		vti_stack_add(c, s->branches[i].run, &share);
	}
}

static void count_waiting_untimed(struct stack_weigher *c)
{
	const struct stack_batch *b = &c->batch;
	struct timed_stack s;
	size_t i;

	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (b->stacks[i].way == STACK_UNTIMED)
			count_untimed(c, &s, &b->stacks[i]);
	}
}

void vti_stack_weigh(struct stack_weigher *c)
{
	count_waiting_timed(c);
	count_waiting_instructions(c);
	count_waiting_untimed(c);
	c->batch.nstacks = 0;
	c->batch.nbranches = 0;
}
