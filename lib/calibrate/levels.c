/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/levels.h"

#include <assert.h>
#include <stdlib.h>

#define MOST_WRONG 0.1

/* The times of one or several levels. */
struct group {
	uint32_t levels;
	const struct vt_level_times *first;
	size_t ntimes; /* from `first` on */
	size_t total;
};

static int compare_ticks(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* How many of a level's sorted times are below `end`. */
static size_t count_below(const struct vt_level_times *t, uint32_t end)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->ticks[mid] < end)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static double share_below(const struct group *g, uint32_t end)
{
	size_t i, n = 0;

	for (i = 0; i < g->ntimes; i++)
		n += count_below(&g->first[i], end);
	return (double)n / (double)g->total;
}

static double wrong_at(const struct group *a, const struct group *b, uint32_t end)
{
	return (1 - share_below(a, end) + share_below(b, end)) / 2;
}

/* The least time of a group that is at least `from`; UINT32_MAX: there is none. */
static uint32_t next_time(const struct group *g, uint32_t from)
{
	uint32_t least = UINT32_MAX;
	size_t i, at;

	for (i = 0; i < g->ntimes; i++) {
		at = count_below(&g->first[i], from);
		if (at < g->first[i].count && g->first[i].ticks[at] < least)
			least = g->first[i].ticks[at];
	}
	return least;
}

/* The end between two groups with the fewest wrong; the middle of where that is the same. */
static uint32_t find_end(const struct group *a, const struct group *b, double *wrong)
{
	uint32_t end = 0, last = 0, t = 0, after;
	double w;

	*wrong = 1;
	for (;;) {
		uint32_t x = next_time(a, t), y = next_time(b, t);

		t = x < y ? x : y;
		if (t == UINT32_MAX)
			break;
		t++;
		w = wrong_at(a, b, t);
		if (w >= *wrong)
			continue;
		*wrong = w;
		x = next_time(a, t);
		y = next_time(b, t);
		after = x < y ? x : y;
		end = t;
		last = after == UINT32_MAX ? t : after;
	}
	return end + (last - end) / 2;
}

static void join(struct group *a, const struct group *b)
{
	a->levels |= b->levels;
	a->ntimes = (size_t)(b->first - a->first) + b->ntimes;
	a->total += b->total;
}

static size_t make_groups(struct vt_level_times *times, struct group *groups)
{
	size_t i, n = 0;

	for (i = 0; i < VT_LEVELS_MAX; i++) {
		if (!times[i].count)
			continue;
		qsort(times[i].ticks, times[i].count, sizeof(*times[i].ticks), compare_ticks);
		groups[n++] = (struct group){1u << i, &times[i], 1, times[i].count};
	}
	return n;
}

/* The pair, this and the next, whose loads are wrong most often; sets the ends of all. */
static size_t find_worst_pair(const struct group *groups, size_t n, struct vt_level_class *classes,
			      double *most)
{
	size_t i, worst = 0;
	double wrong;

	*most = 0;
	for (i = 0; i + 1 < n; i++) {
		classes[i].end = find_end(&groups[i], &groups[i + 1], &wrong);
		if (wrong > *most) {
			*most = wrong;
			worst = i;
		}
	}
	return worst;
}

size_t vt_levels_find(struct vt_level_times times[VT_LEVELS_MAX],
		      struct vt_level_class classes[VT_LEVELS_MAX])
{
	struct group groups[VT_LEVELS_MAX];
	size_t n = make_groups(times, groups), i, worst;
	uint32_t from = 0;
	double wrong;

	for (;;) {
		worst = find_worst_pair(groups, n, classes, &wrong);
		if (wrong <= MOST_WRONG)
			break;
		join(&groups[worst], &groups[worst + 1]);
		for (i = worst + 1; i + 1 < n; i++)
			groups[i] = groups[i + 1];
		n--;
	}
	if (n)
		classes[n - 1].end = UINT32_MAX;
	for (i = 0; i < n; i++) {
		classes[i].levels = groups[i].levels;
		classes[i].right = share_below(&groups[i], classes[i].end) -
				   (i ? share_below(&groups[i], from) : 0);
		from = classes[i].end;
	}
	return n;
}

const struct vt_level_class *vt_levels_class(const struct vt_level_class *classes, size_t count,
					     uint32_t ticks)
{
	assert(count > 0);
	while (count > 1 && ticks >= classes->end) {
		classes++;
		count--;
	}
	return classes;
}
