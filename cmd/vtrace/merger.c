/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/merger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/vtrace/merger_internal.h"

int merger_no_memory(struct vt_error *err)
{
	return vt_error_nomem(err);
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
	m->conflicts = merge_conflicts_new();
	if (!m->strings || !m->hots || !m->conflicts) {
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
	merge_conflicts_free(m->conflicts);
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
	return m->profile ? 0 : merger_no_memory(err);
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
	int code = 0;

	for (; feed && rec.row < first + count; rec.row++)
		if (!feed(m, &rec))
			return merger_no_memory(err);
	for (; !feed && rec.row < first + count && code == 0; rec.row++)
		code = merge_conflicts_feed(m->conflicts, &rec, err);
	if (code < 0)
		return code;
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

bool merger_add_image(struct merger *m, const struct image *i, uint32_t *index)
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

bool merger_join_image(struct merger *m, uint64_t id, uint32_t *index)
{
	const struct declared_image *d = vt_hash_find(&m->own_images, &id);
	static const struct image undeclared = {.type = VT_IMAGE_FILE};

	if (id == VT_UNMAPPED_IMAGE) {
		*index = VT_UNMAPPED_IMAGE;
		return true;
	}
	return merger_add_image(m, d ? &d->image : &undeclared, index);
}

static bool join_place(struct merger *m, const struct vt_place *p)
{
	const struct vt_profile_event *e = vt_profile_event(m->profile, p->event);
	struct place key = {.offset = p->offset};
	struct place *joined;

	if (!join_event(m, e->id, &key.event) || !merger_join_image(m, p->image, &key.image))
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
	code = ok ? merge_conflicts_end(m, err) : merger_no_memory(err);
	return code < 0 ? code : vt_hotprofile_end(m->hots, err);
}

const struct vt_hot_damage *merger_damage(const struct merger *m)
{
	return vt_hotprofile_damage(m->hots);
}

uint64_t merger_bad(const struct merger *m)
{
	return m->bad;
}
