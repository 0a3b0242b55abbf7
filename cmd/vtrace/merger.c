/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/merger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile.h"
#include "base/hash.h"
#include "base/intern.h"
#include "value/hotprofile.h"
#include "value/hotrecord.h"

/* Strings are numbers of one pool, so that equal keys have equal bytes. */
struct event {
	uint64_t policy;
	uint32_t name;
	uint32_t unit;
	uint64_t row[VT_EVENT_NFIELDS]; /* the numbers on which all streams agree, else 0 */
	uint32_t id;			/* in the stream that is written */
	bool known;			/* `row` is set */
};

struct image {
	uint32_t buildid; /* if there is one, type and path are no part of the key: 0 */
	uint32_t type_key;
	uint64_t path_key;
	uint32_t path; /* of several paths of one build-id the first in the alphabet */
	uint32_t id;
	uint64_t type;
	uint64_t machine;
};

struct place {
	uint64_t offset;
	uint32_t image; /* index, or VT_UNMAPPED_IMAGE */
	uint32_t event; /* index */
	uint64_t samples;
	uint64_t period;
};

struct loss {
	uint64_t event; /* index, or the stream's own id */
	uint64_t source;
	uint64_t count;
};

struct gap {
	uint32_t reason;
	uint32_t input;
	uint64_t bytes;
	uint64_t records;
};

/* An EVENT, IMAGE or LOST record of the stream at hand, kept until all its names are known. */
struct declared_event {
	uint64_t id;
	struct event event;
};

struct declared_image {
	uint64_t id;
	struct image image;
};

struct merger {
	struct vt_intern *strings;
	struct vt_hash events;
	struct vt_hash images;
	struct vt_hash places;
	struct vt_hash losses;
	struct vt_hash gaps;
	struct vt_hotprofile *hots; /* of all streams */
	struct vt_profile *profile; /* of the stream at hand, as the next three */
	struct vt_hash own_events;
	struct vt_hash own_images;
	struct vt_hash own_losses; /* struct loss, with the stream's own event ids */
	uint64_t bad;
};

static int no_memory(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory");
}

struct merger *merger_new(uint64_t seed)
{
	struct merger *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	vt_hash_init(&m->events, sizeof(struct event), offsetof(struct event, row));
	vt_hash_init(&m->images, sizeof(struct image), offsetof(struct image, path));
	vt_hash_init(&m->places, sizeof(struct place), offsetof(struct place, samples));
	vt_hash_init(&m->losses, sizeof(struct loss), offsetof(struct loss, count));
	vt_hash_init(&m->gaps, sizeof(struct gap), offsetof(struct gap, bytes));
	vt_hash_init(&m->own_events, sizeof(struct declared_event), sizeof(uint64_t));
	vt_hash_init(&m->own_images, sizeof(struct declared_image), sizeof(uint64_t));
	vt_hash_init(&m->own_losses, sizeof(struct loss), offsetof(struct loss, count));
	m->strings = vt_intern_new();
	m->hots = vt_hotprofile_new(seed);
	if (!m->strings || !m->hots) {
		merger_free(m);
		return NULL;
	}
	return m;
}

void merger_free(struct merger *m)
{
	if (!m)
		return;
	vt_hash_fini(&m->events);
	vt_hash_fini(&m->images);
	vt_hash_fini(&m->places);
	vt_hash_fini(&m->losses);
	vt_hash_fini(&m->gaps);
	vt_hash_fini(&m->own_events);
	vt_hash_fini(&m->own_images);
	vt_hash_fini(&m->own_losses);
	vt_profile_free(m->profile);
	vt_hotprofile_free(m->hots);
	vt_intern_free(m->strings);
	free(m);
}

/* ---- one stream ---- */

int merger_begin(struct merger *m, struct vt_error *err)
{
	vt_profile_free(m->profile);
	vt_hash_clear(&m->own_events);
	vt_hash_clear(&m->own_images);
	vt_hash_clear(&m->own_losses);
	m->profile = vt_profile_new(NULL);
	return m->profile ? 0 : no_memory(err);
}

static uint32_t string_of(struct merger *m, const struct vt_record *rec, unsigned field)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	return vt_intern_add(m->strings, b.data, b.size);
}

static bool feed_event(struct merger *m, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct declared_event *d = vt_hash_add(&m->own_events, &id, NULL);
	unsigned f;

	if (!d)
		return false;
	d->event.policy = vt_record_u64(rec, VT_EVENT_POLICY);
	d->event.name = string_of(m, rec, VT_EVENT_NAME);
	d->event.unit = string_of(m, rec, VT_EVENT_UNIT);
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (f != VT_EVENT_ID && f != VT_EVENT_NAME && f != VT_EVENT_UNIT)
			d->event.row[f] = vt_record_u64(rec, f);
	d->event.known = true;
	return d->event.name != UINT32_MAX && d->event.unit != UINT32_MAX;
}

static bool feed_image(struct merger *m, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct declared_image *d = vt_hash_add(&m->own_images, &id, NULL);
	struct image *i;

	if (!d)
		return false;
	i = &d->image;
	i->buildid = string_of(m, rec, VT_IMAGE_BUILDID);
	i->path = string_of(m, rec, VT_IMAGE_PATH);
	i->type = vt_record_u64(rec, VT_IMAGE_TYPE);
	i->machine = vt_record_u64(rec, VT_IMAGE_MACHINE);
	i->path_key = i->buildid ? 0 : i->path;
	i->type_key = i->buildid ? 0 : (uint32_t)i->type;
	return i->buildid != UINT32_MAX && i->path != UINT32_MAX;
}

static bool feed_lost(struct merger *m, const struct vt_record *rec)
{
	struct loss key = {vt_record_u64(rec, VT_LOST_EVENT), string_of(m, rec, VT_LOST_SOURCE), 0};
	struct loss *l = vt_hash_add(&m->own_losses, &key, NULL);

	if (!l || key.source == UINT32_MAX)
		return false;
	l->count += vt_record_u64(rec, VT_LOST_COUNT);
	return true;
}

static bool feed_gap(struct merger *m, const struct vt_record *rec)
{
	struct gap key = {string_of(m, rec, VT_GAP_REASON), string_of(m, rec, VT_GAP_INPUT), 0, 0};
	struct gap *g = vt_hash_add(&m->gaps, &key, NULL);

	if (!g || key.reason == UINT32_MAX || key.input == UINT32_MAX)
		return false;
	g->bytes += vt_record_u64(rec, VT_GAP_BYTES);
	g->records += vt_record_u64(rec, VT_GAP_RECORDS);
	return true;
}

int merger_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct merger *m = arg;
	bool (*feed)(struct merger * m, const struct vt_record *rec) =
		b->kind == VT_EVENT   ? feed_event
		: b->kind == VT_IMAGE ? feed_image
		: b->kind == VT_LOST  ? feed_lost
		: b->kind == VT_GAP   ? feed_gap
				      : NULL;
	struct vt_record rec = {b, b->kind, first};

	for (; feed && rec.row < first + count; rec.row++)
		if (!feed(m, &rec))
			return no_memory(err);
	if (vt_hotprofile_feed(m->hots, b, first, count, err) < 0)
		return -(int)err->code;
	return vt_profile_feed(m->profile, b, first, count, err);
}

/* ---- joining it to the others ---- */

static uint32_t index_of(const struct vt_hash *h, const void *entry)
{
	return (uint32_t)(((const uint8_t *)entry - h->entries) / (ptrdiff_t)h->entry_size);
}

/* The index of the event that a stream calls `id`; one that it never declared has a made-up name.
 */
static bool join_event(struct merger *m, uint64_t id, uint32_t *index)
{
	const struct declared_event *d = vt_hash_find(&m->own_events, &id);
	struct event made_up = {.policy = VT_POLICY_UNKNOWN};
	const struct event *e = d ? &d->event : &made_up;
	struct event *joined;
	char name[40];
	unsigned f;

	if (!d) {
		snprintf(name, sizeof(name), "event%" PRIu64, id);
		made_up.name = vt_intern_str(m->strings, name);
	}
	joined = vt_hash_add(&m->events, e, NULL);
	if (!joined || e->name == UINT32_MAX)
		return false;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (!joined->known || joined->row[f] != e->row[f])
			joined->row[f] = joined->known ? 0 : e->row[f];
	joined->known = true;
	*index = index_of(&m->events, joined);
	return true;
}

static bool add_image(struct merger *m, const struct image *i, uint32_t *index)
{
	struct image *joined;
	bool added;

	joined = vt_hash_add(&m->images, i, &added);
	if (!joined)
		return false;
	if (added || strcmp(vt_intern_get(m->strings, i->path),
			    vt_intern_get(m->strings, joined->path)) < 0) {
		joined->path = i->path;
		joined->type = i->type;
		joined->machine = i->machine;
	}
	*index = index_of(&m->images, joined);
	return true;
}

static bool join_image(struct merger *m, uint64_t id, uint32_t *index)
{
	const struct declared_image *d = vt_hash_find(&m->own_images, &id);
	static const struct image undeclared = {.type = VT_IMAGE_FILE};

	if (id == VT_UNMAPPED_IMAGE) {
		*index = VT_UNMAPPED_IMAGE;
		return true;
	}
	return add_image(m, d ? &d->image : &undeclared, index);
}

static bool join_place(struct merger *m, const struct vt_place *p)
{
	const struct vt_profile_event *e = vt_profile_event(m->profile, p->event);
	struct place key = {.offset = p->offset};
	struct place *joined;

	if (!join_event(m, e->id, &key.event) || !join_image(m, p->image, &key.image))
		return false;
	joined = vt_hash_add(&m->places, &key, NULL);
	if (!joined)
		return false;
	joined->samples += p->samples;
	joined->period += p->period;
	return true;
}

static bool join_loss(struct merger *m, const struct loss *l)
{
	struct loss key = {.source = l->source};
	struct loss *joined;
	uint32_t event;

	if (!join_event(m, l->event, &event))
		return false;
	key.event = event;
	joined = vt_hash_add(&m->losses, &key, NULL);
	if (!joined)
		return false;
	joined->count += l->count;
	return true;
}

/* Executed code is counted as an event that the stream did not declare. */
static bool declare_counted(struct merger *m)
{
	uint64_t id = VT_PROFILE_EXEC_EVENT;
	size_t i;

	for (i = 0; i < vt_profile_nevents(m->profile); i++) {
		const struct vt_profile_event *e = vt_profile_event(m->profile, i);
		struct declared_event *d;

		if (e->id != id || vt_hash_find(&m->own_events, &id))
			continue;
		d = vt_hash_add(&m->own_events, &id, NULL);
		if (!d)
			return false;
		d->event.policy = e->policy;
		d->event.name = vt_intern_str(m->strings, e->name);
		d->event.unit = vt_intern_str(m->strings, e->unit);
		d->event.row[VT_EVENT_POLICY] = e->policy;
		d->event.row[VT_EVENT_PERIOD] = e->sampling;
		d->event.known = true;
		return d->event.name != UINT32_MAX && d->event.unit != UINT32_MAX;
	}
	return true;
}

int merger_end(struct merger *m, struct vt_error *err)
{
	bool ok = true;
	uint32_t index;
	size_t i;
	int code = vt_profile_finish(m->profile, err);

	if (code < 0)
		return code;
	m->bad += vt_profile_loss(m->profile)->bad;
	ok = declare_counted(m);
	for (i = 0; i < m->own_events.count && ok; i++)
		ok = join_event(m, *(uint64_t *)vt_hash_at(&m->own_events, i), &index);
	for (i = 0; i < vt_profile_nplaces(m->profile) && ok; i++)
		ok = join_place(m, vt_profile_place(m->profile, i));
	for (i = 0; i < m->own_losses.count && ok; i++)
		ok = join_loss(m, vt_hash_at(&m->own_losses, i));
	vt_profile_free(m->profile);
	m->profile = NULL;
	return ok ? vt_hotprofile_end(m->hots, err) : no_memory(err);
}

const struct vt_hot_damage *merger_damage(const struct merger *m)
{
	return vt_hotprofile_damage(m->hots);
}

uint64_t merger_bad(const struct merger *m)
{
	return m->bad;
}

/* ---- writing the sum ---- */

/* A thing to be put in order by up to three texts, then by numbers. */
struct rank {
	const char *text[3];
	uint64_t number[3];
	size_t index;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int i, c = 0;

	for (i = 0; i < 3 && c == 0; i++)
		c = strcmp(x->text[i], y->text[i]);
	for (i = 0; i < 3 && c == 0; i++)
		c = (x->number[i] > y->number[i]) - (x->number[i] < y->number[i]);
	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* The entries of a table, in order; the caller frees it.  NULL when memory ran out. */
static struct rank *rank_all(const struct merger *m, const struct vt_hash *h,
			     void (*describe)(const struct merger *m, const void *entry,
					      struct rank *r))
{
	struct rank *ranks = malloc((h->count + 1) * sizeof(*ranks));
	size_t i;

	for (i = 0; ranks && i < h->count; i++) {
		ranks[i] = (struct rank){{"", "", ""}, {0, 0, 0}, i};
		describe(m, vt_hash_at(h, i), &ranks[i]);
	}
	if (ranks)
		qsort(ranks, h->count, sizeof(*ranks), compare_ranks);
	return ranks;
}

static void describe_event(const struct merger *m, const void *entry, struct rank *r)
{
	const struct event *e = entry;

	r->text[0] = vt_intern_get(m->strings, e->name);
	r->text[1] = vt_intern_get(m->strings, e->unit);
	r->number[0] = e->policy;
}

static void describe_image(const struct merger *m, const void *entry, struct rank *r)
{
	const struct image *i = entry;

	r->text[0] = vt_intern_get(m->strings, i->path);
	r->text[1] = vt_intern_get(m->strings, i->buildid);
	r->number[0] = i->type;
}

static uint32_t event_id(const struct merger *m, uint32_t index)
{
	return ((const struct event *)vt_hash_at(&m->events, index))->id;
}

static uint32_t image_id(const struct merger *m, uint32_t index)
{
	if (index == VT_UNMAPPED_IMAGE)
		return index;
	return ((const struct image *)vt_hash_at(&m->images, index))->id;
}

static void describe_place(const struct merger *m, const void *entry, struct rank *r)
{
	const struct place *p = entry;

	r->number[0] = image_id(m, p->image);
	r->number[1] = p->offset;
	r->number[2] = event_id(m, p->event);
}

static void describe_loss(const struct merger *m, const void *entry, struct rank *r)
{
	const struct loss *l = entry;

	r->text[0] = vt_intern_get(m->strings, (uint32_t)l->source);
	r->number[0] = event_id(m, (uint32_t)l->event);
}

static void describe_gap(const struct merger *m, const void *entry, struct rank *r)
{
	const struct gap *g = entry;

	r->text[0] = vt_intern_get(m->strings, g->input);
	r->text[1] = vt_intern_get(m->strings, g->reason);
}

static void put_string(const struct merger *m, struct vt_writer *w, unsigned field, uint32_t string)
{
	vt_writer_bytes(w, field, vt_intern_get(m->strings, string),
			vt_intern_size(m->strings, string));
}

static void write_event(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	struct event *e = entry;
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	unsigned f;

	e->id = (uint32_t)number;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (f != VT_EVENT_NAME && f != VT_EVENT_UNIT)
			row[f] = e->row[f];
	row[VT_EVENT_ID] = number;
	row[VT_EVENT_POLICY] = e->policy;
	put_string(m, w, VT_EVENT_NAME, e->name);
	put_string(m, w, VT_EVENT_UNIT, e->unit);
}

static void write_image(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	struct image *i = entry;
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	i->id = (uint32_t)number;
	row[VT_IMAGE_ID] = number;
	row[VT_IMAGE_TYPE] = i->type;
	row[VT_IMAGE_MACHINE] = i->machine;
	put_string(m, w, VT_IMAGE_PATH, i->path);
	put_string(m, w, VT_IMAGE_BUILDID, i->buildid);
}

static void write_place(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	const struct place *p = entry;
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	(void)number;
	row[VT_COUNT_IMAGE] = image_id(m, p->image);
	row[VT_COUNT_OFFSET] = p->offset;
	row[VT_COUNT_EVENT] = event_id(m, p->event);
	row[VT_COUNT_SAMPLES] = p->samples;
	row[VT_COUNT_PERIOD] = p->period;
}

static void write_loss(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	const struct loss *l = entry;
	uint64_t *row = vt_writer_row(w, VT_LOST);

	(void)number;
	row[VT_LOST_EVENT] = event_id(m, (uint32_t)l->event);
	row[VT_LOST_COUNT] = l->count;
	put_string(m, w, VT_LOST_SOURCE, (uint32_t)l->source);
}

static void write_gap(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	const struct gap *g = entry;
	uint64_t *row = vt_writer_row(w, VT_GAP);

	(void)number;
	row[VT_GAP_BYTES] = g->bytes;
	row[VT_GAP_RECORDS] = g->records;
	put_string(m, w, VT_GAP_REASON, g->reason);
	put_string(m, w, VT_GAP_INPUT, g->input);
}

/* ---- hot lists ---- */

/* The index of a hot list's image, which may be in no place that was counted. */
static bool join_hot_image(struct merger *m, uint32_t number, uint32_t *index)
{
	const struct vt_hot_image *h = vt_hotprofile_image(m->hots, number);
	struct image i = {.type = 0};

	if (!h) {
		*index = VT_UNMAPPED_IMAGE;
		return true;
	}
	i.buildid = vt_intern_add(m->strings, h->buildid, h->buildid_size);
	i.path = vt_intern_str(m->strings, h->path);
	i.type = h->type;
	i.machine = h->machine;
	i.path_key = i.buildid ? 0 : i.path;
	i.type_key = i.buildid ? 0 : h->type;
	return i.buildid != UINT32_MAX && i.path != UINT32_MAX && add_image(m, &i, index);
}

/* Before images get their ids. */
static int join_hot_images(struct merger *m, struct vt_error *err)
{
	uint32_t index;
	size_t i;

	for (i = 0; i < vt_hotprofile_count(m->hots); i++) {
		const struct vt_hot_key *key = &vt_hotprofile_at(m->hots, i)->key;

		if (!join_hot_image(m, key->image, &index) ||
		    (key->caller && !join_hot_image(m, key->caller_image, &index)))
			return no_memory(err);
	}
	return 0;
}

static int write_hots(struct merger *m, struct vt_writer *w, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < vt_hotprofile_count(m->hots); i++) {
		const struct vt_hot *h = vt_hotprofile_at(m->hots, i);
		uint64_t caller = h->key.caller_image;
		uint32_t index;

		if (h->key.caller) {
			if (!join_hot_image(m, h->key.caller_image, &index))
				return no_memory(err);
			caller = image_id(m, index);
		}
		if (!join_hot_image(m, h->key.image, &index))
			return no_memory(err);
		if (vt_hot_write(h, image_id(m, index), caller, w, err) < 0)
			return -(int)err->code;
	}
	return 0;
}

int merger_write(struct merger *m, struct vt_writer *w, struct vt_error *err)
{
	/* Events and images first: the rest is ordered by the ids that they get here. */
	const struct {
		struct vt_hash *table;
		void (*describe)(const struct merger *m, const void *entry, struct rank *r);
		void (*write)(const struct merger *m, struct vt_writer *w, void *entry,
			      size_t number);
	} parts[] = {
		{&m->events, describe_event, write_event},
		{&m->images, describe_image, write_image},
		{&m->losses, describe_loss, write_loss},
		{&m->gaps, describe_gap, write_gap},
		{&m->places, describe_place, write_place},
	};
	size_t i, k;

	if (join_hot_images(m, err) < 0)
		return -(int)err->code;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct rank *ranks = rank_all(m, parts[i].table, parts[i].describe);

		if (!ranks)
			return no_memory(err);
		for (k = 0; k < parts[i].table->count; k++)
			parts[i].write(m, w, vt_hash_at(parts[i].table, ranks[k].index), k);
		free(ranks);
	}
	vt_module_names_write(vt_hotprofile_modules(m->hots), w);
	return write_hots(m, w, err);
}
