/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

#include <stdlib.h>

#include "base/hash.h"

void vti_exact_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	struct vti_cell *c;
	size_t cap;

	if (!r->u.all) {
		r->u.all = malloc(sizeof(*r->u.all));
		if (!r->u.all) {
			s->failed = true;
			return;
		}
		vt_hash_init(r->u.all, sizeof(struct vti_cell), sizeof(uint64_t));
	}
	cap = r->u.all->cap;
	c = vt_hash_add(r->u.all, &value, NULL);
	if (!c) {
		s->failed = true;
		return;
	}
	s->exact_bytes += (r->u.all->cap - cap) * sizeof(*c);
	c->count += n;
}

void vti_exact_free(struct vti_rest *r)
{
	if (r->u.all)
		vt_hash_fini(r->u.all);
	free(r->u.all);
}

size_t vti_exact_count(const struct vti_rest *r)
{
	return r->u.all ? r->u.all->count : 0;
}

struct vti_cell vti_exact_get(const struct vti_rest *r, size_t i)
{
	const struct vti_cell *c = vt_hash_at(r->u.all, i);

	return *c;
}
