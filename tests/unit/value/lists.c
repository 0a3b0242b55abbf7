/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/value/lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct vt_error err;

struct vt_hotlists *make_lists(enum vt_algo algo, uint32_t entries, uint64_t seed)
{
	const struct vt_hotlist_options o = {.algo = algo, .entries = entries, .seed = seed};
	struct vt_hotlists *s = vt_hotlists_new(&o, &err);

	assert_non_null(s);
	return s;
}

double found_estimate(const struct vt_hot *f, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < f->nvalues; i++)
		if (f->values[i] == value)
			return (double)f->counts[i] * f->scale;
	return 0;
}

void read_list(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hot *f)
{
	assert_int_equal(vt_hotlist_read(s, l, f, &err), 0);
}

uint64_t skewed_value(struct vt_rng *r, uint64_t i)
{
	uint64_t k = vt_rng_below(r, 6);

	if (k < 2)
		return 1;
	if (k < 5)
		return 2 + vt_rng_below(r, 1 + vt_rng_below(r, 40));
	return 1000 + i;
}

void fill_list(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t from, uint64_t to)
{
	struct vt_rng r;
	uint64_t i, v;

	vt_rng_init(&r, 77);
	for (i = 0; i < to; i++) {
		v = skewed_value(&r, i);
		if (i >= from)
			vt_hotlist_put(s, l, v);
	}
}
