/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "image/packs.h"
#include "memory/records.h"
#include "merge/internal.h"
#include "value/hot_record.h"

static void init_tables(struct vt_merge *m)
{
	vt_hash_init(&m->events, sizeof(struct vti_merged_event),
		     offsetof(struct vti_merged_event, row));
	vt_hash_init(&m->images, sizeof(struct vti_merged_image),
		     offsetof(struct vti_merged_image, path));
	vt_hash_init(&m->places, sizeof(struct vti_merged_place),
		     offsetof(struct vti_merged_place, samples));
	vt_hash_init(&m->losses, sizeof(struct vt_tally_loss),
		     offsetof(struct vt_tally_loss, count));
	vt_hash_init(&m->gaps, sizeof(struct vt_tally_gap), offsetof(struct vt_tally_gap, bytes));
	vt_hash_init(&m->conflicts.pairs, sizeof(struct vti_merged_pair),
		     offsetof(struct vti_merged_pair, count));
	vt_hash_init(&m->conflicts.events, sizeof(uint32_t), sizeof(uint32_t));
	vti_init_pairstats(&m->pairstats);
	vti_settings_init(&m->settings);
}

struct vt_merge *vt_merge_new(uint64_t seed)
{
	struct vt_merge *m = calloc(1, sizeof(*m));
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (!m)
		return NULL;
	init_tables(m);
	vti_paths_init(&m->paths);
	vti_followed_init(&m->followed);
	m->strings = vt_intern_new();
	m->hots = vt_hotprofile_new(seed);
	m->packs = vt_packs_new();
	m->evstats = vt_evstats_new();
	m->own_evstats = vt_evstats_new();
	m->groups = vt_evstats_new();
	m->own_groups = vt_evstats_new();
	m->memory = vt_memrecords_new(&err);
	m->own_memory = vt_memrecords_new(&err);
	ok = vt_tally_init(&m->tally, m->strings);
	if (ok && m->strings && m->hots && m->packs && m->evstats && m->own_evstats && m->groups &&
	    m->own_groups && m->memory && m->own_memory)
		return m;
	vt_merge_free(m);
	return NULL;
}

void vt_merge_free(struct vt_merge *m)
{
	if (!m)
		return;
	vt_hash_fini(&m->events);
	vt_hash_fini(&m->images);
	vt_hash_fini(&m->places);
	vt_hash_fini(&m->losses);
	vt_hash_fini(&m->gaps);
	vt_hash_fini(&m->conflicts.pairs);
	vt_hash_fini(&m->conflicts.events);
	vti_fini_pairstats(&m->pairstats);
	vti_settings_fini(&m->settings);
	free(m->conflicts.rows);
	vti_paths_fini(&m->paths);
	vti_followed_fini(&m->followed);
	vt_tally_fini(&m->tally);
	vt_hotprofile_free(m->hots);
	vt_packs_free(m->packs);
	vt_intern_free(m->strings);
	vt_evstats_free(m->evstats);
	vt_evstats_free(m->own_evstats);
	vt_evstats_free(m->groups);
	vt_evstats_free(m->own_groups);
	vt_memrecords_free(m->memory);
	vt_memrecords_free(m->own_memory);
	vti_trees_free(m->trees);
	free(m);
}

void vt_merge_warn(struct vt_merge *m, vt_warn_fn *fn, void *arg)
{
	m->warn = fn;
	m->warn_arg = arg;
}

void vti_leave_out(struct vt_merge *m, const char *why)
{
	m->bad++;
	if (m->warn)
		m->warn(m->warn_arg, why);
}

int vt_merge_start_chains(struct vt_merge *m, struct vt_images *images, struct vt_error *err)
{
	if (!m->trees)
		m->trees = vti_trees_new();
	return m->trees ? vti_trees_start(m->trees, images, err) : vt_error_nomem(err);
}

const struct vt_calldamage *vt_merge_chain_damage(const struct vt_merge *m)
{
	return vti_trees_damage(m->trees);
}

/* ---- the records of one stream ---- */

static bool feed_meta(struct vt_merge *m, const struct vt_record *rec)
{
	return vti_feed_conflict_meta(m, rec) && vti_feed_setting(m, rec);
}

static int feed_packs(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	uint32_t row;

	for (row = first; row < first + count; row++) {
		int code = vt_packs_feed(m->packs, b, row, 1, err);

		if (code == -VT_E_NOMEM)
			return code;
		if (code < 0)
			vti_leave_out(m, err->text);
	}
	return 0;
}

/* The profile of a stream only counts what is bad of executed code: it leaves the error in `why`.
 */
static int feed_tally(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	uint64_t bad = vt_profile_bad(m->tally.profile);
	struct vt_error why = VT_ERROR_INIT;
	int code = vt_tally_feed(&m->tally, b, first, count, &why);

	if (code < 0)
		*err = why;
	for (; bad < vt_profile_bad(m->tally.profile); bad++)
		vti_leave_out(m, why.text);
	return code;
}

int vt_merge_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		  struct vt_error *err)
{
	struct vt_merge *m = arg;
	bool (*feed)(struct vt_merge * m, const struct vt_record *rec) =
		b->kind == VT_META					  ? feed_meta
		: b->kind == VT_CONFLICT				  ? vti_feed_conflict
		: b->kind == VT_PATH					  ? vti_feed_path
		: b->kind == VT_PAIRSTAT				  ? vti_feed_pairstat
		: b->kind < VT_NKINDS && VT_KIND(b->kind) & VT_MEMRECORDS ? vti_feed_memory
									  : NULL;
	struct vt_record rec = {b, b->kind, first};

	for (; feed && rec.row < first + count; rec.row++)
		if (!feed(m, &rec))
			return vt_error_nomem(err);
	if (b->kind == VT_SAMPLE && !vti_feed_followed(m, b, first, count))
		return vt_error_nomem(err);
	if (vti_feed_evstats(m, b, first, count, err) < 0)
		return -VT_E_NOMEM;
	if (vt_hotprofile_feed(m->hots, b, first, count, err) < 0)
		return -(int)err->code;
	if (feed_packs(m, b, first, count, err) < 0)
		return -(int)err->code;
	if (m->trees && vti_trees_feed(m->trees, b, first, count, err) < 0)
		return -(int)err->code;
	return feed_tally(m, b, first, count, err);
}

/* ---- adding its sums to the others ---- */

static bool join_event(struct vt_merge *m, const struct vt_tally_event *e, uint32_t *index)
{
	const struct vti_merged_event key = {
		.policy = e->row[VT_EVENT_POLICY], .name = e->name, .unit = e->unit};
	bool added;
	struct vti_merged_event *joined = vt_hash_add(&m->events, &key, &added);
	unsigned f;

	if (!joined)
		return false;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (added || joined->row[f] != e->row[f])
			joined->row[f] = added ? e->row[f] : 0;
	*index = (uint32_t)vt_hash_index(&m->events, joined);
	return true;
}

/* The merged index of each event of the tally; owned by the caller.  NULL: out of memory. */
static uint32_t *join_events(struct vt_merge *m)
{
	const struct vt_hash *events = &m->tally.events;
	uint32_t *indices = calloc(events->count + 1, sizeof(*indices));
	size_t i;

	for (i = 0; indices && i < events->count; i++)
		if (!join_event(m, vt_hash_at(events, i), &indices[i])) {
			free(indices);
			return NULL;
		}
	return indices;
}

static bool join_image(struct vt_merge *m, const struct vt_tally_image *i, uint32_t *index)
{
	const struct vti_merged_image key = {.buildid = i->buildid,
					     .type_key = i->buildid ? 0 : (uint32_t)i->type,
					     .path_key = i->buildid ? 0 : i->path};
	bool added;
	struct vti_merged_image *joined = vt_hash_add(&m->images, &key, &added);

	if (!joined)
		return false;
	if (added || strcmp(vt_intern_get(m->strings, i->path),
			    vt_intern_get(m->strings, joined->path)) < 0) {
		joined->path = i->path;
		joined->type = i->type;
		joined->machine = i->machine;
	}
	*index = (uint32_t)vt_hash_index(&m->images, joined);
	return true;
}

bool vti_join_image_id(struct vt_merge *m, uint64_t id, uint32_t *index)
{
	const struct vt_tally_image image = vt_tally_image(&m->tally, id);

	*index = VT_UNMAPPED_IMAGE;
	return id == VT_UNMAPPED_IMAGE || join_image(m, &image, index);
}

static bool join_place(struct vt_merge *m, const struct vt_place *p, const uint32_t *events)
{
	const struct vt_profile_event *e = vt_profile_event(m->tally.profile, p->event);
	struct vti_merged_place key = {
		.offset = p->offset,
		.event = events[vt_tally_event_index(&m->tally, e->kind, e->id)]};
	struct vti_merged_place *joined;

	if (!vti_join_image_id(m, p->image, &key.image))
		return false;
	joined = vt_hash_add(&m->places, &key, NULL);
	if (!joined)
		return false;
	joined->samples += p->samples;
	joined->period += p->period;
	return true;
}

static bool join_loss(struct vt_merge *m, const struct vt_tally_loss *l, const uint32_t *events)
{
	const struct vt_tally_loss key = {
		.event = events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, l->event)],
		.source = l->source};
	struct vt_tally_loss *joined = vt_hash_add(&m->losses, &key, NULL);

	if (!joined)
		return false;
	joined->count += l->count;
	return true;
}

static bool join_gap(struct vt_merge *m, const struct vt_tally_gap *g)
{
	struct vt_tally_gap *joined = vt_hash_add(&m->gaps, g, NULL);

	if (!joined)
		return false;
	joined->bytes += g->bytes;
	joined->records += g->records;
	return true;
}

static bool join_tally(struct vt_merge *m, const uint32_t *events)
{
	const struct vt_stream_tally *t = &m->tally;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < vt_profile_nplaces(t->profile); i++)
		ok = join_place(m, vt_profile_place(t->profile, i), events);
	for (i = 0; ok && i < t->losses.count; i++)
		ok = join_loss(m, vt_hash_at(&t->losses, i), events);
	for (i = 0; ok && i < t->gaps.count; i++)
		ok = join_gap(m, vt_hash_at(&t->gaps, i));
	return ok;
}

/* ---- call trees ---- */

uint32_t vti_written_event_id(const struct vt_merge *m, uint32_t index)
{
	return ((const struct vti_merged_event *)vt_hash_at(&m->events, index))->id;
}

uint32_t vti_written_image_id(const struct vt_merge *m, uint32_t index)
{
	if (index == VT_UNMAPPED_IMAGE)
		return index;
	return ((const struct vti_merged_image *)vt_hash_at(&m->images, index))->id;
}

/* Without executed instructions there is no column of theirs. */
static bool join_tree_event(void *arg, const struct vt_callroot *root, uint32_t *index)
{
	const struct vt_merge *m = arg;
	const struct vt_profile *p = m->tally.profile;
	size_t i, n = vt_profile_nevents(p);

	if (!root->executed) {
		*index = m->own_events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT,
							    root->event)];
		return true;
	}
	for (i = 0; i < n; i++) {
		const struct vt_profile_event *e = vt_profile_event(p, i);

		if (!vt_callroot_is(root, e))
			continue;
		*index = m->own_events[vt_tally_event_index(&m->tally, e->kind, e->id)];
		return true;
	}
	return false;
}

static bool join_tree_image(void *arg, uint64_t id, uint32_t *index)
{
	return vti_join_image_id(arg, id, index);
}

static uint32_t written_tree_event(const void *arg, uint32_t index)
{
	return vti_written_event_id(arg, index);
}

static uint32_t written_tree_image(const void *arg, uint32_t index)
{
	return vti_written_image_id(arg, index);
}

static struct vti_tree_ids tree_ids(struct vt_merge *m)
{
	return (struct vti_tree_ids){m, join_tree_event, join_tree_image, written_tree_event,
				     written_tree_image};
}

/* Completes the call tree of the current stream.  Its events are then those of the tally. */
static int finish_trees(struct vt_merge *m, struct vt_error *err)
{
	struct vt_callroot root;
	size_t i;

	if (!m->trees)
		return 0;
	if (vti_trees_finish(m->trees, err) < 0)
		return -VT_E_NOMEM;
	for (i = 0; vti_trees_root_at(m->trees, i, &root); i++)
		if (!root.executed && !vt_tally_declare(&m->tally, root.event))
			return vt_error_nomem(err);
	return 0;
}

static int join_trees(struct vt_merge *m, const uint32_t *events, struct vt_error *err)
{
	const struct vti_tree_ids ids = tree_ids(m);

	m->own_events = events;
	return m->trees ? vti_trees_join(m->trees, &ids, err) : 0;
}

static int write_trees(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	const struct vti_tree_ids ids = tree_ids(m);

	return m->trees ? vti_trees_write(m->trees, &ids, w, err) : 0;
}

/* ---- the end of a stream ---- */

static int join_stream(struct vt_merge *m, const char *name, struct vt_error *err)
{
	uint32_t *events = join_events(m);
	int code = events ? vti_join_followed(m, events, name, err) : vt_error_nomem(err);

	if (code == 0 && (!join_tally(m, events) || !vti_join_conflicts(m)))
		code = vt_error_nomem(err);
	if (code == 0)
		code = vti_join_pairstats(m, events, err);
	if (code == 0)
		code = join_trees(m, events, err);
	if (code == 0 && !vti_join_paths(m, events))
		code = vt_error_nomem(err);
	if (code == 0)
		code = vti_join_evstats(m, events, err);
	if (code == 0)
		code = vti_join_memory(m, err);
	free(events);
	return code;
}

int vt_merge_end_stream(struct vt_merge *m, const char *name, struct vt_error *err)
{
	int code = vt_tally_finish(&m->tally, err);

	if (code < 0)
		return code;
	code = finish_trees(m, err);
	if (code == 0 &&
	    (!vti_declare_paths(m) || !vti_declare_evstats(m) || !vti_declare_followed(m)))
		code = vt_error_nomem(err);
	if (code == 0)
		code = vti_check_settings(m, name, err);
	if (code == 0)
		code = join_stream(m, name, err);
	if (code < 0)
		return code;
	vti_join_settings(m);
	vt_packs_end_stream(m->packs);
	vt_tally_fini(&m->tally);
	if (!vt_tally_init(&m->tally, m->strings))
		return vt_error_nomem(err);
	return vt_hotprofile_end(m->hots, err);
}

const struct vt_hot_damage *vt_merge_damage(const struct vt_merge *m)
{
	return vt_hotprofile_damage(m->hots);
}

uint64_t vt_merge_bad(const struct vt_merge *m)
{
	return m->bad;
}

bool vt_merge_raised(const struct vt_merge *m)
{
	return m->raised;
}

/* ---- writing ---- */

/* The sort key of an entry of a table: by texts, then numbers, then index. */
struct rank {
	const char *text[2];
	uint64_t number[3];
	size_t index;
};

static int compare_entry_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int i, c = 0;

	for (i = 0; i < 2 && c == 0; i++)
		c = strcmp(x->text[i], y->text[i]);
	for (i = 0; i < 3 && c == 0; i++)
		c = (x->number[i] > y->number[i]) - (x->number[i] < y->number[i]);
	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* The sort keys of a table in order; owned by the caller.  NULL: out of memory. */
static struct rank *rank_entries(const struct vt_merge *m, const struct vt_hash *h,
				 void (*describe)(const struct vt_merge *m, const void *entry,
						  struct rank *r))
{
	struct rank *ranks = malloc((h->count + 1) * sizeof(*ranks));
	size_t i;

	for (i = 0; ranks && i < h->count; i++) {
		ranks[i] = (struct rank){{"", ""}, {0, 0, 0}, i};
		describe(m, vt_hash_at(h, i), &ranks[i]);
	}
	if (ranks)
		qsort(ranks, h->count, sizeof(*ranks), compare_entry_ranks);
	return ranks;
}

static void describe_event(const struct vt_merge *m, const void *entry, struct rank *r)
{
	const struct vti_merged_event *e = entry;

	r->text[0] = vt_intern_get(m->strings, e->name);
	r->text[1] = vt_intern_get(m->strings, e->unit);
	r->number[0] = e->policy;
}

static void describe_image(const struct vt_merge *m, const void *entry, struct rank *r)
{
	const struct vti_merged_image *i = entry;

	r->text[0] = vt_intern_get(m->strings, i->path);
	r->text[1] = vt_intern_get(m->strings, i->buildid);
	r->number[0] = i->type;
}

static void describe_place(const struct vt_merge *m, const void *entry, struct rank *r)
{
	const struct vti_merged_place *p = entry;

	r->number[0] = vti_written_image_id(m, p->image);
	r->number[1] = p->offset;
	r->number[2] = vti_written_event_id(m, p->event);
}

static void describe_loss(const struct vt_merge *m, const void *entry, struct rank *r)
{
	const struct vt_tally_loss *l = entry;

	r->text[0] = vt_intern_get(m->strings, (uint32_t)l->source);
	r->number[0] = vti_written_event_id(m, (uint32_t)l->event);
}

static void describe_gap(const struct vt_merge *m, const void *entry, struct rank *r)
{
	const struct vt_tally_gap *g = entry;

	r->text[0] = vt_intern_get(m->strings, g->input);
	r->text[1] = vt_intern_get(m->strings, g->reason);
}

static void write_merged_string(const struct vt_merge *m, struct vt_writer *w, unsigned field,
				uint32_t string)
{
	vt_writer_bytes(w, field, vt_intern_get(m->strings, string),
			vt_intern_size(m->strings, string));
}

static void write_merged_event(const struct vt_merge *m, struct vt_writer *w, void *entry,
			       size_t number)
{
	struct vti_merged_event *e = entry;
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	unsigned f;

	e->id = (uint32_t)number;
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (f != VT_EVENT_NAME && f != VT_EVENT_UNIT)
			row[f] = e->row[f];
	row[VT_EVENT_ID] = number;
	row[VT_EVENT_POLICY] = e->policy;
	write_merged_string(m, w, VT_EVENT_NAME, e->name);
	write_merged_string(m, w, VT_EVENT_UNIT, e->unit);
}

static void write_merged_image(const struct vt_merge *m, struct vt_writer *w, void *entry,
			       size_t number)
{
	struct vti_merged_image *i = entry;
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	i->id = (uint32_t)number;
	row[VT_IMAGE_ID] = number;
	row[VT_IMAGE_TYPE] = i->type;
	row[VT_IMAGE_MACHINE] = i->machine;
	write_merged_string(m, w, VT_IMAGE_PATH, i->path);
	write_merged_string(m, w, VT_IMAGE_BUILDID, i->buildid);
	vt_packs_write(m->packs, (unsigned)i->type, vt_intern_get(m->strings, i->path),
		       vt_intern_size(m->strings, i->path), vt_intern_get(m->strings, i->buildid),
		       vt_intern_size(m->strings, i->buildid), i->id, w);
}

static void write_merged_place(const struct vt_merge *m, struct vt_writer *w, void *entry,
			       size_t number)
{
	const struct vti_merged_place *p = entry;
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	(void)number;
	row[VT_COUNT_IMAGE] = vti_written_image_id(m, p->image);
	row[VT_COUNT_OFFSET] = p->offset;
	row[VT_COUNT_EVENT] = vti_written_event_id(m, p->event);
	row[VT_COUNT_SAMPLES] = p->samples;
	row[VT_COUNT_PERIOD] = p->period;
}

static void write_merged_loss(const struct vt_merge *m, struct vt_writer *w, void *entry,
			      size_t number)
{
	const struct vt_tally_loss *l = entry;
	uint64_t *row = vt_writer_row(w, VT_LOST);

	(void)number;
	row[VT_LOST_EVENT] = vti_written_event_id(m, (uint32_t)l->event);
	row[VT_LOST_COUNT] = l->count;
	write_merged_string(m, w, VT_LOST_SOURCE, (uint32_t)l->source);
}

static void write_merged_gap(const struct vt_merge *m, struct vt_writer *w, void *entry,
			     size_t number)
{
	const struct vt_tally_gap *g = entry;
	uint64_t *row = vt_writer_row(w, VT_GAP);

	(void)number;
	row[VT_GAP_BYTES] = g->bytes;
	row[VT_GAP_RECORDS] = g->records;
	write_merged_string(m, w, VT_GAP_REASON, g->reason);
	write_merged_string(m, w, VT_GAP_INPUT, g->input);
}

/* ---- writing hot lists ---- */

/* Finds or adds the image of a hot list, which may have no samples. */
static bool join_hot_image(struct vt_merge *m, uint32_t number, uint32_t *index)
{
	const struct vt_hot_image *h = vt_hotprofile_image(m->hots, number);
	struct vt_tally_image i = {.type = 0};

	*index = VT_UNMAPPED_IMAGE;
	if (!h)
		return true;
	i.buildid = vt_intern_add(m->strings, h->buildid, h->buildid_size);
	i.path = vt_intern_str(m->strings, h->path);
	i.type = h->type;
	i.machine = h->machine;
	return i.buildid != UINT32_MAX && i.path != UINT32_MAX && join_image(m, &i, index);
}

/* Adds the images of hot lists before images get their ids. */
static int join_hot_images(struct vt_merge *m, struct vt_error *err)
{
	uint32_t index;
	size_t i;

	for (i = 0; i < vt_hotprofile_count(m->hots); i++) {
		const struct vt_hot_key *key = &vt_hotprofile_at(m->hots, i)->key;

		if (!join_hot_image(m, key->image, &index) ||
		    (key->caller && !join_hot_image(m, key->caller_image, &index)))
			return vt_error_nomem(err);
	}
	return 0;
}

static int write_hots(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < vt_hotprofile_count(m->hots); i++) {
		const struct vt_hot *h = vt_hotprofile_at(m->hots, i);
		uint64_t caller = h->key.caller_image;
		uint32_t index;

		if (h->key.caller) {
			if (!join_hot_image(m, h->key.caller_image, &index))
				return vt_error_nomem(err);
			caller = vti_written_image_id(m, index);
		}
		if (!join_hot_image(m, h->key.image, &index))
			return vt_error_nomem(err);
		if (vt_hot_write(h, vti_written_image_id(m, index), caller, w, err) < 0)
			return -(int)err->code;
	}
	return 0;
}

int vt_merge_write(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	/* Events and images first: they get the ids that the others are sorted by. */
	const struct {
		struct vt_hash *table;
		void (*describe)(const struct vt_merge *m, const void *entry, struct rank *r);
		void (*write)(const struct vt_merge *m, struct vt_writer *w, void *entry,
			      size_t number);
	} parts[] = {
		{&m->events, describe_event, write_merged_event},
		{&m->images, describe_image, write_merged_image},
		{&m->losses, describe_loss, write_merged_loss},
		{&m->gaps, describe_gap, write_merged_gap},
		{&m->places, describe_place, write_merged_place},
	};
	size_t i, k;

	if (join_hot_images(m, err) < 0 || vti_write_settings(m, w, err) < 0)
		return -(int)err->code;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct rank *ranks = rank_entries(m, parts[i].table, parts[i].describe);

		if (!ranks)
			return vt_error_nomem(err);
		for (k = 0; k < parts[i].table->count; k++)
			parts[i].write(m, w, vt_hash_at(parts[i].table, ranks[k].index), k);
		free(ranks);
	}
	if (write_trees(m, w, err) < 0 || vti_write_conflicts(m, w, err) < 0 ||
	    vti_write_paths(m, w, err) < 0 || vti_write_evstats(m, w, err) < 0 ||
	    vti_write_pairstats(m, w, err) < 0 || vti_write_memory(m, w, err) < 0)
		return -(int)err->code;
	vt_plugin_names_write(vt_hotprofile_plugins(m->hots), w);
	return write_hots(m, w, err);
}
