/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/gather.h"

#include <stdlib.h>
#include <string.h>

#include "merge/tally.h"

/* Of the facts that an exported stream tells of its sections. */
#define OWN_PREFIX "vdb."

struct fact {
	uint64_t key;
	uint32_t value;
	bool unfit; /* told twice, or no text, or of a database */
};

/* A place, by the stream's ids. */
struct counted {
	uint64_t image;
	const struct vt_profile_event *event;
	struct vt_db_place place;
};

struct gather {
	struct vt_intern *strings;
	struct vt_stream_tally tally;
	struct vt_hash facts;
	uint64_t first; /* time of any record */
	uint64_t last;
	uint64_t pid; /* of the first sample or thread */
	/* The batch's. */
	struct vt_db_event *batch_events;
	struct vt_db_image *batch_images;
	size_t nimages;
	struct vt_db_profile *profiles;
	size_t nprofiles;
	struct vt_db_loss *batch_losses;
	struct vt_db_gap *batch_gaps;
	struct vt_db_meta *metas;
};

struct gather *gather_new(void)
{
	struct gather *g = calloc(1, sizeof(*g));
	bool ok;

	if (!g)
		return NULL;
	vt_hash_init(&g->facts, sizeof(struct fact), sizeof(uint64_t));
	g->first = UINT64_MAX;
	g->strings = vt_intern_new();
	ok = vt_tally_init(&g->tally, g->strings);
	if (g->strings && ok)
		return g;
	gather_free(g);
	return NULL;
}

void gather_free(struct gather *g)
{
	size_t i;

	if (!g)
		return;
	vt_hash_fini(&g->facts);
	vt_tally_fini(&g->tally);
	for (i = 0; i < g->nprofiles; i++)
		vt_db_places_fini(&g->profiles[i].places);
	free(g->batch_events);
	free(g->batch_images);
	free(g->profiles);
	free(g->batch_losses);
	free(g->batch_gaps);
	free(g->metas);
	vt_intern_free(g->strings);
	free(g);
}

/* ---- records ---- */

static struct vt_bytes bytes_of(const struct gather *g, uint32_t string)
{
	return (struct vt_bytes){(const uint8_t *)vt_intern_get(g->strings, string),
				 vt_intern_size(g->strings, string)};
}

static uint32_t string_of(struct gather *g, const struct vt_record *rec, unsigned field)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	return vt_intern_add(g->strings, b.data, b.size);
}

static bool feed_meta(struct gather *g, const struct vt_record *rec)
{
	uint64_t key = string_of(g, rec, VT_META_KEY);
	uint32_t value = string_of(g, rec, VT_META_VALUE);
	bool added;
	struct fact *f = vt_hash_add(&g->facts, &key, &added);

	if (!f || key == UINT32_MAX || value == UINT32_MAX)
		return false;
	f->unfit = strncmp(vt_intern_get(g->strings, (uint32_t)key), OWN_PREFIX,
			   strlen(OWN_PREFIX)) == 0 ||
		   !added || value == 0 || vt_record_bytes(rec, VT_META_DATA).size;
	f->value = value;
	return true;
}

static void mark(struct gather *g, uint64_t time, uint64_t pid)
{
	if (time < g->first)
		g->first = time;
	if (time > g->last)
		g->last = time;
	if (!g->pid)
		g->pid = pid;
}

static void feed_mark(struct gather *g, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_SAMPLE:
		mark(g, vt_record_u64(rec, VT_SAMPLE_TIME), vt_record_u64(rec, VT_SAMPLE_PID));
		break;
	case VT_THREAD:
		mark(g, vt_record_u64(rec, VT_THREAD_TIME), vt_record_u64(rec, VT_THREAD_PID));
		break;
	case VT_MAP:
		mark(g, vt_record_u64(rec, VT_MAP_TIME), vt_record_u64(rec, VT_MAP_PID));
		break;
	default:
		break;
	}
}

int gather_feed(struct gather *g, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};

	for (; rec.row < first + count; rec.row++)
		if (b->kind != VT_META)
			feed_mark(g, &rec);
		else if (!feed_meta(g, &rec))
			return vt_error_nomem(err);
	return vt_tally_feed(&g->tally, b, first, count, err);
}

/* ---- the batch ---- */

static bool make_events(struct gather *g, struct vt_db_batch *b)
{
	const struct vt_hash *events = &g->tally.events;
	size_t i;

	g->batch_events = calloc(events->count + 1, sizeof(*g->batch_events));
	for (i = 0; g->batch_events && i < events->count; i++) {
		const struct vt_tally_event *e = vt_hash_at(events, i);
		struct vt_db_event *to = &g->batch_events[i];

		to->name = bytes_of(g, e->name);
		to->unit = bytes_of(g, e->unit);
		memcpy(to->fields, e->row, sizeof(to->fields));
	}
	b->events = g->batch_events;
	b->nevents = events->count;
	return g->batch_events;
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
static struct counted *sort_places(const struct vt_profile *p)
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
static uint32_t add_image(struct gather *g, uint64_t id)
{
	struct vt_tally_image i;

	if (id == VT_UNMAPPED_IMAGE)
		return VT_DB_UNMAPPED;
	i = vt_tally_image(&g->tally, id);
	g->batch_images[g->nimages] = (struct vt_db_image){
		bytes_of(g, i.path), bytes_of(g, i.buildid), i.type, i.machine};
	return (uint32_t)g->nimages++;
}

static int make_profiles(struct gather *g, struct vt_db_batch *b, struct vt_error *err)
{
	size_t n = vt_profile_nplaces(g->tally.profile), i;
	struct counted *sorted = sort_places(g->tally.profile);
	uint32_t image = VT_DB_UNMAPPED;
	int code = 0;

	g->profiles = calloc(n + 1, sizeof(*g->profiles));
	g->batch_images = calloc(n + 1, sizeof(*g->batch_images));
	if (!sorted || !g->profiles || !g->batch_images)
		code = vt_error_nomem(err);
	for (i = 0; i < n && code == 0; i++) {
		const struct counted *c = &sorted[i], *before = i ? c - 1 : NULL;
		bool new_image = !before || before->image != c->image;

		if (new_image)
			image = add_image(g, c->image);
		if (new_image || before->event != c->event)
			g->profiles[g->nprofiles++] = (struct vt_db_profile){
				.image = image,
				.event = (uint32_t)vt_tally_event_index(&g->tally, c->event->kind,
									c->event->id)};
		code = vt_db_places_add(&g->profiles[g->nprofiles - 1].places, &c->place, err);
	}
	free(sorted);
	b->images = g->batch_images;
	b->nimages = g->nimages;
	b->profiles = g->profiles;
	b->nprofiles = g->nprofiles;
	return code;
}

static bool make_losses(struct gather *g, struct vt_db_batch *b)
{
	const struct vt_stream_tally *t = &g->tally;
	size_t i;

	g->batch_losses = calloc(t->losses.count + 1, sizeof(*g->batch_losses));
	g->batch_gaps = calloc(t->gaps.count + 1, sizeof(*g->batch_gaps));
	if (!g->batch_losses || !g->batch_gaps)
		return false;
	for (i = 0; i < t->losses.count; i++) {
		const struct vt_tally_loss *l = vt_hash_at(&t->losses, i);

		g->batch_losses[i] = (struct vt_db_loss){
			(uint32_t)vt_tally_event_index(t, VT_PROFILE_EVENT, l->event),
			bytes_of(g, (uint32_t)l->source), l->count};
	}
	for (i = 0; i < t->gaps.count; i++) {
		const struct vt_tally_gap *gap = vt_hash_at(&t->gaps, i);

		g->batch_gaps[i] =
			(struct vt_db_gap){bytes_of(g, gap->reason), bytes_of(g, gap->input),
					   gap->bytes, gap->records};
	}
	b->losses = g->batch_losses;
	b->nlosses = t->losses.count;
	b->gaps = g->batch_gaps;
	b->ngaps = t->gaps.count;
	return true;
}

static bool make_metas(struct gather *g, struct vt_db_batch *b)
{
	size_t i;

	g->metas = calloc(g->facts.count + 1, sizeof(*g->metas));
	for (i = 0; g->metas && i < g->facts.count; i++) {
		const struct fact *f = vt_hash_at(&g->facts, i);

		if (!f->unfit)
			g->metas[b->nmetas++] = (struct vt_db_meta){bytes_of(g, (uint32_t)f->key),
								    bytes_of(g, f->value)};
	}
	b->metas = g->metas;
	return g->metas;
}

int gather_finish(struct gather *g, struct vt_db_batch *b, struct vt_error *err)
{
	if (vt_tally_finish(&g->tally, err) < 0)
		return -(int)err->code;
	b->nmetas = 0;
	if (!make_events(g, b) || !make_losses(g, b) || !make_metas(g, b))
		return vt_error_nomem(err);
	b->marks[0] = g->first == UINT64_MAX ? 0 : g->first;
	b->marks[1] = g->last;
	b->marks[2] = g->pid;
	return make_profiles(g, b, err);
}

uint64_t gather_bad(const struct gather *g)
{
	return vt_profile_bad(g->tally.profile);
}
