/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/align.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * What lies between the common beginning and end.  With d differences, reach[k] is how far into `a`
 * the furthest path gets on diagonal k = x - y; rows of all d are kept, one after the other: that
 * of d begins at d * d, has 2d + 1 entries, and its diagonal k is entry d + k.
 */
struct middle {
	const uint64_t *a, *b;
	int64_t n, m;
	uint32_t *reach;
};

static uint32_t *reach_row(const struct middle *s, int64_t d)
{
	return s->reach + d * d + d;
}

/* Whether the furthest path to diagonal k with d differences ends with something of b alone. */
static bool comes_down(const uint32_t *before, int64_t d, int64_t k)
{
	return k == -d || (k != d && before[k - 1] < before[k + 1]);
}

/* Whether d differences are enough. */
static bool extend_paths(const struct middle *s, int64_t d)
{
	uint32_t *row = reach_row(s, d);
	const uint32_t *before = reach_row(s, d - 1);
	int64_t k;

	for (k = -d; k <= d; k++) {
		int64_t x, y;

		row[k] = 0;
		if ((k + d) % 2)
			continue;
		x = comes_down(before, d, k) ? before[k + 1] : before[k - 1] + 1;
		y = x - k;
		/* Off the edge: such a path is no path. */
		if (x > s->n || y > s->m) {
			row[k] = (uint32_t)(x > s->n ? s->n : x);
			continue;
		}
		while (x < s->n && y < s->m && s->a[x] == s->b[y]) {
			x++;
			y++;
		}
		row[k] = (uint32_t)x;
		if (x == s->n && y == s->m)
			return true;
	}
	return false;
}

/* Goes back from the end; indices count from the middle's start. */
static void trace_back(const struct middle *s, int64_t d, uint32_t *match, uint32_t offset)
{
	int64_t x = s->n, y = s->m;

	for (; d > 0; d--) {
		const uint32_t *before = reach_row(s, d - 1);
		int64_t k = x - y;
		bool down = comes_down(before, d, k);
		int64_t from_x = down ? before[k + 1] : before[k - 1];
		int64_t from_y = from_x - (down ? k + 1 : k - 1);

		while (x > from_x && y > from_y && s->a[x - 1] == s->b[y - 1]) {
			x--;
			y--;
			match[x] = (uint32_t)y + offset;
		}
		x = from_x;
		y = from_y;
	}
}

static int align_middle(struct middle *s, uint32_t *match, uint32_t offset, struct vt_error *err)
{
	int64_t d, most = s->n + s->m < VT_ALIGN_MAX ? s->n + s->m : VT_ALIGN_MAX;

	s->reach = malloc((size_t)((most + 1) * (most + 1)) * sizeof(*s->reach));
	if (!s->reach)
		return vt_error_nomem(err);
	/* What both have at their beginning is gone: without a change no path leads anywhere. */
	*reach_row(s, 0) = 0;
	for (d = 1; d <= most && !extend_paths(s, d); d++)
		;
	if (d <= most)
		trace_back(s, d, match, offset);
	free(s->reach);
	return d > most;
}

int vt_align(const uint64_t *a, size_t n, const uint64_t *b, size_t m, uint32_t *match,
	     struct vt_error *err)
{
	size_t first = 0, i;
	struct middle s;

	for (i = 0; i < n; i++)
		match[i] = VT_ALIGN_NONE;
	for (; first < n && first < m && a[first] == b[first]; first++)
		match[first] = (uint32_t)first;
	for (; n > first && m > first && a[n - 1] == b[m - 1]; n--, m--)
		match[n - 1] = (uint32_t)(m - 1);
	if (n == first || m == first)
		return 0;
	s = (struct middle){a + first, b + first, (int64_t)(n - first), (int64_t)(m - first), NULL};
	return align_middle(&s, match + first, (uint32_t)first, err);
}
