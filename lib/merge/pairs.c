/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "conflict/conflict.h"
#include "merge/internal.h"

/* META records of vreplay: that it was there, names of events, and sums. */
#define META_MODEL "replay.model"
#define META_EVENT "replay.event"

static const char *const meta_sums[VTI_MERGE_SUMS] = {
	"replay.runs",	   "replay.insns", "replay.accesses", "replay.known",
	"replay.relative", "replay.apart", "replay.dependent"};

#define NUMBER_SIZE 24 /* digits of a number in META, and the zero */

/* ---- the records of one stream ---- */

static uint64_t parse_number(struct vt_bytes value)
{
	char text[NUMBER_SIZE];

	if (value.size >= sizeof(text))
		return 0;
	memcpy(text, value.data, value.size);
	text[value.size] = 0;
	return strtoull(text, NULL, 10);
}

bool vti_feed_conflict_meta(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	struct vti_conflicts *c = &m->conflicts;
	uint32_t name;
	size_t i;

	if (vt_bytes_are(key, META_MODEL)) {
		c->replayed = true;
		vti_has_sums(m, VTI_CONFLICTS);
	}
	if (vt_bytes_are(key, META_EVENT)) {
		name = vt_intern_add(m->strings, value.data, value.size);
		return name != UINT32_MAX && vt_hash_add(&c->events, &name, NULL);
	}
	for (i = 0; i < VTI_MERGE_SUMS; i++)
		if (vt_bytes_are(key, meta_sums[i]))
			c->sum[i] += parse_number(value);
	return true;
}

bool vti_feed_conflict(struct vt_merge *m, const struct vt_record *rec)
{
	struct vti_conflicts *c = &m->conflicts;
	unsigned f;

	if (!vt_array_grow(&c->rows, &c->rows_cap, c->nrows + 1, sizeof(*c->rows)))
		return false;
	for (f = 0; f < VT_CONFLICT_NFIELDS; f++)
		c->rows[c->nrows].field[f] = vt_record_u64(rec, f);
	c->nrows++;
	return true;
}

/* ---- adding its sums to the others ---- */

static bool join_pair(struct vt_merge *m, const uint64_t *row)
{
	struct vti_merged_pair key = {.offset = row[VT_CONFLICT_OFFSET],
				      .earlier = row[VT_CONFLICT_EARLIER],
				      .type = row[VT_CONFLICT_TYPE]};
	struct vti_merged_pair *p;
	bool added;

	if (!vti_join_image_id(m, row[VT_CONFLICT_IMAGE], &key.image) ||
	    !vti_join_image_id(m, row[VT_CONFLICT_EARLIER_IMAGE], &key.earlier_image))
		return false;
	p = vt_hash_add(&m->conflicts.pairs, &key, &added);
	if (!p)
		return false;
	if (added || row[VT_CONFLICT_NEAREST] < p->nearest)
		p->nearest = row[VT_CONFLICT_NEAREST];
	p->count += row[VT_CONFLICT_COUNT];
	p->executions += row[VT_CONFLICT_EXECUTIONS];
	p->distance += row[VT_CONFLICT_DISTANCE];
	return true;
}

bool vti_join_conflicts(struct vt_merge *m)
{
	struct vti_conflicts *c = &m->conflicts;
	bool ok = true;
	size_t i;

	for (i = 0; i < c->nrows && ok; i++)
		ok = join_pair(m, c->rows[i].field);
	c->nrows = 0;
	return ok;
}

/* ---- writing ---- */

static bool ranks_pairs(const struct vt_merge *m, const struct vti_merged_event *e, uint64_t type)
{
	const struct vti_conflicts *c = &m->conflicts;
	const char *name = vt_intern_get(m->strings, e->name);
	size_t i;

	if (!c->events.count)
		return vt_conflict_event_fits((enum vt_conflict)type, name);
	for (i = 0; i < c->events.count; i++)
		if (strcmp(vt_intern_get(m->strings, *(uint32_t *)vt_hash_at(&c->events, i)),
			   name) == 0)
			return true;
	return false;
}

/*
 * The samples on the later instruction of a pair, of the events that vreplay ranked by, or if it
 * named none, of the events that fit the type.
 */
static uint64_t count_pair_samples(const struct vt_merge *m, const struct vti_merged_pair *p)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < m->events.count; i++) {
		const struct vti_merged_place key = {
			.offset = p->offset, .image = p->image, .event = (uint32_t)i};
		const struct vti_merged_place *place;

		if (!ranks_pairs(m, vt_hash_at(&m->events, i), p->type))
			continue;
		place = vt_hash_find(&m->places, &key);
		samples += place ? place->samples : 0;
	}
	return samples;
}

/* The order of vreplay: by later instruction, type, nearest distance, earlier instruction. */
static int compare_merged_conflicts(const void *pa, const void *pb)
{
	static const unsigned fields[] = {VT_CONFLICT_IMAGE,	     VT_CONFLICT_OFFSET,
					  VT_CONFLICT_TYPE,	     VT_CONFLICT_NEAREST,
					  VT_CONFLICT_EARLIER_IMAGE, VT_CONFLICT_EARLIER};
	const uint64_t *a = ((const struct vti_conflict_row *)pa)->field;
	const uint64_t *b = ((const struct vti_conflict_row *)pb)->field;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (a[fields[i]] != b[fields[i]])
			return a[fields[i]] < b[fields[i]] ? -1 : 1;
	return 0;
}

static void fill_conflict(const struct vt_merge *m, const struct vti_merged_pair *p, uint64_t *row)
{
	row[VT_CONFLICT_IMAGE] = vti_written_image_id(m, p->image);
	row[VT_CONFLICT_OFFSET] = p->offset;
	row[VT_CONFLICT_EARLIER_IMAGE] = vti_written_image_id(m, p->earlier_image);
	row[VT_CONFLICT_EARLIER] = p->earlier;
	row[VT_CONFLICT_TYPE] = p->type;
	row[VT_CONFLICT_COUNT] = p->count;
	row[VT_CONFLICT_EXECUTIONS] = p->executions;
	row[VT_CONFLICT_DISTANCE] = p->distance;
	row[VT_CONFLICT_NEAREST] = p->nearest;
	row[VT_CONFLICT_SAMPLES] = count_pair_samples(m, p);
}

static void write_conflict_totals(const struct vt_merge *m, struct vt_writer *w)
{
	const struct vti_conflicts *c = &m->conflicts;
	char text[NUMBER_SIZE];
	size_t i;

	if (!c->replayed)
		return;
	for (i = 0; i < c->events.count; i++)
		vt_writer_meta(w, META_EVENT,
			       vt_intern_get(m->strings, *(uint32_t *)vt_hash_at(&c->events, i)));
	for (i = 0; i < VTI_MERGE_SUMS; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, c->sum[i]);
		vt_writer_meta(w, meta_sums[i], text);
	}
}

int vti_write_conflicts(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	const struct vti_conflicts *c = &m->conflicts;
	struct vti_conflict_row *rows = calloc(c->pairs.count + 1, sizeof(*rows));
	size_t i;

	if (!rows)
		return vt_error_nomem(err);
	for (i = 0; i < c->pairs.count; i++)
		fill_conflict(m, vt_hash_at(&c->pairs, i), rows[i].field);
	qsort(rows, c->pairs.count, sizeof(*rows), compare_merged_conflicts);
	for (i = 0; i < c->pairs.count; i++)
		memcpy(vt_writer_row(w, VT_CONFLICT), rows[i].field, sizeof(rows[i].field));
	free(rows);
	write_conflict_totals(m, w);
	return 0;
}
