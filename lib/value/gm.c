/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

#include <math.h>

#include "value/draw.h"

/*
 * Each occurrence is kept with probability p = f^-level.  Whether an occurrence would survive k
 * thinnings does not depend on the others, and the level is the lowest at which no more than N
 * values survive: so the outcome does not depend on the order of the values, nor on when they
 * enter the table.  That is why occurrences may wait in `run`, and why halves can be joined.
 */

void vti_gm_skip(struct vt_hotlists *s, struct vt_hotlist *l)
{
	double skip = vt_draw_exponential(&s->rng) * l->u.scale;

	l->skip = skip < 0x1p63 ? (uint64_t)skip : UINT64_C(1) << 63;
}

uint64_t vti_gm_accept(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t n)
{
	uint64_t kept;

	if (!l->level)
		return n;
	if (l->skip >= n) {
		l->skip -= n;
		return 0;
	}
	kept = 1 + vt_draw_binomial(&s->rng, n - l->skip - 1, exp(l->level * s->log_keep));
	vti_gm_skip(s, l);
	return kept;
}

/* Keeps each recorded occurrence with probability 1/f, those at hand included.  True if a value
 * has none left. */
static bool thin(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t *extra)
{
	uint64_t *counts = vti_counts(s, l);
	bool gone = false;
	uint32_t i;

	l->level++;
	for (i = 0; i < l->count; i++) {
		counts[i] = vt_draw_binomial(&s->rng, counts[i], s->keep);
		gone |= counts[i] == 0;
	}
	*extra = vt_draw_binomial(&s->rng, *extra, s->keep);
	return gone || *extra == 0;
}

static void remove_empty(struct vt_hotlists *s, struct vt_hotlist *l)
{
	uint64_t *counts = vti_counts(s, l);
	uint32_t i, n = 0;

	for (i = 0; i < l->count; i++) {
		if (!counts[i])
			continue;
		l->cells[n] = l->cells[i];
		counts[n++] = counts[i];
	}
	l->count = n;
}

void vti_gm_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t *counts = vti_counts(s, l);
	uint32_t i = vti_find(l, value);

	if (i < l->count) {
		counts[i] += n;
		return;
	}
	if (l->count == s->capacity) {
		while (!thin(s, l, &n))
			;
		remove_empty(s, l);
		l->sampled = 1;
		l->u.scale = -1 / log1p(-exp(l->level * s->log_keep));
		vti_gm_skip(s, l);
		if (!n)
			return;
	}
	l->recent = l->count;
	l->cells[l->count] = value;
	counts[l->count++] = n;
}
