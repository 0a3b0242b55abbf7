/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "cmd/vtrace/merger_internal.h"
#include "value/hot_profile.h"
#include "value/hot_record.h"

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

uint32_t merger_event_id(const struct merger *m, uint32_t index)
{
	return ((const struct event *)vt_hash_at(&m->events, index))->id;
}

uint32_t merger_image_id(const struct merger *m, uint32_t index)
{
	if (index == VT_UNMAPPED_IMAGE)
		return index;
	return ((const struct image *)vt_hash_at(&m->images, index))->id;
}

static void describe_place(const struct merger *m, const void *entry, struct rank *r)
{
	const struct place *p = entry;

	r->number[0] = merger_image_id(m, p->image);
	r->number[1] = p->offset;
	r->number[2] = merger_event_id(m, p->event);
}

static void describe_loss(const struct merger *m, const void *entry, struct rank *r)
{
	const struct loss *l = entry;

	r->text[0] = vt_intern_get(m->strings, (uint32_t)l->source);
	r->number[0] = merger_event_id(m, (uint32_t)l->event);
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
	row[VT_COUNT_IMAGE] = merger_image_id(m, p->image);
	row[VT_COUNT_OFFSET] = p->offset;
	row[VT_COUNT_EVENT] = merger_event_id(m, p->event);
	row[VT_COUNT_SAMPLES] = p->samples;
	row[VT_COUNT_PERIOD] = p->period;
}

static void write_loss(const struct merger *m, struct vt_writer *w, void *entry, size_t number)
{
	const struct loss *l = entry;
	uint64_t *row = vt_writer_row(w, VT_LOST);

	(void)number;
	row[VT_LOST_EVENT] = merger_event_id(m, (uint32_t)l->event);
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
	return i.buildid != UINT32_MAX && i.path != UINT32_MAX && merger_add_image(m, &i, index);
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
			return merger_no_memory(err);
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
				return merger_no_memory(err);
			caller = merger_image_id(m, index);
		}
		if (!join_hot_image(m, h->key.image, &index))
			return merger_no_memory(err);
		if (vt_hot_write(h, merger_image_id(m, index), caller, w, err) < 0)
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
			return merger_no_memory(err);
		for (k = 0; k < parts[i].table->count; k++)
			parts[i].write(m, w, vt_hash_at(parts[i].table, ranks[k].index), k);
		free(ranks);
	}
	if (merge_conflicts_write(m, w, err) < 0)
		return -(int)err->code;
	vt_module_names_write(vt_hotprofile_modules(m->hots), w);
	return write_hots(m, w, err);
}
