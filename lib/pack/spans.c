/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "pack/internal.h"

bool vti_spans_add(struct vti_spans *s, uint64_t first, uint64_t end)
{
	if (first >= end)
		return true;
	if (!vt_array_grow(&s->v, &s->cap, s->count + 1, sizeof(*s->v)))
		return false;
	s->v[s->count++] = (struct vti_span){first, end};
	return true;
}

static int compare_spans(const void *a, const void *b)
{
	const struct vti_span *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

void vti_spans_join(struct vti_spans *s, uint64_t gap)
{
	size_t i, n = 0;

	if (!s->count)
		return;
	qsort(s->v, s->count, sizeof(*s->v), compare_spans);
	for (i = 1; i < s->count; i++) {
		struct vti_span *last = &s->v[n];

		if (s->v[i].first > last->end && s->v[i].first - last->end > gap)
			s->v[++n] = s->v[i];
		else if (s->v[i].end > last->end)
			last->end = s->v[i].end;
	}
	s->count = n + 1;
}

bool vti_spans_hold(const struct vti_spans *s, uint64_t address)
{
	size_t n = vt_array_up_to(s->v, s->count, sizeof(*s->v), address);

	return n && address < s->v[n - 1].end;
}
