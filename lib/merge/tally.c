/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/tally.h"

#include <inttypes.h>
#include <stdio.h>

bool vt_tally_init(struct vt_stream_tally *t, struct vt_intern *strings)
{
	t->strings = strings;
	t->context = vt_context_new(NULL);
	t->profile = t->context ? vt_profile_new(t->context) : NULL;
	vt_hash_init(&t->events, sizeof(struct vt_tally_event),
		     offsetof(struct vt_tally_event, name));
	vt_hash_init(&t->images, sizeof(struct vt_tally_image), sizeof(uint64_t));
	vt_hash_init(&t->losses, sizeof(struct vt_tally_loss),
		     offsetof(struct vt_tally_loss, count));
	vt_hash_init(&t->gaps, sizeof(struct vt_tally_gap), offsetof(struct vt_tally_gap, bytes));
	if (t->profile)
		vt_context_add(t->context,
			       &(struct vt_consumer){.take = vt_profile_feed, .arg = t->profile});
	return t->profile != NULL;
}

void vt_tally_fini(struct vt_stream_tally *t)
{
	vt_profile_free(t->profile);
	vt_context_free(t->context);
	vt_hash_fini(&t->events);
	vt_hash_fini(&t->images);
	vt_hash_fini(&t->losses);
	vt_hash_fini(&t->gaps);
}

/* ---- records ---- */

static uint32_t tally_string(struct vt_stream_tally *t, const struct vt_record *rec, unsigned field)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	return vt_intern_add(t->strings, b.data, b.size);
}

static bool tally_event(struct vt_stream_tally *t, const struct vt_record *rec)
{
	const struct vt_tally_event key = {.kind = VT_PROFILE_EVENT,
					   .id = vt_record_u64(rec, VT_EVENT_ID)};
	struct vt_tally_event *e = vt_hash_add(&t->events, &key, NULL);
	unsigned f;

	if (!e)
		return false;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (f != VT_EVENT_ID && f != VT_EVENT_NAME && f != VT_EVENT_UNIT)
			e->row[f] = vt_record_u64(rec, f);
	e->name = tally_string(t, rec, VT_EVENT_NAME);
	e->unit = tally_string(t, rec, VT_EVENT_UNIT);
	return e->name != UINT32_MAX && e->unit != UINT32_MAX;
}

static bool tally_image(struct vt_stream_tally *t, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_tally_image *i = vt_hash_add(&t->images, &id, NULL);

	if (!i)
		return false;
	i->type = vt_record_u64(rec, VT_IMAGE_TYPE);
	i->machine = vt_record_u64(rec, VT_IMAGE_MACHINE);
	i->path = tally_string(t, rec, VT_IMAGE_PATH);
	i->buildid = tally_string(t, rec, VT_IMAGE_BUILDID);
	return i->path != UINT32_MAX && i->buildid != UINT32_MAX;
}

static bool tally_loss(struct vt_stream_tally *t, const struct vt_record *rec)
{
	struct vt_tally_loss key = {.event = vt_record_u64(rec, VT_LOST_EVENT),
				    .source = tally_string(t, rec, VT_LOST_SOURCE)};
	struct vt_tally_loss *l = vt_hash_add(&t->losses, &key, NULL);

	if (!l || key.source == UINT32_MAX)
		return false;
	l->count += vt_record_u64(rec, VT_LOST_COUNT);
	return true;
}

static bool tally_gap(struct vt_stream_tally *t, const struct vt_record *rec)
{
	struct vt_tally_gap key = {.reason = tally_string(t, rec, VT_GAP_REASON),
				   .input = tally_string(t, rec, VT_GAP_INPUT)};
	struct vt_tally_gap *g = vt_hash_add(&t->gaps, &key, NULL);

	if (!g || key.reason == UINT32_MAX || key.input == UINT32_MAX)
		return false;
	g->bytes += vt_record_u64(rec, VT_GAP_BYTES);
	g->records += vt_record_u64(rec, VT_GAP_RECORDS);
	return true;
}

int vt_tally_feed(struct vt_stream_tally *t, const struct vt_block *b, uint32_t first,
		  uint32_t count, struct vt_error *err)
{
	bool (*feed)(struct vt_stream_tally * t, const struct vt_record *rec) =
		b->kind == VT_EVENT   ? tally_event
		: b->kind == VT_IMAGE ? tally_image
		: b->kind == VT_LOST  ? tally_loss
		: b->kind == VT_GAP   ? tally_gap
				      : NULL;
	struct vt_record rec = {b, b->kind, first};

	for (; feed && rec.row < first + count; rec.row++)
		if (!feed(t, &rec))
			return vt_error_nomem(err);
	return vt_context_feed(t->context, b, first, count, err);
}

/* ---- the end ---- */

bool vt_tally_declare(struct vt_stream_tally *t, uint64_t id)
{
	const struct vt_tally_event key = {.kind = VT_PROFILE_EVENT, .id = id};
	bool added;
	struct vt_tally_event *e = vt_hash_add(&t->events, &key, &added);
	char name[40];

	if (!e || !added)
		return e != NULL;
	snprintf(name, sizeof(name), "event%" PRIu64, id);
	e->name = vt_intern_str(t->strings, name);
	return e->name != UINT32_MAX;
}

/* Adds a column of the profile, unless it is an event that the stream declared. */
static bool add_column_event(struct vt_stream_tally *t, const struct vt_profile_event *column)
{
	const struct vt_tally_event key = {.kind = column->kind, .id = column->id};
	struct vt_tally_event *e;

	if (column->kind == VT_PROFILE_EVENT)
		return vt_tally_declare(t, column->id);
	e = vt_hash_add(&t->events, &key, NULL);
	if (!e)
		return false;
	e->name = vt_intern_str(t->strings, column->name);
	e->unit = vt_intern_str(t->strings, column->unit);
	e->row[VT_EVENT_POLICY] = column->policy;
	e->row[VT_EVENT_PERIOD] = column->sampling;
	return e->name != UINT32_MAX && e->unit != UINT32_MAX;
}

int vt_tally_finish(struct vt_stream_tally *t, struct vt_error *err)
{
	int code = vt_profile_finish(t->profile, err);
	bool ok = true;
	size_t i;

	if (code < 0)
		return code;
	for (i = 0; i < vt_profile_nevents(t->profile) && ok; i++)
		ok = add_column_event(t, vt_profile_event(t->profile, i));
	for (i = 0; i < t->losses.count && ok; i++) {
		const struct vt_tally_loss *l = vt_hash_at(&t->losses, i);

		ok = vt_tally_declare(t, l->event);
	}
	return ok ? 0 : vt_error_nomem(err);
}

size_t vt_tally_event_index(const struct vt_stream_tally *t, enum vt_profile_kind kind, uint64_t id)
{
	const struct vt_tally_event key = {.kind = kind, .id = id};

	return vt_hash_index(&t->events, vt_hash_find(&t->events, &key));
}

struct vt_tally_image vt_tally_image(const struct vt_stream_tally *t, uint64_t id)
{
	const struct vt_tally_image *i = vt_hash_find(&t->images, &id);

	return i ? *i : (struct vt_tally_image){.id = id, .type = VT_IMAGE_FILE};
}
