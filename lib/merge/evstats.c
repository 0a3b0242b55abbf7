/* SPDX-License-Identifier: GPL-3.0-or-later */
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
	vti_has_modelled(m, VTI_EVSTATS);
	if (vt_evstats_event(m->own_evstats, vt_record_u64(rec, VT_EVSTAT_EVENT), &key.event, err) <
	    0)
		return -VT_E_NOMEM;
	code = vt_evstats_record(m->own_evstats, &key, rec, err);
	m->bad += code == -VT_E_FORMAT;
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

/* Adds the places of `from` to `to`, under keys that `rename` makes of theirs. */
static int join_places(struct vt_evstats *to, const struct vt_evstats *from,
		       bool (*rename)(struct vt_merge *m, struct vt_evkey *key), struct vt_merge *m,
		       const uint32_t *events, struct vt_error *err)
{
	struct vt_evkey key;
	size_t i;

	for (i = 0; i < vt_evstats_nplaces(from); i++) {
		const struct vt_evcounts *c = vt_evstats_place(from, i, &key);
		struct vt_evcounts *joined;

		if (!c)
			continue;
		key.event = events[key.event];
		if (!rename(m, &key))
			return vt_error_nomem(err);
		joined = vt_evstats_add(to, &key);
		if (!joined || vt_evcounts_join(joined, c, err) < 0)
			return vt_error_nomem(err);
	}
	return 0;
}

/* The number in `to` of each event of `from`, which has the id that `ids` gives. */
static uint32_t *join_evevents(struct vt_evstats *to, const struct vt_evstats *from,
			       uint64_t (*id_of)(const struct vt_merge *m, uint64_t id),
			       const struct vt_merge *m, struct vt_error *err)
{
	size_t i, n = vt_evstats_nevents(from);
	uint32_t *numbers = calloc(n + 1, sizeof(*numbers));

	for (i = 0; numbers && i < n; i++) {
		const struct vt_evevent *e = vt_evstats_event_at(from, i);

		if (vt_evstats_event(to, id_of(m, e->id), &numbers[i], err) < 0) {
			free(numbers);
			return NULL;
		}
		vt_evmeta_join(vt_evstats_event_at(to, numbers[i]), e);
	}
	if (!numbers)
		vt_error_nomem(err);
	return numbers;
}

static uint64_t joined_event(const struct vt_merge *m, uint64_t id)
{
	return m->own_events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, id)];
}

static bool join_evimage(struct vt_merge *m, struct vt_evkey *key)
{
	return vti_join_image_id(m, key->image, &key->image);
}

int vti_join_evstats(struct vt_merge *m, const uint32_t *events, struct vt_error *err)
{
	uint32_t *numbers;
	int code;

	m->own_events = events;
	numbers = join_evevents(m->evstats, m->own_evstats, joined_event, m, err);
	code = numbers ? join_places(m->evstats, m->own_evstats, join_evimage, m, numbers, err)
		       : -VT_E_NOMEM;
	free(numbers);
	vt_evstats_free(m->own_evstats);
	m->own_evstats = vt_evstats_new();
	return code == 0 && !m->own_evstats ? vt_error_nomem(err) : code;
}

/* ---- writing ---- */

static uint64_t written_event(const struct vt_merge *m, uint64_t index)
{
	return ((const struct vti_merged_event *)vt_hash_at(&m->events, index))->id;
}

static bool write_evimage(struct vt_merge *m, struct vt_evkey *key)
{
	key->image = vti_written_image_id(m, key->image);
	return true;
}

int vti_write_evstats(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	struct vt_evstats *written;
	uint32_t *numbers;
	int code;

	if (!vt_evstats_nevents(m->evstats))
		return 0;
	written = vt_evstats_new();
	if (!written)
		return vt_error_nomem(err);
	numbers = join_evevents(written, m->evstats, written_event, m, err);
	code = numbers ? join_places(written, m->evstats, write_evimage, m, numbers, err)
		       : -VT_E_NOMEM;
	if (code == 0)
		code = vt_evstats_write(written, w, err);
	free(numbers);
	vt_evstats_free(written);
	return code;
}
