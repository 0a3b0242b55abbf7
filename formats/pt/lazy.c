/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/lazy.h"

#include <string.h>

void vti_pt_lazy_get(const struct vti_pt_walk *w, struct vti_pt_lazy *s)
{
	const struct vti_pt_query *q = w->query;
	uint32_t i;

	*s = (struct vti_pt_lazy){
		.pos = w->pos,
		.sync = q->sync,
		.ip = w->ip,
		.last_ip = w->last_ip,
		.has_last_ip = w->has_last_ip,
		.ip_suppressed = w->ip_suppressed,
		.speculative = w->speculative,
		.branched = q->branched,
		.has_mode = q->has_mode,
		.mode = w->mode,
		.cursor = q->cursor,
		.mark_tsc = w->mark_tsc,
		.mark_cycles = w->mark_cycles,
		.told = q->told,
		.nonroot = q->nonroot,
		.high = w->ret_high,
		.nreturns = w->ret_count,
	};
	memcpy(s->last_told, q->last_told, sizeof(s->last_told));
	for (i = 0; i < w->ret_count; i++)
		s->returns[i] = w->ret[(w->ret_top - w->ret_count + i) % VTI_PT_RETURNS];
}

/* All that packets have said is forgotten. */
static void forget(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;
	struct vti_pt_query old = *q;

	memset(q, 0, sizeof(*q));
	q->errata = old.errata;
	q->entered = old.entered;
	q->nentered = old.nentered;
	q->turn = old.turn;
	q->next = VTI_PT_NONE;
	w->tnt_count = 0;
	vti_pt_walk_moved(w);
}

void vti_pt_lazy_set(struct vti_pt_walk *w, const struct vti_pt_lazy *s)
{
	struct vti_pt_query *q = w->query;

	forget(w);
	q->sync = s->sync;
	q->started = true;
	q->enabled = true;
	q->branched = s->branched;
	q->has_mode = s->has_mode;
	q->cursor = s->cursor;
	q->told = s->told;
	q->nonroot = s->nonroot;
	memcpy(q->last_told, s->last_told, sizeof(q->last_told));
	w->pos = s->pos;
	w->ip = s->ip;
	w->last_ip = s->last_ip;
	w->has_last_ip = s->has_last_ip;
	w->ip_suppressed = s->ip_suppressed;
	w->speculative = s->speculative;
	w->mode = s->mode;
	w->enabled = true;
	w->mark_tsc = s->mark_tsc;
	w->mark_cycles = s->mark_cycles;
	w->ret_high = s->high;
	w->ret_count = w->ret_top = s->nreturns;
	memcpy(w->ret, s->returns, sizeof(w->ret));
	vti_pt_fetch(w->pos, w->end, &q->next);
}

void vti_pt_lazy_restart(struct vti_pt_walk *w, const uint8_t *at)
{
	forget(w);
	vti_pt_cursor_init(&w->query->cursor, w->begin, (size_t)(w->end - w->begin), &w->opt.clock);
	w->pos = at;
	w->ip = w->last_ip = 0;
	w->has_last_ip = w->ip_suppressed = false;
	w->speculative = w->enabled = false;
	w->mode = 0;
	w->mark_tsc = w->mark_cycles = 0;
	w->ret_high = w->ret_count = w->ret_top = 0;
}

bool vti_pt_lazy_timed(const struct vt_pt_timing *t)
{
	return t->has_tsc || t->has_cycles || t->has_ctc || t->has_mtc || t->tsc || t->cycles;
}

/* Were the same states told of last, as far as the later walk knows and tells of them? */
static bool same_told(const struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
		      const struct vti_pt_lazy *to)
{
	unsigned i;

	if (from->told & ~now->told || to->told & ~from->told & now->told ||
	    from->nonroot != now->nonroot)
		return false;
	for (i = 0; i < VT_PT_NNOTES; i++)
		if (from->told >> i & 1 && from->last_told[i] != now->last_told[i])
			return false;
	return true;
}

static bool same_place(const struct vti_pt_lazy *a, const struct vti_pt_lazy *b)
{
	return a->pos == b->pos && a->ip == b->ip && a->last_ip == b->last_ip &&
	       a->has_last_ip == b->has_last_ip && a->ip_suppressed == b->ip_suppressed &&
	       a->speculative == b->speculative && a->branched == b->branched &&
	       a->has_mode == b->has_mode && a->mode == b->mode && a->cursor.p == b->cursor.p &&
	       a->cursor.bip == b->cursor.bip && a->cursor.tnt == b->cursor.tnt &&
	       a->cursor.owed == b->cursor.owed;
}

/* Puts what one walk has pushed above what the one before it left. */
static void join_returns(struct vti_pt_lazy *now, const struct vti_pt_lazy *to)
{
	uint32_t room = VTI_PT_RETURNS - to->high;
	uint32_t keep = now->nreturns < room ? now->nreturns : room;

	memmove(now->returns, now->returns + (now->nreturns - keep), keep * sizeof(*now->returns));
	memcpy(now->returns + keep, to->returns, to->nreturns * sizeof(*to->returns));
	now->nreturns = keep + to->nreturns;
}

bool vti_pt_lazy_join(struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
		      const struct vti_pt_lazy *to)
{
	struct vti_pt_lazy joined = *to;
	unsigned i;

	if (vti_pt_lazy_timed(&now->cursor.timing) || vti_pt_lazy_timed(&to->cursor.timing) ||
	    !same_place(now, from) || !same_told(now, from, to))
		return false;
	memcpy(joined.returns, now->returns, sizeof(joined.returns));
	joined.nreturns = now->nreturns;
	join_returns(&joined, to);
	joined.sync = now->sync;
	joined.mark_tsc = now->mark_tsc;
	joined.mark_cycles = now->mark_cycles;
	joined.told |= now->told;
	for (i = 0; i < VT_PT_NNOTES; i++)
		if (!(to->told >> i & 1))
			joined.last_told[i] = now->last_told[i];
	*now = joined;
	return true;
}
