/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/gather.h"
#include "merge/internal.h"

/* ---- the records of one stream ---- */

static int feed_estimate(struct vt_merge *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_evkey key = {.offset = vt_record_u64(rec, VT_EVSTAT_OFFSET),
			       .image = (uint32_t)vt_record_u64(rec, VT_EVSTAT_IMAGE)};
	int code;

	/* What a simulator knows is of one run, and no estimate. */
	if (vt_record_u64(rec, VT_EVSTAT_METHOD) != VT_METHOD_FOLLOWED)
		return 0;
	vti_has_sums(m, VTI_EVSTATS);
	if (vt_evstats_event(m->own_evstats, vt_record_u64(rec, VT_EVSTAT_EVENT), &key.event, err) <
	    0)
		return -VT_E_NOMEM;
	code = vt_evstats_record(m->own_evstats, &key, rec, err);
	if (code == -VT_E_FORMAT)
		vti_leave_out(m, err->text);
	if (code == 0)
		vt_evstats_event_at(m->own_evstats, key.event)->estimated = true;
	return code == -VT_E_FORMAT ? 0 : code;
}

static int feed_check(struct vt_merge *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_evevent e = {0};
	uint32_t index;

	if (!vt_record_is_meta(rec, VT_EV_META) || !vt_evmeta_parse(rec, &e))
		return 0;
	if (vt_evstats_event(m->own_evstats, e.id, &index, err) < 0)
		return -VT_E_NOMEM;
	vt_evmeta_join(vt_evstats_event_at(m->own_evstats, index), &e);
	return 0;
}

int vti_feed_evstats(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count,
		     struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	int code = 0;

	if (b->kind != VT_EVSTAT && b->kind != VT_META)
		return 0;
	for (; rec.row - first < count && code == 0; rec.row++)
		code = b->kind == VT_META ? feed_check(m, &rec, err) : feed_estimate(m, &rec, err);
	return code;
}

/* ---- adding them to the others ---- */

bool vti_declare_evstats(struct vt_merge *m)
{
	size_t i;

	for (i = 0; i < vt_evstats_nevents(m->own_evstats); i++)
		if (!vt_tally_declare(&m->tally, vt_evstats_event_at(m->own_evstats, i)->id))
			return false;
	return true;
}

/* How ids of events, and keys of places, are those of what is joined to.  NULL: they stay. */
struct renaming {
	uint64_t (*event)(const struct vt_merge *m, uint64_t id);
	bool (*key)(struct vt_merge *m, struct vt_evkey *key);
};

/* Adds the places of `from` to `to`; `events`: the number in `to` of each event. */
static int join_places(struct vt_evstats *to, const struct vt_evstats *from,
		       const struct renaming *how, struct vt_merge *m, const uint32_t *events,
		       struct vt_error *err)
{
	struct vt_evkey key, place;
	size_t i;

	for (i = 0; i < vt_evstats_nplaces(from); i++) {
		struct vt_evcounts *joined;

		if (!vt_evstats_place(from, i, &place))
			continue;
		key = place;
		key.pid = 0; /* which records do not keep */
		key.event = events[key.event];
		if (how->key && !how->key(m, &key))
			return vt_error_nomem(err);
		vt_evstats_event_at(to, key.event)->estimated = true;
		joined = vt_evstats_add(to, &key);
		if (!joined || vt_evcounts_join(joined, from, &place, err) < 0)
			return vt_error_nomem(err);
	}
	return 0;
}

static int join_evevents(struct vt_evstats *to, const struct vt_evstats *from,
			 const struct renaming *how, const struct vt_merge *m, uint32_t *numbers,
			 struct vt_error *err)
{
	size_t i;

	for (i = 0; i < vt_evstats_nevents(from); i++) {
		const struct vt_evevent *e = vt_evstats_event_at(from, i);
		uint64_t id = how->event ? how->event(m, e->id) : e->id;

		if (vt_evstats_event(to, id, &numbers[i], err) < 0)
			return -VT_E_NOMEM;
		vt_evmeta_join(vt_evstats_event_at(to, numbers[i]), e);
	}
	return 0;
}

/* Adds events and places. */
static int join_all(struct vt_evstats *to, const struct vt_evstats *from,
		    const struct renaming *how, struct vt_merge *m, struct vt_error *err)
{
	uint32_t *numbers = calloc(vt_evstats_nevents(from) + 1, sizeof(*numbers));
	int code = numbers ? join_evevents(to, from, how, m, numbers, err) : vt_error_nomem(err);

	if (code == 0)
		code = join_places(to, from, how, m, numbers, err);
	free(numbers);
	return code;
}

static uint64_t joined_event(const struct vt_merge *m, uint64_t id)
{
	return m->own_events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, id)];
}

static bool join_evimage(struct vt_merge *m, struct vt_evkey *key)
{
	return vti_join_image_id(m, key->image, &key->image);
}

/* There are not more groups than vevent makes of one stream. */
static bool join_group(struct vt_merge *m, struct vt_evkey *key)
{
	if (vt_evstats_nplaces(m->groups) >= VT_EVGROUP_MOST && !vt_evstats_find(m->groups, key)) {
		key->image = VT_EVGROUP_MORE;
		key->offset = 0;
	}
	return true;
}

static bool empty(struct vt_evstats **s, struct vt_error *err)
{
	vt_evstats_free(*s);
	*s = vt_evstats_new();
	if (!*s)
		vt_error_nomem(err);
	return *s != NULL;
}

int vti_join_evstats(struct vt_merge *m, const uint32_t *events, struct vt_error *err)
{
	const struct renaming places = {joined_event, join_evimage},
			      groups = {joined_event, join_group};
	int code;

	m->own_events = events;
	code = join_all(m->evstats, m->own_evstats, &places, m, err);
	if (code == 0)
		code = join_all(m->groups, m->own_groups, &groups, m, err);
	return empty(&m->own_evstats, err) && empty(&m->own_groups, err) ? code : -VT_E_NOMEM;
}

int vt_merge_add_estimates(struct vt_merge *m, const struct vt_evstats *places,
			   const struct vt_evstats *groups, const char *model, struct vt_error *err)
{
	const struct renaming none = {NULL, NULL};
	int code = join_all(m->own_evstats, places, &none, m, err);

	vti_has_sums(m, VTI_EVSTATS);
	if (model && !vti_set_divisor(m, model))
		return vt_error_nomem(err);
	return code == 0 && groups ? join_all(m->own_groups, groups, &none, m, err) : code;
}

/* ---- writing ---- */

static uint64_t written_event(const struct vt_merge *m, uint64_t index)
{
	return vti_written_event_id(m, (uint32_t)index);
}

static bool write_evimage(struct vt_merge *m, struct vt_evkey *key)
{
	key->image = vti_written_image_id(m, key->image);
	return true;
}

int vti_write_evstats(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	const struct renaming how = {written_event, write_evimage};
	struct vt_evstats *written;
	int code;

	if (!vt_evstats_nevents(m->evstats))
		return 0;
	written = vt_evstats_new();
	code = written ? join_all(written, m->evstats, &how, m, err) : vt_error_nomem(err);
	if (code == 0)
		code = vt_evstats_write(written, w, err);
	vt_evstats_free(written);
	return code;
}

int vt_merge_groups(struct vt_merge *m, struct vt_evstats *to, struct vt_error *err)
{
	const struct renaming how = {written_event, NULL};

	return join_all(to, m->groups, &how, m, err);
}
