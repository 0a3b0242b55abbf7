/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/branch.h"

#include <stdlib.h>
#include <string.h>

#include "machine/insn/insn.h"

#define MAX_BITS    24
#define MAX_HISTORY 32

/* Counters of two bits: 2 and 3 say "taken". */
enum { STRONGLY_NOT, WEAKLY_NOT, WEAKLY, STRONGLY };

struct vt_simbranch {
	enum vt_predictor kind;
	uint64_t mask;	       /* of an index of counters */
	uint64_t history_mask; /* of the branches that are remembered */
	uint64_t history;      /* the latest in bit 0; 1: taken */
	/* 2^bits counters in each table that the machine's kind of predictor uses; else NULL. */
	uint8_t *main;	  /* bimodal and gshare; the global predictor of a tournament */
	uint8_t *local;	  /* indexed by a branch's own history */
	uint8_t *choice;  /* "taken": believe the global predictor */
	uint32_t *locals; /* each branch's own history */
	uint32_t nbtb;
	struct {
		uint64_t addr; /* 0: none */
		uint64_t target;
	} * btb;
	uint32_t nreturns;
	uint32_t held;
	uint32_t top; /* where the next goes */
	uint64_t *returns;
};

/* ---- directions ---- */

static bool says_taken(uint8_t counter)
{
	return counter >= WEAKLY;
}

static void train_counter(uint8_t *counter, bool up)
{
	if (up && *counter < STRONGLY)
		++*counter;
	else if (!up && *counter > STRONGLY_NOT)
		--*counter;
}

/*
 * Two predictors, and for each history a counter that knows which of them was right when they
 * disagreed; Kessler, "The Alpha 21264 microprocessor", IEEE Micro 19(2), 1999.
 */
static bool predict_tournament(struct vt_simbranch *s, uint64_t addr, bool taken)
{
	uint32_t *own = &s->locals[addr & s->mask];
	uint8_t *local = &s->local[*own & s->mask];
	uint8_t *global = &s->main[(addr ^ s->history) & s->mask];
	uint8_t *choice = &s->choice[s->history & s->mask];
	bool by_local = says_taken(*local), by_global = says_taken(*global);
	bool said = says_taken(*choice) ? by_global : by_local;

	if (by_local != by_global)
		train_counter(choice, by_global == taken);
	train_counter(local, taken);
	train_counter(global, taken);
	*own = (uint32_t)((*own << 1 | taken) & s->history_mask);
	return said;
}

/* Where the branch at `addr` is said to go, before it is known that it is `taken`. */
static bool predict_direction(struct vt_simbranch *s, uint64_t addr, bool taken)
{
	uint8_t *counter;
	bool said = false;

	switch (s->kind) {
	case VT_PREDICT_NONE:
		break;
	case VT_PREDICT_BIMODAL:
	case VT_PREDICT_GSHARE:
		counter = &s->main[(addr ^ s->history) & s->mask];
		said = says_taken(*counter);
		train_counter(counter, taken);
		break;
	case VT_PREDICT_TOURNAMENT:
		said = predict_tournament(s, addr, taken);
		break;
	}
	if (s->kind != VT_PREDICT_BIMODAL)
		s->history = (s->history << 1 | taken) & s->history_mask;
	return said;
}

/* ---- targets ---- */

static void push_return(struct vt_simbranch *s, uint64_t addr)
{
	if (s->nreturns == 0)
		return;
	s->returns[s->top] = addr;
	s->top = (s->top + 1) % s->nreturns;
	if (s->held < s->nreturns)
		s->held++;
}

static uint64_t pop_return(struct vt_simbranch *s, uint64_t otherwise)
{
	if (s->held == 0)
		return otherwise;
	s->held--;
	s->top = (s->top + s->nreturns - 1) % s->nreturns;
	return s->returns[s->top];
}

static uint64_t predict_indirect(struct vt_simbranch *s, uint64_t addr, uint64_t fall,
				 uint64_t next)
{
	uint64_t said = fall;
	size_t i;

	if (s->nbtb == 0)
		return fall;
	i = (size_t)(addr % s->nbtb);
	if (s->btb[i].addr == addr)
		said = s->btb[i].target;
	s->btb[i].addr = addr;
	s->btb[i].target = next;
	return said;
}

uint64_t vt_simbranch_predict(struct vt_simbranch *s, uint64_t addr, uint32_t flags, uint64_t fall,
			      uint64_t target, uint64_t next)
{
	uint64_t said = target;

	if (!(flags & VT_FACT_BRANCH))
		return next;
	if (flags & VT_FACT_CONDITIONAL)
		return predict_direction(s, addr, next != fall) ? target : fall;
	if (flags & VT_FACT_RETURN)
		return pop_return(s, fall);
	if (flags & VT_FACT_INDIRECT)
		said = predict_indirect(s, addr, fall, next);
	if (flags & VT_FACT_CALL)
		push_return(s, fall);
	return said;
}

/* ---- making and freeing ---- */

/* Owned by the caller; NULL when memory runs out. */
static uint8_t *make_counters(size_t n)
{
	uint8_t *counters = malloc(n);

	if (counters)
		memset(counters, WEAKLY_NOT, n);
	return counters;
}

static bool make_directions(struct vt_simbranch *s, const struct vt_core *m)
{
	uint32_t bits = m->predictor_bits < MAX_BITS ? m->predictor_bits : MAX_BITS;
	uint32_t history = m->history < MAX_HISTORY ? m->history : MAX_HISTORY;
	size_t n = (size_t)1 << bits;

	s->kind = m->predictor;
	s->mask = n - 1;
	s->history_mask = ((uint64_t)1 << history) - 1;
	if (s->kind == VT_PREDICT_NONE)
		return true;
	s->main = make_counters(n);
	if (s->kind != VT_PREDICT_TOURNAMENT)
		return s->main;
	s->local = make_counters(n);
	s->choice = make_counters(n);
	s->locals = calloc(n, sizeof(*s->locals));
	return s->main && s->local && s->choice && s->locals;
}

struct vt_simbranch *vt_simbranch_new(const struct vt_core *m)
{
	struct vt_simbranch *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (!make_directions(s, m))
		goto fail;
	s->nbtb = m->btb;
	s->btb = s->nbtb ? calloc(s->nbtb, sizeof(*s->btb)) : NULL;
	s->nreturns = m->returns;
	s->returns = s->nreturns ? calloc(s->nreturns, sizeof(*s->returns)) : NULL;
	if ((s->nbtb && !s->btb) || (s->nreturns && !s->returns))
		goto fail;
	return s;
fail:
	vt_simbranch_free(s);
	return NULL;
}

void vt_simbranch_free(struct vt_simbranch *s)
{
	if (!s)
		return;
	free(s->main);
	free(s->local);
	free(s->choice);
	free(s->locals);
	free(s->btb);
	free(s->returns);
	free(s);
}
