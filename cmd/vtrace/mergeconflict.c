/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/vtrace/merger_internal.h"
#include "conflict/replay.h"

#define NUMBER_SIZE 24 /* digits of a META's number, and the zero */

/* What META tells: texts that all streams must agree on, names of events, numbers that add up. */
#define MODEL	 "replay.model"
#define DISTANCE "replay.distance"
#define EVENT	 "replay.event"

static const char *const sums[] = {"replay.runs",     "replay.insns",	 "replay.accesses",
				   "replay.known",    "replay.relative", "replay.apart",
				   "replay.dependent"};

#define NSUMS (sizeof(sums) / sizeof(sums[0]))

/* The key has no padding. */
struct pair {
	uint32_t image; /* indices */
	uint32_t earlier_image;
	uint64_t offset;
	uint64_t earlier;
	uint64_t type;
	uint64_t count;
	uint64_t executions;
	uint64_t distance;
	uint64_t nearest;
};

struct own_pair {
	uint64_t row[VT_CONFLICT_NFIELDS];
};

struct merge_conflicts {
	struct vt_hash pairs;
	struct own_pair *own; /* of the stream at hand */
	size_t nown;
	size_t own_cap;
	struct vt_intern *strings;
	struct vt_hash events; /* names to rank by: numbers of `strings` */
	uint32_t model;	       /* number of a string; 0: none was told */
	uint32_t distance;
	uint32_t own_model; /* the same of the stream at hand */
	uint32_t own_distance;
	uint64_t sum[NSUMS];
};

struct merge_conflicts *merge_conflicts_new(void)
{
	struct merge_conflicts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	vt_hash_init(&c->pairs, sizeof(struct pair), offsetof(struct pair, count));
	vt_hash_init(&c->events, sizeof(uint32_t), sizeof(uint32_t));
	c->strings = vt_intern_new();
	if (c->strings)
		return c;
	merge_conflicts_free(c);
	return NULL;
}

void merge_conflicts_free(struct merge_conflicts *c)
{
	if (!c)
		return;
	vt_hash_fini(&c->pairs);
	vt_hash_fini(&c->events);
	vt_intern_free(c->strings);
	free(c->own);
	free(c);
}

/* ---- one stream ---- */

static bool is_key(struct vt_bytes key, const char *name)
{
	return key.size == strlen(name) && memcmp(key.data, name, key.size) == 0;
}

static uint64_t number_of(struct vt_bytes value)
{
	char text[NUMBER_SIZE];

	if (value.size >= sizeof(text))
		return 0;
	memcpy(text, value.data, value.size);
	text[value.size] = 0;
	return strtoull(text, NULL, 10);
}

static int keep(struct merge_conflicts *c, struct vt_bytes value, uint32_t *text,
		struct vt_error *err)
{
	*text = vt_intern_add(c->strings, value.data, value.size);
	return *text == UINT32_MAX ? merger_no_memory(err) : 0;
}

/* Pairs of another core, or of a wider window, are no part of one count. */
static int agree(uint32_t *known, uint32_t own, const char *what, struct vt_error *err)
{
	if (*known && own && *known != own)
		return vt_error_set(err, VT_E_MISMATCH,
				    "its pairs are of another %s than those before", what);
	*known = own ? own : *known;
	return 0;
}

static int feed_meta(struct merge_conflicts *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	uint32_t name;
	size_t i;

	if (is_key(key, MODEL))
		return keep(c, value, &c->own_model, err);
	if (is_key(key, DISTANCE))
		return keep(c, value, &c->own_distance, err);
	if (is_key(key, EVENT)) {
		if (keep(c, value, &name, err) < 0 || !vt_hash_add(&c->events, &name, NULL))
			return merger_no_memory(err);
	}
	for (i = 0; i < NSUMS; i++)
		if (is_key(key, sums[i]))
			c->sum[i] += number_of(value);
	return 0;
}

int merge_conflicts_feed(struct merge_conflicts *c, const struct vt_record *rec,
			 struct vt_error *err)
{
	unsigned f;

	if (rec->kind == VT_META)
		return feed_meta(c, rec, err);
	if (rec->kind != VT_CONFLICT)
		return 0;
	if (!vt_array_grow(&c->own, &c->own_cap, c->nown + 1, sizeof(*c->own)))
		return merger_no_memory(err);
	for (f = 0; f < VT_CONFLICT_NFIELDS; f++)
		c->own[c->nown].row[f] = vt_record_u64(rec, f);
	c->nown++;
	return 0;
}

static bool join_pair(struct merger *m, const uint64_t *row)
{
	struct pair key = {.offset = row[VT_CONFLICT_OFFSET],
			   .earlier = row[VT_CONFLICT_EARLIER],
			   .type = row[VT_CONFLICT_TYPE]};
	struct pair *p;
	bool added;

	if (!merger_join_image(m, row[VT_CONFLICT_IMAGE], &key.image) ||
	    !merger_join_image(m, row[VT_CONFLICT_EARLIER_IMAGE], &key.earlier_image))
		return false;
	p = vt_hash_add(&m->conflicts->pairs, &key, &added);
	if (!p)
		return false;
	if (added || row[VT_CONFLICT_NEAREST] < p->nearest)
		p->nearest = row[VT_CONFLICT_NEAREST];
	p->count += row[VT_CONFLICT_COUNT];
	p->executions += row[VT_CONFLICT_EXECUTIONS];
	p->distance += row[VT_CONFLICT_DISTANCE];
	return true;
}

int merge_conflicts_end(struct merger *m, struct vt_error *err)
{
	struct merge_conflicts *c = m->conflicts;
	int code = agree(&c->model, c->own_model, "model of a core", err);
	size_t i;

	if (code == 0)
		code = agree(&c->distance, c->own_distance, "distance", err);
	if (code < 0)
		return code;
	for (i = 0; i < c->nown; i++)
		if (!join_pair(m, c->own[i].row))
			return merger_no_memory(err);
	c->nown = 0;
	c->own_model = c->own_distance = 0;
	return 0;
}

/* ---- writing ---- */

static bool ranks_by(const struct merger *m, const struct event *e, uint64_t type)
{
	const struct merge_conflicts *c = m->conflicts;
	const char *name = vt_intern_get(m->strings, e->name);
	size_t i;

	if (!c->events.count)
		return vt_conflict_event_fits((enum vt_conflict)type, name);
	for (i = 0; i < c->events.count; i++)
		if (strcmp(vt_intern_get(c->strings, *(uint32_t *)vt_hash_at(&c->events, i)),
			   name) == 0)
			return true;
	return false;
}

/* The samples on its later instruction. */
static uint64_t samples_of(const struct merger *m, const struct pair *p)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < m->events.count; i++) {
		const struct place key = {
			.offset = p->offset, .image = p->image, .event = (uint32_t)i};
		const struct place *place;

		if (!ranks_by(m, vt_hash_at(&m->events, i), p->type))
			continue;
		place = vt_hash_find(&m->places, &key);
		samples += place ? place->samples : 0;
	}
	return samples;
}

/* As vreplay: by the later instruction, then type and nearness, then the earlier one. */
static int compare_rows(const void *pa, const void *pb)
{
	static const unsigned fields[] = {VT_CONFLICT_IMAGE,	     VT_CONFLICT_OFFSET,
					  VT_CONFLICT_TYPE,	     VT_CONFLICT_NEAREST,
					  VT_CONFLICT_EARLIER_IMAGE, VT_CONFLICT_EARLIER};
	const uint64_t *a = ((const struct own_pair *)pa)->row;
	const uint64_t *b = ((const struct own_pair *)pb)->row;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (a[fields[i]] != b[fields[i]])
			return a[fields[i]] < b[fields[i]] ? -1 : 1;
	return 0;
}

static void fill_row(const struct merger *m, const struct pair *p, uint64_t *row)
{
	row[VT_CONFLICT_IMAGE] = merger_image_id(m, p->image);
	row[VT_CONFLICT_OFFSET] = p->offset;
	row[VT_CONFLICT_EARLIER_IMAGE] = merger_image_id(m, p->earlier_image);
	row[VT_CONFLICT_EARLIER] = p->earlier;
	row[VT_CONFLICT_TYPE] = p->type;
	row[VT_CONFLICT_COUNT] = p->count;
	row[VT_CONFLICT_EXECUTIONS] = p->executions;
	row[VT_CONFLICT_DISTANCE] = p->distance;
	row[VT_CONFLICT_NEAREST] = p->nearest;
	row[VT_CONFLICT_SAMPLES] = samples_of(m, p);
}

static void write_meta(struct vt_writer *w, const char *key, const char *value)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
}

static void write_totals(const struct merge_conflicts *c, struct vt_writer *w)
{
	char text[NUMBER_SIZE];
	size_t i;

	if (!c->model)
		return;
	write_meta(w, MODEL, vt_intern_get(c->strings, c->model));
	if (c->distance)
		write_meta(w, DISTANCE, vt_intern_get(c->strings, c->distance));
	for (i = 0; i < c->events.count; i++)
		write_meta(w, EVENT,
			   vt_intern_get(c->strings, *(uint32_t *)vt_hash_at(&c->events, i)));
	for (i = 0; i < NSUMS; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, c->sum[i]);
		write_meta(w, sums[i], text);
	}
}

int merge_conflicts_write(const struct merger *m, struct vt_writer *w, struct vt_error *err)
{
	const struct merge_conflicts *c = m->conflicts;
	struct own_pair *rows = calloc(c->pairs.count + 1, sizeof(*rows));
	size_t i;

	if (!rows)
		return merger_no_memory(err);
	for (i = 0; i < c->pairs.count; i++)
		fill_row(m, vt_hash_at(&c->pairs, i), rows[i].row);
	qsort(rows, c->pairs.count, sizeof(*rows), compare_rows);
	for (i = 0; i < c->pairs.count; i++)
		memcpy(vt_writer_row(w, VT_CONFLICT), rows[i].row, sizeof(rows[i].row));
	free(rows);
	write_totals(c, w);
	return 0;
}
