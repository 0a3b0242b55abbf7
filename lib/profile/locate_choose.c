/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the procedures that a name may mean are likely meant, and in what order. */
#include <stdlib.h>
#include <string.h>

#include "profile/locate_internal.h"

/* Drops candidates without samples if others have some. */
static void prefer_sampled(struct vti_search *s)
{
	struct vt_found *f = s->found;
	size_t i, n = s->first;
	bool any = false;

	for (i = s->first; i < f->count; i++)
		any = any || f->list[i].samples;
	for (i = s->first; i < f->count && any; i++)
		if (f->list[i].samples)
			f->list[n++] = f->list[i];
	if (any)
		f->count = n;
}

/*
 * Drops the cold part of a procedure, which GCC puts elsewhere and which has the same display name,
 * in favour of the procedure.
 */
static void prefer_whole(struct vti_search *s)
{
	struct vt_found *f = s->found;
	size_t i, k, n = s->first;

	for (i = s->first; i < f->count; i++) {
		const struct vt_procedure *p = &f->list[i];
		bool part = false;

		for (k = s->first; k < f->count && p->symbol && strstr(p->symbol, ".cold"); k++)
			part = part || (k != i && f->list[k].image == p->image &&
					f->list[k].symbol && !strstr(f->list[k].symbol, ".cold") &&
					!strcmp(f->list[k].name, p->name));
		if (!part)
			f->list[n++] = *p;
	}
	f->count = n;
}

/* A candidate and the path of its image, to sort it by. */
struct candidate {
	struct vt_procedure procedure;
	const char *path;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	const struct vt_procedure *p = &a->procedure, *q = &b->procedure;
	int by = compare_numbers(q->samples, p->samples);

	by = by ? by : strcmp(a->path, b->path);
	by = by ? by : compare_numbers(p->image, q->image);
	by = by ? by : compare_numbers(p->start, q->start);
	by = by ? by : (p->pid > q->pid) - (p->pid < q->pid);
	return by ? by : compare_numbers(p->why, q->why);
}

static void sort_found(struct vti_search *s)
{
	struct vt_procedure *list = s->found->list + s->first;
	size_t i, n = s->found->count - s->first;
	struct candidate *sorted = calloc(n, sizeof(*sorted));

	if (!sorted) {
		s->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		const struct vt_image *image = vt_images_get(s->images, list[i].image);

		sorted[i] = (struct candidate){list[i], image ? image->path : ""};
	}
	qsort(sorted, n, sizeof(*sorted), compare_candidates);
	for (i = 0; i < n; i++)
		list[i] = sorted[i].procedure;
	free(sorted);
}

void vti_choose_found(struct vti_search *s)
{
	prefer_sampled(s);
	prefer_whole(s);
	if (s->found->count > s->first + 1)
		sort_found(s);
}

bool vti_pick_found(struct vti_search *s, uint64_t n)
{
	size_t count = s->found->count - s->first;

	if (!n || n > count)
		return false;
	s->found->list[s->first] = s->found->list[s->first + n - 1];
	s->found->count = s->first + 1;
	return true;
}
