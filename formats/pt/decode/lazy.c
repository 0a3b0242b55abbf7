/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/lazy.h"

#include <assert.h>
#include <string.h>

void vti_pt_lazy_get(const struct vti_pt_walk *w, struct vti_pt_lazy *s)
{
	const struct vti_pt_query *q = &w->query;
	uint32_t i;

	*s = (struct vti_pt_lazy){
		.pos = w->pos,
		.sync = q->sync,
		.ip = w->ip,
		.last_ip = w->last_ip,
		.has_last_ip = w->has_last_ip,
		.ip_suppressed = w->ip_suppressed,
		.branched = q->branched,
		.has_mode = q->has_mode,
		.has_tsc = q->has_tsc,
		.has_tma = q->has_tma,
		.mode = w->mode,
		.cursor = q->cursor,
		.marked = w->marked,
		.reported = q->reported,
		.high = w->ret_high,
		.nreturns = w->ret_count,
	};
	for (i = 0; i < w->ret_count; i++)
		s->returns[i] = w->ret[(w->ret_top - w->ret_count + i) % VTI_PT_RETURNS];
}

/* Resets the state decoded from packets. */
static void reset_decoded_state(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	struct vti_pt_query old = *q;

	memset(q, 0, sizeof(*q));
	q->errata = old.errata;
	q->entered = old.entered;
	q->nentered = old.nentered;
	q->epoch = old.epoch;
	q->next = VTI_PT_NONE;
	w->tnt_count = 0;
	vti_pt_walk_begin_epoch(w);
}

void vti_pt_lazy_set(struct vti_pt_walk *w, const struct vti_pt_lazy *s)
{
	struct vti_pt_query *q = &w->query;

	reset_decoded_state(w);
	q->sync = s->sync;
	q->started = true;
	q->enabled = true;
	q->branched = s->branched;
	q->has_mode = s->has_mode;
	q->has_tsc = s->has_tsc;
	q->has_tma = s->has_tma;
	q->cursor = s->cursor;
	q->reported = s->reported;
	w->pos = s->pos;
	w->ip = s->ip;
	w->last_ip = s->last_ip;
	w->has_last_ip = s->has_last_ip;
	w->ip_suppressed = s->ip_suppressed;
	w->mode = s->mode;
	w->enabled = true;
	w->marked = s->marked;
	w->ret_high = s->high;
	w->ret_count = w->ret_top = s->nreturns;
	memcpy(w->ret, s->returns, sizeof(w->ret));
	vti_pt_fetch(w->pos, w->end, &q->next);
}

void vti_pt_lazy_restart(struct vti_pt_walk *w, const uint8_t *warm, const uint8_t *at)
{
	reset_decoded_state(w);
	vti_pt_cursor_init(&w->query.cursor, w->begin, (size_t)(w->end - w->begin), &w->opt);
	vti_pt_cursor_warm(&w->query.cursor, warm, at);
	w->pos = at;
	w->ip = w->last_ip = 0;
	w->has_last_ip = w->ip_suppressed = false;
	w->enabled = false;
	w->mode = 0;
	w->marked = (struct vti_pt_marked){0};
	w->ret_high = w->ret_count = w->ret_top = 0;
}

/* A clock with fewer cycles cannot overflow. */
#define MANY_CYCLES (UINT64_C(1) << 62)

/*
 * True if two clocks continue alike.  Their cycles may differ.  The measured rate does not matter
 * where the trace gives the ratio to the bus clock, nor `since` where it has given no time.
 */
static bool same_clock(const struct vt_pt_timing *a, const struct vt_pt_timing *b, uint64_t cycles)
{
	bool has_ratio = a->cbr && a->clock.nominal_ratio;

	return a->cycles < MANY_CYCLES && b->cycles < MANY_CYCLES && a->tsc == b->tsc &&
	       a->cbr == b->cbr && a->has_tsc == b->has_tsc && a->has_cycles == b->has_cycles &&
	       a->base == b->base && (a->since == b->since || !a->has_tsc) &&
	       a->limit == b->limit && a->edge == b->edge && a->part == b->part &&
	       a->ctc == b->ctc && a->shown == b->shown && a->has_ctc == b->has_ctc &&
	       a->has_mtc == b->has_mtc && a->off == b->off &&
	       (has_ratio || (a->rate == b->rate && a->measuring == b->measuring &&
			      (!a->measuring || (a->rate_tsc == b->rate_tsc &&
						 a->rate_cycles == b->rate_cycles + cycles))));
}

/* True if the last time marks are the same. */
static bool same_mark(const struct vti_pt_lazy *a, const struct vti_pt_lazy *b, uint64_t cycles)
{
	return a->marked.tsc == b->marked.tsc && a->marked.cycles == b->marked.cycles + cycles;
}

/* True if the reported states are the same, of the types that the later walk has reported. */
static bool same_reported(const struct vti_pt_reported *now, const struct vti_pt_reported *from,
			  const struct vti_pt_reported *to)
{
	unsigned i;

	if (from->types & ~now->types || to->types & ~from->types & now->types ||
	    from->nonroot != now->nonroot)
		return false;
	for (i = 0; i < VT_PT_NNOTES; i++)
		if (from->types >> i & 1 && from->last[i] != now->last[i])
			return false;
	return true;
}

static bool same_place(const struct vti_pt_lazy *a, const struct vti_pt_lazy *b)
{
	return a->pos == b->pos && a->ip == b->ip && a->last_ip == b->last_ip &&
	       a->has_last_ip == b->has_last_ip && a->ip_suppressed == b->ip_suppressed &&
	       a->branched == b->branched && a->has_mode == b->has_mode && a->mode == b->mode &&
	       a->has_tsc == b->has_tsc && a->has_tma == b->has_tma && a->cursor.p == b->cursor.p &&
	       a->cursor.bip == b->cursor.bip && a->cursor.tnt == b->cursor.tnt &&
	       a->cursor.pending_end == b->cursor.pending_end;
}

/* True if the return addresses of the later walk are the newest of the earlier walk. */
static bool same_returns(const struct vti_pt_lazy *now, const struct vti_pt_lazy *from)
{
	uint32_t n = from->nreturns;

	return now->nreturns >= n && memcmp(now->returns + (now->nreturns - n), from->returns,
					    n * sizeof(*from->returns)) == 0;
}

/* Replaces the newest return addresses, which both walks have, by what the later walk left. */
static void join_returns(struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
			 const struct vti_pt_lazy *to)
{
	uint32_t room, keep, below = now->nreturns - from->nreturns;

	assert(to->high <= VTI_PT_RETURNS && to->nreturns <= to->high);
	room = VTI_PT_RETURNS - to->high;
	keep = below < room ? below : room;
	memmove(now->returns, now->returns + (below - keep), keep * sizeof(*now->returns));
	memcpy(now->returns + keep, to->returns, to->nreturns * sizeof(*to->returns));
	now->nreturns = keep + to->nreturns;
}

bool vti_pt_lazy_join(struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
		      const struct vti_pt_lazy *to, uint64_t *cycles)
{
	const struct vt_pt_timing *t = &now->cursor.timing, *u = &from->cursor.timing;
	struct vti_pt_lazy joined = *to;
	unsigned i;

	*cycles = t->cycles - u->cycles;
	if (!same_clock(t, u, *cycles) || !same_mark(now, from, *cycles) ||
	    to->cursor.timing.cycles >= MANY_CYCLES || !same_place(now, from) ||
	    !same_reported(&now->reported, &from->reported, &to->reported) ||
	    !same_returns(now, from))
		return false;
	joined.cursor.timing.cycles += *cycles;
	joined.cursor.timing.rate_cycles += *cycles;
	joined.cursor.timing.lost += t->lost - u->lost;
	joined.marked.cycles += *cycles;
	memcpy(joined.returns, now->returns, sizeof(joined.returns));
	joined.nreturns = now->nreturns;
	join_returns(&joined, from, to);
	joined.sync = now->sync;
	joined.reported.types |= now->reported.types;
	for (i = 0; i < VT_PT_NNOTES; i++)
		if (!(to->reported.types >> i & 1))
			joined.reported.last[i] = now->reported.last[i];
	*now = joined;
	return true;
}
