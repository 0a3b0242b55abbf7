/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/batch.h"

#include <stdlib.h>
#include <string.h>

/* A place, by the stream's ids. */
struct counted {
	uint64_t image;
	const struct vt_profile_event *event;
	struct vt_db_place place;
};

struct vt_bytes batch_text(const struct vt_intern *strings, uint32_t string)
{
	return (struct vt_bytes){(const uint8_t *)vt_intern_get(strings, string),
				 vt_intern_size(strings, string)};
}

static bool fill_batch_events(struct batch_arrays *a, const struct vt_stream_tally *t,
			      struct vt_db_batch *b)
{
	const struct vt_hash *events = &t->events;
	size_t i;

	a->events = calloc(events->count + 1, sizeof(*a->events));
	for (i = 0; a->events && i < events->count; i++) {
		const struct vt_tally_event *e = vt_hash_at(events, i);
		struct vt_db_event *to = &a->events[i];

		to->name = batch_text(t->strings, e->name);
		to->unit = batch_text(t->strings, e->unit);
		memcpy(to->fields, e->row, sizeof(to->fields));
	}
	b->events = a->events;
	b->nevents = events->count;
	return a->events;
}

static int compare_counted(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->event->kind != y->event->kind)
		return x->event->kind < y->event->kind ? -1 : 1;
	if (x->event->id != y->event->id)
		return x->event->id < y->event->id ? -1 : 1;
	return (x->place.offset > y->place.offset) - (x->place.offset < y->place.offset);
}

/*
 * The places in the order of compare_counted(), owned by the caller; NULL: no memory.  Anonymous
 * code of different processes is not told apart: a COUNT record names no process.
 */
static struct counted *sort_counted_places(const struct vt_profile *p)
{
	size_t n = vt_profile_nplaces(p), i;
	struct counted *sorted = calloc(n + 1, sizeof(*sorted));

	for (i = 0; sorted && i < n; i++) {
		const struct vt_place *at = vt_profile_place(p, i);

		sorted[i] = (struct counted){at->image,
					     vt_profile_event(p, at->event),
					     {at->offset, at->samples, at->period}};
	}
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), compare_counted);
	return sorted;
}

/* Gives the image of the next profile a place in the batch, behind the one before. */
static uint32_t add_batch_image(struct batch_arrays *a, const struct vt_stream_tally *t,
				uint64_t id)
{
	struct vt_tally_image i;

	if (id == VT_UNMAPPED_IMAGE)
		return VT_DB_UNMAPPED;
	i = vt_tally_image(t, id);
	a->images[a->nimages] =
		(struct vt_db_image){batch_text(t->strings, i.path),
				     batch_text(t->strings, i.buildid), i.type, i.machine};
	return (uint32_t)a->nimages++;
}

static int fill_batch_profiles(struct batch_arrays *a, const struct vt_stream_tally *t,
			       struct vt_db_batch *b, struct vt_error *err)
{
	size_t n = vt_profile_nplaces(t->profile), i;
	struct counted *sorted = sort_counted_places(t->profile);
	uint32_t image = VT_DB_UNMAPPED;
	int code = 0;

	a->profiles = calloc(n + 1, sizeof(*a->profiles));
	a->images = calloc(n + 1, sizeof(*a->images));
	if (!sorted || !a->profiles || !a->images)
		code = vt_error_nomem(err);
	for (i = 0; i < n && code == 0; i++) {
		const struct counted *c = &sorted[i], *before = i ? c - 1 : NULL;
		bool new_image = !before || before->image != c->image;

		if (new_image)
			image = add_batch_image(a, t, c->image);
		if (new_image || before->event != c->event)
			a->profiles[a->nprofiles++] =
				(struct vt_db_profile){.image = image,
						       .event = (uint32_t)vt_tally_event_index(
							       t, c->event->kind, c->event->id)};
		code = vt_db_places_add(&a->profiles[a->nprofiles - 1].places, &c->place, err);
	}
	free(sorted);
	b->images = a->images;
	b->nimages = a->nimages;
	b->profiles = a->profiles;
	b->nprofiles = a->nprofiles;
	return code;
}

static bool fill_batch_losses(struct batch_arrays *a, const struct vt_stream_tally *t,
			      struct vt_db_batch *b)
{
	size_t i;

	a->losses = calloc(t->losses.count + 1, sizeof(*a->losses));
	a->gaps = calloc(t->gaps.count + 1, sizeof(*a->gaps));
	if (!a->losses || !a->gaps)
		return false;
	for (i = 0; i < t->losses.count; i++) {
		const struct vt_tally_loss *l = vt_hash_at(&t->losses, i);

		a->losses[i] = (struct vt_db_loss){
			(uint32_t)vt_tally_event_index(t, VT_PROFILE_EVENT, l->event),
			batch_text(t->strings, (uint32_t)l->source), l->count};
	}
	for (i = 0; i < t->gaps.count; i++) {
		const struct vt_tally_gap *gap = vt_hash_at(&t->gaps, i);

		a->gaps[i] = (struct vt_db_gap){batch_text(t->strings, gap->reason),
						batch_text(t->strings, gap->input), gap->bytes,
						gap->records};
	}
	b->losses = a->losses;
	b->nlosses = t->losses.count;
	b->gaps = a->gaps;
	b->ngaps = t->gaps.count;
	return true;
}

int batch_fill(struct batch_arrays *a, const struct vt_stream_tally *t, struct vt_db_batch *b,
	       struct vt_error *err)
{
	if (!fill_batch_events(a, t, b) || !fill_batch_losses(a, t, b))
		return vt_error_nomem(err);
	return fill_batch_profiles(a, t, b, err);
}

void batch_arrays_fini(struct batch_arrays *a)
{
	size_t i;

	for (i = 0; i < a->nprofiles; i++)
		vt_db_places_fini(&a->profiles[i].places);
	free(a->events);
	free(a->images);
	free(a->profiles);
	free(a->losses);
	free(a->gaps);
}
