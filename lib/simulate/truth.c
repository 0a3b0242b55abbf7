/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/profile.h"
#include "simulate/internal.h"

void vti_simtruth_init(struct vti_simtruth *t)
{
	memset(t, 0, sizeof(*t));
	vt_hash_init(&t->places, sizeof(struct vti_simplace), 2 * sizeof(uint64_t));
	vt_hash_init(&t->edges, sizeof(struct vti_simedge), 2 * sizeof(uint64_t));
}

void vti_simtruth_fini(struct vti_simtruth *t)
{
	vt_hash_fini(&t->places);
	vt_hash_fini(&t->edges);
	free(t->stalls);
}

uint32_t vti_simtruth_place(struct vti_simtruth *t, uint32_t image, uint64_t offset)
{
	const uint64_t key[2] = {image, offset};
	struct vti_simplace *p;
	bool added;

	p = t->places.count < VTI_NONE ? vt_hash_add(&t->places, key, &added) : NULL;
	if (!p)
		return VTI_NONE;
	if (added)
		p->stalls = p->next = VTI_NONE;
	return (uint32_t)(((uint8_t *)p - t->places.entries) / sizeof(*p));
}

uint32_t vti_simtruth_edge(struct vti_simtruth *t, uint32_t from, uint32_t to)
{
	const uint64_t key[2] = {from, to};
	struct vti_simedge *e =
		t->edges.count < VTI_NONE ? vt_hash_add(&t->edges, key, NULL) : NULL;

	if (!e) {
		t->failed = true;
		return VTI_NONE;
	}
	return (uint32_t)(((uint8_t *)e - t->edges.entries) / sizeof(*e));
}

/* ---- stalls ---- */

static struct vti_simstall *find_stall(struct vti_simtruth *t, struct vti_simplace *p,
				       uint8_t cause)
{
	uint32_t i;

	for (i = p->stalls; i != VTI_NONE; i = t->stalls[i].next)
		if (t->stalls[i].cause == cause)
			return &t->stalls[i];
	if (t->nstalls >= VTI_NONE ||
	    !vt_array_grow(&t->stalls, &t->stalls_cap, t->nstalls + 1, sizeof(*t->stalls))) {
		t->failed = true;
		return NULL;
	}
	i = (uint32_t)t->nstalls++;
	t->stalls[i] = (struct vti_simstall){.next = p->stalls, .cause = cause, .by = VTI_NONE};
	p->stalls = i;
	return &t->stalls[i];
}

/* The culprit of most is found by the majority vote of Boyer and Moore (1981), by cycles. */
static void vote_culprit(struct vti_simstall *s, uint32_t by, uint64_t slots)
{
	if (s->by == by) {
		s->weight += slots;
	} else if (slots > s->weight) {
		s->by = by;
		s->weight = slots - s->weight;
	} else {
		s->weight -= slots;
	}
}

void vti_simtruth_retire(struct vti_simtruth *t, const struct vt_sim_retired *r)
{
	struct vti_simplace *p = vti_simplace_at(t, r->tag);
	uint32_t i;

	p->executions++;
	p->head += r->head;
	for (i = 0; i < r->nstalls; i++) {
		struct vti_simstall *s = find_stall(t, p, r->stalls[i].cause);

		if (!s)
			return;
		s->slots += r->stalls[i].slots;
		vote_culprit(s, (uint32_t)r->stalls[i].by, r->stalls[i].slots);
	}
}

/* ---- edges ---- */

/*
 * What did not leave an instruction by an edge that was seen went on to the one behind it: an edge,
 * too, where that is where others arrive.
 */
static bool add_falls(struct vti_simtruth *t)
{
	uint64_t *left = calloc(t->places.count + 1, sizeof(*left));
	size_t i, n = t->edges.count;

	if (!left)
		return false;
	for (i = 0; i < n; i++) {
		const struct vti_simedge *e = vt_hash_at(&t->edges, i);

		left[e->from] += e->executions;
		if (e->to != VTI_NONE)
			vti_simplace_at(t, e->to)->leads = true;
	}
	for (i = 0; i < t->places.count; i++) {
		const struct vti_simplace *p = vti_simplace_at(t, i);
		uint32_t edge;

		if (p->next == VTI_NONE || p->executions <= left[i] ||
		    !vti_simplace_at(t, p->next)->leads)
			continue;
		edge = vti_simtruth_edge(t, (uint32_t)i, p->next);
		if (edge != VTI_NONE)
			((struct vti_simedge *)vt_hash_at(&t->edges, edge))->executions +=
				p->executions - left[i];
	}
	free(left);
	return !t->failed;
}

/* ---- writing ---- */

static double as_cycles(uint64_t slots, uint32_t width)
{
	return (double)slots / width;
}

static void store_double(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

/* Stalls that the static schedule would not have. */
static bool is_dynamic_stall(uint8_t cause)
{
	switch (cause) {
	case VT_STALL_ICACHE:
	case VT_STALL_ITLB:
	case VT_STALL_DCACHE:
	case VT_STALL_DTLB:
	case VT_STALL_WRITE_BUFFER:
	case VT_STALL_FORWARD:
	case VT_STALL_MISPREDICT:
	case VT_STALL_SYNC:
	case VT_STALL_QUEUE:
		return true;
	default:
		return false;
	}
}

static void write_freq(const struct vti_simtruth *t, const struct vti_simplace *p, uint32_t width,
		       uint64_t event, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);
	double n = (double)p->executions, lost = 0;
	uint32_t i;

	for (i = p->stalls; i != VTI_NONE; i = t->stalls[i].next)
		if (is_dynamic_stall(t->stalls[i].cause))
			lost += as_cycles(t->stalls[i].slots, width);
	row[VT_FREQ_IMAGE] = p->image;
	row[VT_FREQ_OFFSET] = p->offset;
	row[VT_FREQ_EVENT] = event;
	row[VT_FREQ_SAMPLES] = p->samples;
	row[VT_FREQ_PERIOD] = p->period;
	store_double(&row[VT_FREQ_EXECUTIONS], n);
	store_double(&row[VT_FREQ_LOW], n);
	store_double(&row[VT_FREQ_HIGH], n);
	store_double(&row[VT_FREQ_CYCLES], (double)p->head / n);
	store_double(&row[VT_FREQ_ISSUE], ((double)p->head - lost) / n);
	row[VT_FREQ_CONFIDENCE] = VT_CONFIDENCE_EXACT;
	row[VT_FREQ_METHOD] = VT_METHOD_MODEL;
}

static void write_stall_rows(const struct vti_simtruth *t, const struct vti_simplace *p,
			     uint32_t width, struct vt_writer *w)
{
	uint32_t i;

	for (i = p->stalls; i != VTI_NONE; i = t->stalls[i].next) {
		const struct vti_simstall *s = &t->stalls[i];
		double cycles = as_cycles(s->slots, width);
		const struct vti_simplace *by =
			s->by < t->places.count ? vti_simplace_at(t, s->by) : NULL;
		uint64_t *row = vt_writer_row(w, VT_STALL);

		row[VT_STALL_IMAGE] = p->image;
		row[VT_STALL_OFFSET] = p->offset;
		row[VT_STALL_CAUSE] = s->cause;
		store_double(&row[VT_STALL_LOW], cycles);
		store_double(&row[VT_STALL_HIGH], cycles);
		row[VT_STALL_CONFIDENCE] = VT_CONFIDENCE_EXACT;
		if (by && by->image == p->image)
			vt_writer_words(w, VT_STALL_CULPRITS, &by->offset, 1);
	}
}

static void write_edge(const struct vti_simtruth *t, const struct vti_simedge *e,
		       struct vt_writer *w)
{
	const struct vti_simplace *from = vti_simplace_at(t, e->from), *to;
	uint64_t *row;

	if (e->to == VTI_NONE)
		return;
	to = vti_simplace_at(t, e->to);
	if (from->image != to->image || from->image == VT_UNMAPPED_IMAGE)
		return;
	row = vt_writer_row(w, VT_EDGE);
	row[VT_EDGE_IMAGE] = from->image;
	row[VT_EDGE_FROM] = from->offset;
	row[VT_EDGE_TO] = to->offset;
	store_double(&row[VT_EDGE_EXECUTIONS], (double)e->executions);
	store_double(&row[VT_EDGE_LOW], (double)e->executions);
	store_double(&row[VT_EDGE_HIGH], (double)e->executions);
	row[VT_EDGE_CONFIDENCE] = VT_CONFIDENCE_EXACT;
	row[VT_EDGE_METHOD] = VT_METHOD_MODEL;
}

static int compare_simplaces(const void *a, const void *b)
{
	const struct vti_simplace *x = *(const struct vti_simplace *const *)a;
	const struct vti_simplace *y = *(const struct vti_simplace *const *)b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : 1;
}

const struct vti_simplace **vti_simtruth_sort(const struct vti_simtruth *t, bool executed,
					      size_t *count)
{
	const struct vti_simplace **list = calloc(t->places.count + 1, sizeof(void *));
	size_t i;

	*count = 0;
	for (i = 0; list && i < t->places.count; i++) {
		const struct vti_simplace *p = vti_simplace_at(t, i);

		if ((p->executions || !executed) && p->image != VT_UNMAPPED_IMAGE)
			list[(*count)++] = p;
	}
	if (list)
		qsort(list, *count, sizeof(void *), compare_simplaces);
	return list;
}

int vti_simtruth_write(struct vti_simtruth *t, uint32_t width, uint64_t event, struct vt_writer *w,
		       struct vt_error *err)
{
	const struct vti_simplace **list = NULL;
	size_t i, n = 0;

	if (!t->failed && add_falls(t))
		list = vti_simtruth_sort(t, true, &n);
	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++)
		write_freq(t, list[i], width, event, w);
	for (i = 0; i < t->edges.count; i++)
		write_edge(t, vt_hash_at(&t->edges, i), w);
	for (i = 0; i < n; i++)
		write_stall_rows(t, list[i], width, w);
	free(list);
	return 0;
}
