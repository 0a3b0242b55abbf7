/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/samples.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/same_image.h"
#include "stream/meta.h"
#include "stream/profileme.h"

/* Bounds on memory: samples beyond are counted. */
#define MAX_QUESTIONS (UINT32_C(1) << 25)
#define MAX_SAMPLES   (UINT32_C(1) << 26)
#define MAX_FIRSTS    (UINT32_C(1) << 20)

/* The first instruction of a thread's pair. */
struct first {
	uint64_t event;
	int64_t pid;
	int64_t tid;
	uint32_t place;
};

int vt_pathsamples_init(struct vt_pathsamples *s, struct vt_context *c, struct vt_pathplaces *p,
			uint32_t branches, enum vt_pathstacks use, struct vt_error *err)
{
	s->context = c;
	s->places = p;
	s->branches = branches;
	s->use = use;
	s->ways = 2;
	vt_hash_init(&s->questions, sizeof(struct vt_pathquestion),
		     offsetof(struct vt_pathquestion, count));
	vt_hash_init(&s->firsts, sizeof(struct first), offsetof(struct first, place));
	s->stacks = vt_intern_new();
	return s->stacks ? 0 : vt_error_nomem(err);
}

void vt_pathsamples_fini(struct vt_pathsamples *s)
{
	vt_hash_fini(&s->questions);
	vt_hash_fini(&s->firsts);
	vt_intern_free(s->stacks);
	free(s->list);
}

static bool knows(const struct vt_record *rec, unsigned field)
{
	return vt_record_u64(rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT_OF(field);
}

static bool happened(const struct vt_record *rec, uint64_t event)
{
	return knows(rec, VT_SAMPLE_EVENTS) && vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD) &
						       vt_record_u64(rec, VT_SAMPLE_EVENTS) & event;
}

static bool find_place(const struct vt_pathsamples *s, const struct vt_record *rec,
		       uint64_t address, uint32_t *place)
{
	return vt_pathplaces_at(s->places, s->context, vt_record_i64(rec, VT_SAMPLE_PID), address,
				vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE, place);
}

/* Numbers the stack of a sample; 0 if there is none. */
static bool take_stack(struct vt_pathsamples *s, const struct vt_record *rec, uint32_t *stack)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	uint32_t places[2 * VT_PATHS_STACK];
	size_t i, n = from.count < to.count ? from.count : to.count;

	*stack = 0;
	n = n < VT_PATHS_STACK ? n : VT_PATHS_STACK;
	for (i = 0; i < n; i++)
		if (!find_place(s, rec, from.data[i], &places[2 * i]) ||
		    !find_place(s, rec, to.data[i], &places[2 * i + 1]))
			return false;
	if (n)
		*stack = vt_intern_add(s->stacks, places, 2 * n * sizeof(*places));
	return *stack != UINT32_MAX;
}

/* Finds or notes the other instruction of a pair.  False: out of memory. */
static bool take_pair(struct vt_pathsamples *s, const struct vt_record *rec,
		      struct vt_pathquestion *q, bool aborted)
{
	struct first key = {.event = q->event,
			    .pid = vt_record_i64(rec, VT_SAMPLE_PID),
			    .tid = vt_record_i64(rec, VT_SAMPLE_TID)};
	uint64_t distance = vt_record_u64(rec, VT_SAMPLE_PAIR_DISTANCE);
	struct first *f;

	if (!knows(rec, VT_SAMPLE_PAIR))
		return true;
	if (s->firsts.count >= MAX_FIRSTS && !vt_hash_find(&s->firsts, &key))
		return true;
	f = vt_hash_add(&s->firsts, &key, NULL);
	if (!f)
		return false;
	if (vt_record_u64(rec, VT_SAMPLE_PAIR) == 1) {
		f->place = aborted ? VT_PATHPLACE_NONE : q->place;
	} else if (knows(rec, VT_SAMPLE_PAIR_DISTANCE) && distance && distance <= UINT16_MAX) {
		q->other = f->place;
		q->distance = (uint32_t)distance;
	}
	if (q->other == VT_PATHPLACE_NONE)
		q->distance = 0;
	return true;
}

static void take_history(const struct vt_pathsamples *s, const struct vt_record *rec,
			 struct vt_pathquestion *q)
{
	uint64_t n = vt_record_u64(rec, VT_SAMPLE_HISTORY_N);

	q->branches = n < s->branches ? (uint32_t)n : s->branches;
	q->history = vt_record_u64(rec, VT_SAMPLE_HISTORY);
	if (q->branches < 64)
		q->history &= (UINT64_C(1) << q->branches) - 1;
}

static bool add_question(struct vt_pathsamples *s, const struct vt_pathquestion *q, uint32_t stack,
			 double executions)
{
	struct vt_pathquestion *known;

	if ((s->questions.count >= MAX_QUESTIONS && !vt_hash_find(&s->questions, q)) ||
	    (s->use == VT_PATHSTACKS_TRUE && s->nlist >= MAX_SAMPLES)) {
		s->dropped++;
		return true;
	}
	known = vt_hash_add(&s->questions, q, NULL);
	if (!known)
		return false;
	known->count++;
	known->executions += executions;
	if (s->use != VT_PATHSTACKS_TRUE)
		return true;
	if (!vt_array_grow(&s->list, &s->list_cap, s->nlist + 1, sizeof(*s->list)))
		return false;
	s->list[s->nlist++] =
		(struct vt_pathsample){(uint32_t)vt_hash_index(&s->questions, known), stack};
	return true;
}

/* Where an indirect branch went is known of those that were followed. */
static bool take_target(struct vt_pathsamples *s, const struct vt_record *rec, uint32_t from)
{
	uint32_t to;

	if (!knows(rec, VT_SAMPLE_TARGET))
		return true;
	return find_place(s, rec, vt_record_u64(rec, VT_SAMPLE_TARGET), &to) &&
	       vt_pathplaces_went(s->places, from, to, 1);
}

/*
 * What a sample of an instruction that a model followed stands for.  Those of a group share a
 * period: each of them is a random instruction.  Other events count something else than executions.
 */
static double count_executions(const struct vt_pathsamples *s, const struct vt_record *rec)
{
	uint64_t period = vt_record_u64(rec, VT_SAMPLE_PERIOD);

	if (!knows(rec, VT_SAMPLE_HISTORY))
		return 0;
	return (double)(period ? period : 1) / (knows(rec, VT_SAMPLE_PAIR) ? s->ways : 1);
}

static bool take_sample(struct vt_pathsamples *s, const struct vt_record *rec)
{
	struct vt_pathquestion q = {.event = vt_record_u64(rec, VT_SAMPLE_EVENT),
				    .other = VT_PATHPLACE_NONE};
	bool told = knows(rec, VT_SAMPLE_HISTORY) && knows(rec, VT_SAMPLE_HISTORY_N);
	bool aborted = happened(rec, VT_PM_EVENT(ABORTED));
	uint32_t stack = 0;

	s->samples++;
	if (!told &&
	    (s->use != VT_PATHSTACKS_USED || !vt_record_words(rec, VT_SAMPLE_BR_FROM).count)) {
		s->untold++;
		return true;
	}
	if (!find_place(s, rec, vt_record_u64(rec, VT_SAMPLE_IP), &q.place) ||
	    !take_pair(s, rec, &q, aborted))
		return false;
	s->aborted += aborted;
	if (aborted)
		return true;
	if (q.place == VT_PATHPLACE_NONE) {
		s->unmapped++;
		return true;
	}
	if (!take_target(s, rec, q.place) ||
	    (s->use != VT_PATHSTACKS_UNUSED && !take_stack(s, rec, &stack)))
		return false;
	if (told)
		take_history(s, rec, &q);
	/* Without a history, the stack is what tells, and not the truth. */
	if (s->use == VT_PATHSTACKS_USED && stack) {
		q = (struct vt_pathquestion){.event = q.event,
					     .place = q.place,
					     .other = VT_PATHPLACE_NONE,
					     .stack = stack};
	}
	return add_question(s, &q, stack, count_executions(s, rec));
}

uint32_t vt_pathsamples_number(struct vt_pathsamples *s, const uint32_t *stack, size_t n)
{
	return vt_intern_add(s->stacks, stack, 2 * n * sizeof(*stack));
}

bool vt_pathsamples_add(struct vt_pathsamples *s, uint64_t event, uint32_t place, uint32_t stack,
			double executions)
{
	const struct vt_pathquestion q = {
		.event = event, .place = place, .other = VT_PATHPLACE_NONE, .stack = stack};

	s->samples++;
	s->untold += stack == 0;
	s->unmapped += stack && place == VT_PATHPLACE_NONE;
	if (!stack || place == VT_PATHPLACE_NONE)
		return true;
	return add_question(s, &q, stack, executions);
}

int vt_pathsamples_feed(void *samples, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_pathsamples *s = samples;

	if (vt_meta_f64(rec, "vsim.ways", &s->ways) && !(s->ways >= 2 && s->ways <= 1e6))
		s->ways = 2;
	if (rec->kind != VT_SAMPLE)
		return 0;
	return take_sample(s, rec) ? 0 : vt_error_nomem(err);
}

uint32_t vt_pathsamples_longest(const struct vt_pathsamples *s)
{
	uint32_t longest = 0;
	size_t i;

	for (i = 0; i < s->questions.count; i++) {
		const struct vt_pathquestion *q = vt_hash_at(&s->questions, i);

		longest = q->branches > longest ? q->branches : longest;
	}
	return longest;
}

size_t vt_pathsamples_stack(const struct vt_pathsamples *s, uint32_t stack, uint32_t *places)
{
	size_t size = vt_intern_size(s->stacks, stack);

	memcpy(places, vt_intern_get(s->stacks, stack), size);
	return size / sizeof(*places);
}

bool vt_pathsamples_elsewhere(const struct vt_pathsamples *s, const struct vt_images *images,
			      const struct vt_pathplaces *other, const struct vt_images *others,
			      uint64_t *n)
{
	bool *there = calloc(vt_images_count(images) + 1, sizeof(*there));
	bool *looked_at = calloc(vt_images_count(others) + 1, sizeof(*looked_at));
	uint32_t image;
	size_t i;

	*n = 0;
	for (i = 0; there && looked_at && i < other->places.count; i++) {
		const struct vt_pathplace *p = vt_pathplaces_get(other, (uint32_t)i);

		if (!looked_at[p->image] && vt_same_image(others, p->image, images, &image))
			there[image] = true;
		looked_at[p->image] = true;
	}
	for (i = 0; there && looked_at && i < s->questions.count; i++) {
		const struct vt_pathquestion *q = vt_hash_at(&s->questions, i);

		if (!there[vt_pathplaces_get(s->places, q->place)->image])
			*n += q->count;
	}
	free(there);
	free(looked_at);
	return there && looked_at;
}
