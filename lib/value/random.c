/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

/* Back-offs become no longer than this, which no sequence has. */
#define MAX_BOUND (UINT64_C(1) << 60)

/*
 * "The random function chooses a random number between 2000 and the upper bound", which "starts at
 * 2000 and increases exponentially each time a new sampling interval takes place": 8.2.
 */
static uint64_t back_off(struct vt_hotlists *s, struct vti_rest *r)
{
	uint64_t least = s->options.interval;
	uint64_t bound = r->u.bound < least ? least : r->u.bound;

	r->u.bound = bound < MAX_BOUND ? bound * 2 : bound;
	return least + vt_rng_below(&s->rng, bound - least + 1);
}

void vti_random_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t interval = s->options.interval;
	struct vti_rest *r = vti_rest(l);

	while (n) {
		uint64_t part = n < interval - r->phase ? n : interval - r->phase;

		vti_tnv_add(s, l, r, value, part);
		n -= part;
		r->phase += part;
		if (r->phase < interval)
			break;
		r->phase = 0;
		n = vti_back_off(l, r, back_off(s, r), n);
	}
}
