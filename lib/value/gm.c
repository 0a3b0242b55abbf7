/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

#include <math.h>

#include "value/draw.h"

/*
 * Each occurrence is kept with probability p = f^-level.  Whether an occurrence would survive k
 * thinnings does not depend on the others, and the level is the lowest at which no more than N
 * values survive: so the outcome does not depend on the order of the values, nor on when they
 * enter the table.  That is why occurrences may wait in `run`, and why halves can be joined.
 */

void vti_gm_skip(struct vt_hotlists *s, struct vt_hotlist *l, const struct vti_rest *r)
{
	double skip = vt_draw_exponential(&s->rng) * r->u.scale;

	l->skip = skip < 0x1p63 ? (uint64_t)skip : UINT64_C(1) << 63;
}

uint64_t vti_gm_accept(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t n)
{
	const struct vti_rest *r = vti_rest(l);
	uint64_t kept;

	if (!r->level)
		return n;
	if (l->skip >= n) {
		l->skip -= n;
		return 0;
	}
	kept = 1 + vt_draw_binomial(&s->rng, n - l->skip - 1, exp(r->level * s->log_keep));
	vti_gm_skip(s, l, r);
	return kept;
}

/* What is left of a count. */
static uint64_t thin_count(struct vt_hotlists *s, uint64_t count)
{
	/* Most counts are small, and few of their occurrences go. */
	if (count < VT_HOTLIST_SMALL && s->keep >= 0.9)
		return count - vt_draw_few(&s->rng, count, 1 - s->keep, s->all_kept[count]);
	return vt_draw_binomial(&s->rng, count, s->keep);
}

/*
 * Keeps each recorded occurrence with probability 1/f, those at hand included.  True if a value has
 * none left.
 */
static bool thin(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r, uint64_t *extra)
{
	bool gone = false;
	uint32_t i;

	r->level++;
	for (i = 0; i < l->count; i++) {
		struct vti_cell *c = &r->cells[i];

		c->count = thin_count(s, c->count);
		gone |= c->count == 0;
	}
	*extra = thin_count(s, *extra);
	return gone || *extra == 0;
}

static void remove_empty(struct vt_hotlist *l, struct vti_rest *r)
{
	uint16_t n = 0;
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (r->cells[i].count)
			r->cells[n++] = r->cells[i];
	l->count = n;
}

void vti_gm_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	uint32_t i = vti_find(l, r->cells, value);
	struct vti_cell *c = &r->cells[i];

	if (i < l->count) {
		c->count += n;
		/* The most frequent come to lie in front, in one cache line. */
		if (i && c->count > c[-1].count) {
			struct vti_cell swap = *c;

			*c = c[-1];
			c[-1] = swap;
			i--;
		}
		vti_set_recent(l, i);
		return;
	}
	if (l->count == s->capacity) {
		while (!thin(s, l, r, &n))
			;
		remove_empty(l, r);
		l->sampled = 1;
		r->u.scale = -1 / log1p(-exp(r->level * s->log_keep));
		vti_gm_skip(s, l, r);
		if (!n)
			return;
	}
	vti_set_recent(l, l->count);
	r->cells[l->count++] = (struct vti_cell){value, n};
}
