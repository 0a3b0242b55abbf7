/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "flow/loops.h"

/*
 * What stalls all the same takes longer than its schedule, so that the clock is that of the fastest
 * fifth; a few loops have to agree in that.
 */
#define MIN_LOOPS 3
#define FASTEST	  0.2

/* Instructions of a loop: more do not come from a micro-op cache, as the schedule has it. */
#define MAX_INSNS 1024

/* Mispredicted branches may take this part of a loop's cycles; each one twice if it was rare. */
#define MISPREDICTED 0.02

/* The share of time that a thread loses at most to the other one of its processor. */
#define MOST_SLOWED 0.5

struct timed_loop {
	double ratio; /* time by cycles */
	double samples;
	bool may_assist; /* it computes with floating point */
};

struct vt_clockfit {
	struct timed_loop *list;
	size_t count;
	size_t cap;
	double ratio; /* of the clock that was found */
};

struct vt_clockfit *vt_clockfit_new(void)
{
	return calloc(1, sizeof(struct vt_clockfit));
}

void vt_clockfit_free(struct vt_clockfit *c)
{
	if (c)
		free(c->list);
	free(c);
}

/* ---- loops that nothing stalls ---- */

/* What is looked at of a procedure. */
struct clocked {
	const struct vt_core *core;
	const struct vt_procflow *f;
	const struct vt_freqs *freqs;
	const struct vt_loops *loops;
	uint32_t loop;
	uint64_t written; /* registers, in the loop */
};

/* Code whose time hangs on values, on other code, or on the system. */
static bool is_unsteady(const struct vt_mop *op)
{
	return !op->length || op->estimated ||
	       op->flags & (VT_FACT_CALL | VT_FACT_SYSCALL | VT_FACT_REPEATED | VT_FACT_INDIRECT |
			    VT_FACT_RETURN | VT_FACT_PUSH | VT_FACT_POP) ||
	       vt_mop_has(op, 1U << VT_OP_DIVIDE | 1U << VT_OP_FDIV | 1U << VT_OP_SYNC |
				      1U << VT_OP_SLOW);
}

/* Whether a store's bytes may be those of a load, by what the code says of their addresses. */
static bool may_forward(const struct vt_mop_sum *store, const struct vt_mop_sum *load)
{
	if (store->base != load->base || store->index != load->index ||
	    store->scale != load->scale || store->segment != load->segment)
		return false;
	return store->displacement < load->displacement + load->size &&
	       load->displacement < store->displacement + store->size;
}

/* A block of the loop at hand, and none of a loop inside of it. */
static bool is_own_block(const struct clocked *c, uint32_t block)
{
	return c->loops->of[block] == c->loop;
}

/* Whether a load of the loop gets its value from a store of it: how fast, processors differ. */
static bool is_forwarded(const struct clocked *c, const struct vt_mop *load)
{
	const struct vt_cfg *g = c->f->cfg;
	uint32_t b, i;

	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		if (!is_own_block(c, b))
			continue;
		for (i = g->blocks[b].insn; i < g->blocks[b].insn + g->blocks[b].ninsns; i++)
			if (vt_mop_has(&c->f->ops[i], 1U << VT_OP_STORE) &&
			    may_forward(&c->f->ops[i].store, &load->load))
				return true;
	}
	return false;
}

/* Loads from the same place each time hit. */
static bool is_steady_insn(const struct clocked *c, uint32_t insn)
{
	const struct vt_mop *op = &c->f->ops[insn];

	if (is_unsteady(op))
		return false;
	if (!vt_mop_has(op, 1U << VT_OP_LOAD))
		return true;
	return op->load.size && !(op->address_reads & c->written) && !is_forwarded(c, op);
}

/* The executions of a block's least frequent way out. */
static double count_rare(const struct clocked *c, uint32_t block)
{
	const struct vt_cfg_block *b = &c->f->cfg->blocks[block];
	double rare = INFINITY;
	uint32_t i;

	for (i = b->out; i < b->out + b->nout; i++)
		rare = fmin(rare, c->freqs->edge[i].executions);
	return b->nout > 1 ? rare : 0;
}

/* What a first look at a loop tells; false if it is none to look at. */
static bool survey_loop(struct clocked *c, const uint64_t *samples)
{
	const struct vt_cfg *g = c->f->cfg;
	uint64_t sum = 0;
	uint32_t b, i, n = 0;

	c->written = 0;
	for (i = c->loop + 1; i < c->loops->count; i++)
		if (c->loops->list[i].parent == c->loop)
			return false;
	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		if (!is_own_block(c, b))
			continue;
		n += g->blocks[b].ninsns;
		for (i = g->blocks[b].insn; i < g->blocks[b].insn + g->blocks[b].ninsns; i++) {
			c->written |= c->f->ops[i].writes;
			sum += samples[i];
		}
	}
	return n <= MAX_INSNS && sum >= VT_CLOCKFIT_SAMPLES && !c->loops->list[c->loop].entered;
}

/* Adds up a loop; false if something may stall it. */
static bool sum_loop(const struct clocked *c, const uint64_t *samples, const uint64_t *time,
		     struct timed_loop *sum)
{
	const struct vt_cfg *g = c->f->cfg;
	double cycles = 0, all = 0, rare = 0;
	uint32_t b, i;

	*sum = (struct timed_loop){0};
	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		if (!is_own_block(c, b))
			continue;
		rare += 2 * count_rare(c, b);
		for (i = g->blocks[b].insn; i < g->blocks[b].insn + g->blocks[b].ninsns; i++) {
			if (!is_steady_insn(c, i))
				return false;
			sum->may_assist |=
				vt_mop_has(&c->f->ops[i], 1U << VT_OP_FADD | 1U << VT_OP_FMUL);
			cycles += c->freqs->insn[i].executions * (double)c->f->costs[i].head;
			sum->samples += (double)samples[i];
			all += (double)time[i];
		}
	}
	sum->ratio = all / cycles;
	return cycles > 0 && sum->ratio > 0 && isfinite(sum->ratio) &&
	       rare * (c->core->mispredict + c->core->front) <= MISPREDICTED * cycles;
}

int vt_clockfit_add(struct vt_clockfit *c, const struct vt_core *core, const struct vt_procflow *f,
		    const struct vt_freqs *freqs, const uint64_t *samples, const uint64_t *time,
		    struct vt_error *err)
{
	struct vt_loops *loops;
	struct clocked k = {.core = core, .f = f, .freqs = freqs};
	struct timed_loop sum;
	int code = 0;

	if (!f->costs)
		return 0;
	k.loops = loops = vt_loops_new(f->cfg, err);
	if (!loops)
		return -VT_E_NOMEM;
	for (k.loop = 0; k.loop < loops->count && code == 0; k.loop++) {
		if (!survey_loop(&k, samples) || !sum_loop(&k, samples, time, &sum))
			continue;
		if (vt_array_grow(&c->list, &c->cap, c->count + 1, sizeof(*c->list)))
			c->list[c->count++] = sum;
		else
			code = vt_error_nomem(err);
	}
	vt_loops_free(loops);
	return code;
}

/* ---- the clock ---- */

static int compare_ratios(const void *x, const void *y)
{
	const struct timed_loop *a = x, *b = y;

	if (a->ratio != b->ratio)
		return a->ratio < b->ratio ? -1 : 1;
	return (a->samples > b->samples) - (a->samples < b->samples);
}

/*
 * Microcode computes with denormal numbers, which takes a hundred cycles or more: what computes
 * and takes twice its schedule by the fastest loop may be stalled by that.
 */
static void remove_assisted(struct vt_clockfit *c)
{
	size_t i, kept = 0;

	for (i = 0; i < c->count; i++)
		if (!c->list[i].may_assist ||
		    c->list[i].ratio * (1 - MOST_SLOWED) < c->list[0].ratio)
			c->list[kept++] = c->list[i];
	c->count = kept;
}

bool vt_clockfit_find(struct vt_clockfit *c, double *clock, size_t *loops)
{
	double all = 0, sum = 0;
	size_t i;

	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare_ratios);
	remove_assisted(c);
	*loops = c->count;
	if (c->count < MIN_LOOPS)
		return false;
	for (i = 0; i < c->count; i++)
		all += c->list[i].samples;
	for (i = 0; i + 1 < c->count; i++) {
		sum += c->list[i].samples;
		if (sum >= FASTEST * all)
			break;
	}
	c->ratio = c->list[i].ratio;
	*clock = 1 / c->ratio;
	return *clock > 0 && isfinite(*clock);
}

double vt_clockfit_fastest(const struct vt_clockfit *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!c->list[i].may_assist)
			return 1 / c->list[i].ratio;
	return 0;
}

double vt_clockfit_doubt(const struct vt_clockfit *c)
{
	double all = 0, sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < c->count; i++)
		all += c->list[i].samples;
	for (i = 0; i < c->count && sum < all / 2; i++) {
		double off = log(c->list[i].ratio / c->ratio);

		sum += c->list[i].samples;
		squares += c->list[i].samples * off * off;
	}
	/* Their samples are counted, too. */
	return sqrt((squares + 1) / sum);
}

double vt_clockfit_slowed(const struct vt_clockfit *c, double clock)
{
	double all = 0, squares = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		double slowed = fmax(0, 1 - 1 / (c->list[i].ratio * clock));

		if (slowed >= MOST_SLOWED)
			continue;
		all += c->list[i].samples;
		squares += c->list[i].samples * slowed * slowed;
	}
	return all > 0 ? sqrt(squares / all) : 0;
}

double vt_clockfit_spread(const struct vt_clockfit *c)
{
	double all = 0, sum = 0, squares = 0;
	size_t i;

	if (c->count < MIN_LOOPS)
		return 0;
	for (i = 0; i < c->count; i++) {
		double off = log(c->list[i].ratio);

		all += c->list[i].samples;
		sum += c->list[i].samples * off;
		squares += c->list[i].samples * off * off;
	}
	return sqrt(fmax(squares / all - (sum / all) * (sum / all), 0));
}
