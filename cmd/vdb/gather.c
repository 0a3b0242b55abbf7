/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "profile/profile.h"

/* Of the facts that an exported stream tells of its sections. */
#define OWN_PREFIX "vdb."

/* Strings are numbers of one pool, so that equal keys have equal bytes. */
struct own_event {
	uint64_t id;
	struct vt_db_event event;
	uint32_t index;
};

struct own_image {
	uint64_t id;
	struct vt_db_image image;
	uint32_t index; /* of the batch, plus 1, if anything lies there */
};

struct place {
	uint64_t image; /* the stream's id */
	uint64_t event;
	uint64_t offset;
	uint64_t samples;
	uint64_t period;
};

struct loss {
	uint64_t event;
	uint64_t source;
	uint64_t count;
};

struct gap {
	uint32_t reason;
	uint32_t input;
	uint64_t bytes;
	uint64_t records;
};

struct fact {
	uint64_t key;
	uint32_t value;
	bool unfit; /* told twice, or no text, or of a database */
};

struct gather {
	struct vt_intern *strings;
	struct vt_profile *profile;
	struct vt_hash events;
	struct vt_hash images;
	struct vt_hash places;
	struct vt_hash losses;
	struct vt_hash gaps;
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

	if (!g)
		return NULL;
	vt_hash_init(&g->events, sizeof(struct own_event), sizeof(uint64_t));
	vt_hash_init(&g->images, sizeof(struct own_image), sizeof(uint64_t));
	vt_hash_init(&g->places, sizeof(struct place), offsetof(struct place, samples));
	vt_hash_init(&g->losses, sizeof(struct loss), offsetof(struct loss, count));
	vt_hash_init(&g->gaps, sizeof(struct gap), offsetof(struct gap, bytes));
	vt_hash_init(&g->facts, sizeof(struct fact), sizeof(uint64_t));
	g->first = UINT64_MAX;
	g->strings = vt_intern_new();
	g->profile = vt_profile_new(NULL);
	if (g->strings && g->profile)
		return g;
	gather_free(g);
	return NULL;
}

void gather_free(struct gather *g)
{
	size_t i;

	if (!g)
		return;
	vt_hash_fini(&g->events);
	vt_hash_fini(&g->images);
	vt_hash_fini(&g->places);
	vt_hash_fini(&g->losses);
	vt_hash_fini(&g->gaps);
	vt_hash_fini(&g->facts);
	vt_profile_free(g->profile);
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

static uint32_t string_of(struct gather *g, const struct vt_record *rec, unsigned field)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	return vt_intern_add(g->strings, b.data, b.size);
}

/* A string of the pool; UINT32_MAX, for which memory ran out, makes *ok false. */
static struct vt_bytes bytes_of(const struct gather *g, uint32_t string, bool *ok)
{
	if (string == UINT32_MAX) {
		*ok = false;
		string = 0;
	}
	return (struct vt_bytes){(const uint8_t *)vt_intern_get(g->strings, string),
				 vt_intern_size(g->strings, string)};
}

static bool feed_event(struct gather *g, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct own_event *e = vt_hash_add(&g->events, &id, NULL);
	bool ok = true;
	unsigned f;

	if (!e)
		return false;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (f != VT_EVENT_ID && f != VT_EVENT_NAME && f != VT_EVENT_UNIT)
			e->event.fields[f] = vt_record_u64(rec, f);
	e->event.name = bytes_of(g, string_of(g, rec, VT_EVENT_NAME), &ok);
	e->event.unit = bytes_of(g, string_of(g, rec, VT_EVENT_UNIT), &ok);
	return ok;
}

static bool feed_image(struct gather *g, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct own_image *i = vt_hash_add(&g->images, &id, NULL);
	bool ok = true;

	if (!i)
		return false;
	i->image.type = vt_record_u64(rec, VT_IMAGE_TYPE);
	i->image.machine = vt_record_u64(rec, VT_IMAGE_MACHINE);
	i->image.path = bytes_of(g, string_of(g, rec, VT_IMAGE_PATH), &ok);
	i->image.buildid = bytes_of(g, string_of(g, rec, VT_IMAGE_BUILDID), &ok);
	return ok;
}

static bool feed_lost(struct gather *g, const struct vt_record *rec)
{
	struct loss key = {vt_record_u64(rec, VT_LOST_EVENT), string_of(g, rec, VT_LOST_SOURCE), 0};
	struct loss *l = vt_hash_add(&g->losses, &key, NULL);

	if (!l || key.source == UINT32_MAX)
		return false;
	l->count += vt_record_u64(rec, VT_LOST_COUNT);
	return true;
}

static bool feed_gap(struct gather *g, const struct vt_record *rec)
{
	struct gap key = {string_of(g, rec, VT_GAP_REASON), string_of(g, rec, VT_GAP_INPUT), 0, 0};
	struct gap *gap = vt_hash_add(&g->gaps, &key, NULL);

	if (!gap || key.reason == UINT32_MAX || key.input == UINT32_MAX)
		return false;
	gap->bytes += vt_record_u64(rec, VT_GAP_BYTES);
	gap->records += vt_record_u64(rec, VT_GAP_RECORDS);
	return true;
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

static bool feed_mark(struct gather *g, const struct vt_record *rec)
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
	return true;
}

int gather_feed(struct gather *g, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	bool (*feed)(struct gather * g, const struct vt_record *rec) =
		b->kind == VT_EVENT   ? feed_event
		: b->kind == VT_IMAGE ? feed_image
		: b->kind == VT_LOST  ? feed_lost
		: b->kind == VT_GAP   ? feed_gap
		: b->kind == VT_META  ? feed_meta
				      : feed_mark;
	struct vt_record rec = {b, b->kind, first};

	for (; rec.row < first + count; rec.row++)
		if (!feed(g, &rec))
			return vt_error_nomem(err);
	return vt_profile_feed(g->profile, b, first, count, err);
}

/* ---- the batch ---- */

/* The event that a stream calls `id`; one that it never declared gets a name. */
static struct own_event *event_of(struct gather *g, uint64_t id)
{
	bool added, ok = true;
	struct own_event *e = vt_hash_add(&g->events, &id, &added);
	char name[40];

	if (!e || !added)
		return e;
	snprintf(name, sizeof(name), "event%" PRIu64, id);
	e->event.name = bytes_of(g, vt_intern_str(g->strings, name), &ok);
	e->event.unit = bytes_of(g, 0, &ok);
	return ok ? e : NULL;
}

/* Executed code is counted as an event that the stream did not declare. */
static bool declare_counted(struct gather *g, const struct vt_profile_event *e)
{
	uint64_t id = e->id;
	struct own_event *own;
	bool added, ok = true;

	if (id != VT_PROFILE_EXEC_EVENT)
		return event_of(g, id) != NULL;
	own = vt_hash_add(&g->events, &id, &added);
	if (!own || !added)
		return own != NULL;
	own->event.name = bytes_of(g, vt_intern_str(g->strings, e->name), &ok);
	own->event.unit = bytes_of(g, vt_intern_str(g->strings, e->unit), &ok);
	own->event.fields[VT_EVENT_POLICY] = e->policy;
	own->event.fields[VT_EVENT_PERIOD] = e->sampling;
	return ok;
}

/* Anonymous code of different processes is not told apart: a COUNT record names no process. */
static bool add_place(struct gather *g, const struct vt_place *p)
{
	const struct vt_profile_event *e = vt_profile_event(g->profile, p->event);
	struct place key = {.image = p->image, .event = e->id, .offset = p->offset};
	struct place *place = vt_hash_add(&g->places, &key, NULL);

	if (!place)
		return false;
	place->samples += p->samples;
	place->period += p->period;
	return true;
}

static bool make_events(struct gather *g, struct vt_db_batch *b)
{
	size_t i;

	g->batch_events = calloc(g->events.count + 1, sizeof(*g->batch_events));
	for (i = 0; g->batch_events && i < g->events.count; i++) {
		struct own_event *e = vt_hash_at(&g->events, i);

		e->index = (uint32_t)i;
		g->batch_events[i] = e->event;
	}
	b->events = g->batch_events;
	b->nevents = g->events.count;
	return g->batch_events;
}

/* The batch's index of an image in which something lies; one that was not declared has no name. */
static bool image_index(struct gather *g, uint64_t id, uint32_t *index)
{
	bool added, ok = true;
	struct own_image *i;

	*index = VT_DB_UNMAPPED;
	if (id == VT_UNMAPPED_IMAGE)
		return true;
	i = vt_hash_add(&g->images, &id, &added);
	if (!i)
		return false;
	if (added) {
		i->image.path = i->image.buildid = bytes_of(g, 0, &ok);
		i->image.type = VT_IMAGE_FILE;
	}
	if (!i->index) {
		g->batch_images[g->nimages] = i->image;
		i->index = (uint32_t)++g->nimages;
	}
	*index = i->index - 1;
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *const *x = a, *const *y = b;

	if ((*x)->image != (*y)->image)
		return (*x)->image < (*y)->image ? -1 : 1;
	if ((*x)->event != (*y)->event)
		return (*x)->event < (*y)->event ? -1 : 1;
	return ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/* A new profile where the image or the event is another than that of the place before. */
static int put_place(struct gather *g, const struct place *p, const struct place *before,
		     struct vt_error *err)
{
	const struct vt_db_place place = {p->offset, p->samples, p->period};
	struct vt_db_profile *profile;

	if (!before || before->image != p->image || before->event != p->event) {
		const struct own_event *e = vt_hash_find(&g->events, &p->event);
		uint32_t image;

		if (!e || !image_index(g, p->image, &image))
			return vt_error_nomem(err);
		g->profiles[g->nprofiles++] =
			(struct vt_db_profile){.image = image, .event = e->index};
	}
	profile = &g->profiles[g->nprofiles - 1];
	return vt_db_places_add(&profile->places, &place, err);
}

static int make_profiles(struct gather *g, struct vt_db_batch *b, struct vt_error *err)
{
	size_t n = g->places.count;
	struct place **sorted = calloc(n + 1, sizeof(struct place *));
	int code = 0;
	size_t i;

	g->profiles = calloc(n + 1, sizeof(*g->profiles));
	g->batch_images = calloc(n + 1, sizeof(*g->batch_images));
	if (!sorted || !g->profiles || !g->batch_images) {
		free(sorted);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		sorted[i] = vt_hash_at(&g->places, i);
	qsort(sorted, n, sizeof(struct place *), compare_places);
	for (i = 0; i < n && code == 0; i++)
		code = put_place(g, sorted[i], i ? sorted[i - 1] : NULL, err);
	free(sorted);
	b->images = g->batch_images;
	b->nimages = g->nimages;
	b->profiles = g->profiles;
	b->nprofiles = g->nprofiles;
	return code;
}

static bool make_losses(struct gather *g, struct vt_db_batch *b)
{
	bool ok = true;
	size_t i;

	g->batch_losses = calloc(g->losses.count + 1, sizeof(*g->batch_losses));
	g->batch_gaps = calloc(g->gaps.count + 1, sizeof(*g->batch_gaps));
	if (!g->batch_losses || !g->batch_gaps)
		return false;
	for (i = 0; i < g->losses.count; i++) {
		const struct loss *l = vt_hash_at(&g->losses, i);
		const struct own_event *e = vt_hash_find(&g->events, &l->event);

		g->batch_losses[i] = (struct vt_db_loss){
			e ? e->index : 0, bytes_of(g, (uint32_t)l->source, &ok), l->count};
	}
	for (i = 0; i < g->gaps.count; i++) {
		const struct gap *gap = vt_hash_at(&g->gaps, i);

		g->batch_gaps[i] =
			(struct vt_db_gap){bytes_of(g, gap->reason, &ok),
					   bytes_of(g, gap->input, &ok), gap->bytes, gap->records};
	}
	b->losses = g->batch_losses;
	b->nlosses = g->losses.count;
	b->gaps = g->batch_gaps;
	b->ngaps = g->gaps.count;
	return true;
}

static bool make_metas(struct gather *g, struct vt_db_batch *b)
{
	bool ok = true;
	size_t i;

	g->metas = calloc(g->facts.count + 1, sizeof(*g->metas));
	for (i = 0; g->metas && i < g->facts.count; i++) {
		const struct fact *f = vt_hash_at(&g->facts, i);

		if (!f->unfit)
			g->metas[b->nmetas++] = (struct vt_db_meta){
				bytes_of(g, (uint32_t)f->key, &ok), bytes_of(g, f->value, &ok)};
	}
	b->metas = g->metas;
	return g->metas;
}

int gather_finish(struct gather *g, struct vt_db_batch *b, struct vt_error *err)
{
	bool ok = true;
	size_t i;

	if (vt_profile_finish(g->profile, err) < 0)
		return -(int)err->code;
	for (i = 0; i < vt_profile_nevents(g->profile) && ok; i++)
		ok = declare_counted(g, vt_profile_event(g->profile, i));
	for (i = 0; i < g->losses.count && ok; i++)
		ok = event_of(g, ((const struct loss *)vt_hash_at(&g->losses, i))->event);
	for (i = 0; i < vt_profile_nplaces(g->profile) && ok; i++)
		ok = add_place(g, vt_profile_place(g->profile, i));
	b->nmetas = 0;
	ok = ok && make_events(g, b) && make_losses(g, b) && make_metas(g, b);
	if (!ok)
		return vt_error_nomem(err);
	b->marks[0] = g->first == UINT64_MAX ? 0 : g->first;
	b->marks[1] = g->last;
	b->marks[2] = g->pid;
	return make_profiles(g, b, err);
}

uint64_t gather_samples(const struct vt_db_batch *b)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < b->nprofiles; i++)
		for (k = 0; k < b->profiles[i].places.count; k++)
			sum += b->profiles[i].places.items[k].samples;
	return sum;
}

uint64_t gather_bad(const struct gather *g)
{
	return vt_profile_loss(g->profile)->bad;
}
