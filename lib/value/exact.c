/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

#include <stdlib.h>

#include "base/hash.h"

struct entry {
	uint64_t value;
	uint64_t count;
};

void vti_exact_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct entry *e;
	size_t cap;

	if (!l->u.all) {
		l->u.all = malloc(sizeof(*l->u.all));
		if (!l->u.all) {
			s->failed = true;
			return;
		}
		vt_hash_init(l->u.all, sizeof(struct entry), sizeof(uint64_t));
	}
	cap = l->u.all->cap;
	e = vt_hash_add(l->u.all, &value, NULL);
	if (!e) {
		s->failed = true;
		return;
	}
	s->exact_bytes += (l->u.all->cap - cap) * sizeof(*e);
	e->count += n;
}

void vti_exact_free(struct vt_hotlist *l)
{
	if (l->u.all)
		vt_hash_fini(l->u.all);
	free(l->u.all);
}

size_t vti_exact_count(const struct vt_hotlist *l)
{
	return l->u.all ? l->u.all->count : 0;
}

void vti_exact_get(const struct vt_hotlist *l, size_t i, uint64_t *value, uint64_t *count)
{
	const struct entry *e = vt_hash_at(l->u.all, i);

	*value = e->value;
	*count = e->count;
}
