/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "simulate/internal.h"

/* An instruction that may still be in progress, by the cycles of its fetch and its end. */
struct flight {
	uint64_t begin;
	uint64_t end;
	uint32_t place;
	bool counted; /* its own issue is among the useful ones of its time */
};

/*
 * Cycles up to `now` are over: whatever is fetched later issues later.  `before` has of each of
 * them how many useful instructions issued before it, and `issues` of later ones how many issue in
 * it.  Both are rings, from the fetch of the oldest instruction in flight on.
 */
struct vti_pmwindow {
	struct flight *flights; /* the oldest first */
	size_t first;
	size_t count;
	size_t cap;
	uint64_t now;
	uint64_t size; /* a power of 2 */
	uint64_t *before;
	uint32_t *issues;
};

#define FIRST_SIZE 4096

struct vti_pmwindow *vti_pmwindow_new(void)
{
	struct vti_pmwindow *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->size = FIRST_SIZE;
	w->before = calloc(w->size, sizeof(*w->before));
	w->issues = calloc(w->size, sizeof(*w->issues));
	if (w->before && w->issues)
		return w;
	vti_pmwindow_free(w);
	return NULL;
}

void vti_pmwindow_free(struct vti_pmwindow *w)
{
	if (!w)
		return;
	free(w->flights);
	free(w->before);
	free(w->issues);
	free(w);
}

/* ---- totals ---- */

static struct vti_pmstat *get_stats(struct vti_pmtruth *t, uint32_t place)
{
	size_t had = t->nplaces;

	if (place == VTI_NONE ||
	    !vt_array_grow(&t->places, &t->nplaces, (size_t)place + 1, sizeof(*t->places))) {
		t->failed = true;
		return NULL;
	}
	memset(t->places + had, 0, (t->nplaces - had) * sizeof(*t->places));
	return t->places[place].stats;
}

static void add_stat(struct vti_pmstat *s, double value)
{
	s->k++;
	s->sum += value;
	s->sum2 += value * value;
}

static void add_stages(struct vti_pmstat *s, const struct vt_core *m,
		       const struct vt_sim_followed *f)
{
	if (f->placed)
		add_stat(&s[VT_STAT_OF(LAT_MAP)], (double)(f->placed - f->fetched));
	add_stat(&s[VT_STAT_OF(LAT_TOTAL)], (double)(f->ended - f->fetched));
	if (!f->insn)
		return;
	add_stat(&s[VT_STAT_OF(LAT_READY)], (double)(f->ready - f->placed));
	add_stat(&s[VT_STAT_OF(LAT_ISSUE)], (double)(f->issued - f->ready));
	add_stat(&s[VT_STAT_OF(LAT_EXEC)], (double)(f->done - f->issued));
	if (m->order == VT_OUT_OF_ORDER)
		add_stat(&s[VT_STAT_OF(LAT_RETIRE)], (double)(f->ended - f->done));
	if (f->flags & VT_FACT_LOAD)
		add_stat(&s[VT_STAT_OF(LAT_LOAD)], f->load);
	if (vti_profileme_knows_tlb(m, f))
		add_stat(&s[VT_STAT_OF(LAT_TLB)], f->tlb);
}

static void add_events(struct vti_pmstat *s, const struct vt_core *m,
		       const struct vt_sim_followed *f)
{
	uint64_t told, events = vti_profileme_events(m, f, &told);

	for (; told; told &= told - 1)
		add_stat(&s[__builtin_ctzll(told)], (double)((events & told & -told) != 0));
}

/* ---- what overlaps ---- */

/* Makes room for cycles up to this one. */
static bool extend_rings(struct vti_pmwindow *w, uint64_t oldest, uint64_t cycle)
{
	uint64_t size = w->size, c;
	uint64_t *before;
	uint32_t *issues;

	if (cycle - oldest < size)
		return true;
	while (cycle - oldest >= size)
		size *= 2;
	before = calloc(size, sizeof(*before));
	issues = calloc(size, sizeof(*issues));
	if (!before || !issues) {
		free(before);
		free(issues);
		return false;
	}
	for (c = oldest; c < oldest + w->size; c++) {
		before[c & (size - 1)] = w->before[c & (w->size - 1)];
		issues[c & (size - 1)] = w->issues[c & (w->size - 1)];
	}
	free(w->before);
	free(w->issues);
	w->before = before;
	w->issues = issues;
	w->size = size;
	return true;
}

static void advance_to(struct vti_pmwindow *w, uint64_t cycle)
{
	uint64_t mask = w->size - 1;

	for (; w->now < cycle; w->now++) {
		w->before[(w->now + 1) & mask] =
			w->before[w->now & mask] + w->issues[w->now & mask];
		w->issues[w->now & mask] = 0;
	}
}

static void land(struct vti_pmtruth *t, const struct vti_pmwindow *w, const struct vt_core *m,
		 const struct flight *f)
{
	uint64_t mask = w->size - 1;
	double useful = (double)(w->before[f->end & mask] - w->before[f->begin & mask]);
	double cycles = (double)(f->end - f->begin), width = vt_sim_width(m);
	struct vti_pmstat *s = get_stats(t, f->place);

	if (!s)
		return;
	useful -= f->counted;
	add_stat(&s[VT_STAT_IN_PROGRESS], cycles);
	add_stat(&s[VT_STAT_USEFUL], useful);
	add_stat(&s[VT_STAT_WASTED], cycles * width - useful);
}

/* All that ended by `cycle` is told; cycles up to it are over. */
static void pass_to(struct vti_pmtruth *t, struct vti_pmwindow *w, const struct vt_core *m,
		    uint64_t cycle)
{
	uint64_t end;

	while (w->count && (end = w->flights[w->first].end) <= cycle) {
		advance_to(w, end);
		land(t, w, m, &w->flights[w->first++]);
		w->count--;
	}
	if (!w->count)
		w->first = 0;
	advance_to(w, cycle);
}

static bool take_off(struct vti_pmwindow *w, const struct flight *f)
{
	if (w->first && w->first + w->count == w->cap) {
		memmove(w->flights, w->flights + w->first, w->count * sizeof(*w->flights));
		w->first = 0;
	}
	if (!vt_array_grow(&w->flights, &w->cap, w->first + w->count + 1, sizeof(*w->flights)))
		return false;
	w->flights[w->first + w->count++] = *f;
	return true;
}

void vti_pmtruth_add(struct vti_pmtruth *t, struct vti_pmwindow *w, const struct vt_core *m,
		     uint32_t place, const struct vt_sim_followed *f)
{
	struct flight flight = {f->fetched, f->insn ? f->done : f->ended, place,
				f->insn && f->issued < f->done};
	struct vti_pmstat *s = get_stats(t, place);
	uint64_t oldest, last = flight.end > f->issued ? flight.end : f->issued;

	if (!s)
		return;
	add_events(s, m, f);
	add_stages(s, m, f);
	pass_to(t, w, m, f->fetched);
	oldest = w->count ? w->flights[w->first].begin : w->now;
	if (!extend_rings(w, oldest, last) || !take_off(w, &flight)) {
		t->failed = true;
		return;
	}
	if (f->insn)
		w->issues[f->issued & (w->size - 1)]++;
}

void vti_pmtruth_end(struct vti_pmtruth *t, struct vti_pmwindow *w, const struct vt_core *m)
{
	while (w->count)
		pass_to(t, w, m, w->flights[w->first].end);
}

/* ---- writing ---- */

static void write_stat(const struct vti_simplace *p, uint64_t event, uint64_t what,
		       const struct vti_pmstat *s, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_EVSTAT);
	double k = (double)s->k;

	row[VT_EVSTAT_IMAGE] = p->image;
	row[VT_EVSTAT_OFFSET] = p->offset;
	row[VT_EVSTAT_EVENT] = event;
	row[VT_EVSTAT_WHAT] = what;
	memcpy(&row[VT_EVSTAT_K], &k, sizeof(k));
	memcpy(&row[VT_EVSTAT_SUM], &s->sum, sizeof(s->sum));
	memcpy(&row[VT_EVSTAT_SUM2], &s->sum2, sizeof(s->sum2));
	memcpy(&row[VT_EVSTAT_LOW], &s->sum, sizeof(s->sum));
	memcpy(&row[VT_EVSTAT_HIGH], &s->sum, sizeof(s->sum));
	row[VT_EVSTAT_CONFIDENCE] = VT_CONFIDENCE_EXACT;
	row[VT_EVSTAT_METHOD] = VT_METHOD_MODEL;
}

void vti_pmtruth_write(const struct vti_pmtruth *t, const struct vti_simtruth *of,
		       const struct vti_simplace *const *places, size_t count, uint64_t event,
		       struct vt_writer *w)
{
	size_t i, place;
	unsigned what;

	for (i = 0; i < count; i++) {
		place = (size_t)(places[i] - vti_simplace_at(of, 0));
		if (place >= t->nplaces)
			continue;
		for (what = 0; what < VT_NSTATS; what++)
			if (t->places[place].stats[what].k)
				write_stat(places[i], event, what, &t->places[place].stats[what],
					   w);
	}
}

void vti_pmtruth_fini(struct vti_pmtruth *t)
{
	free(t->places);
}
