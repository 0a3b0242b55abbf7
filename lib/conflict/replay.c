/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conflict/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conflict/replay_internal.h"
#include "profile/event_choice.h"

#define META_SIZE 24 /* digits of a number, and the zero */

struct vt_replay *vt_replay_new(const struct vt_replay_options *opt, struct vt_error *err)
{
	struct vt_replay *rp = calloc(1, sizeof(*rp));

	if (!rp) {
		vt_error_nomem(err);
		return NULL;
	}
	rp->o = *opt;
	vt_hash_init(&rp->places, sizeof(struct vti_place), sizeof(struct vti_place));
	vti_replay_insns_init(&rp->insns);
	vti_bases_init(&rp->bases);
	vt_hash_init(&rp->images, sizeof(struct vti_replay_image), sizeof(uint64_t));
	rp->conflicts = vt_conflicts_new(opt->model, opt->dependent, err);
	rp->context = vt_context_new(NULL);
	rp->profile = rp->context ? vt_profile_new(rp->context) : NULL;
	rp->space = vt_addrspace_new();
	rp->dict = vt_bblocks_new();
	rp->strings = vt_intern_new();
	if (rp->conflicts && (!rp->profile || !rp->space || !rp->dict || !rp->strings))
		vt_error_nomem(err);
	else if (rp->conflicts && vti_replay_interpreters(rp, err)) {
		vt_context_add(rp->context, &(struct vt_consumer){.take = vt_profile_feed,
								  .arg = rp->profile,
								  .kinds = ~(VT_KIND(VT_EXEC) |
									     VT_KIND(VT_BLOCK))});
		return rp;
	}
	vt_replay_free(rp);
	return NULL;
}

void vt_replay_free(struct vt_replay *rp)
{
	if (!rp)
		return;
	vti_replay_decide(rp, VT_REPLAY_NOTHING);
	vti_replay_free_blocks(rp);
	vt_hash_fini(&rp->places);
	vt_hash_fini(&rp->insns);
	vti_bases_fini(&rp->bases);
	vt_hash_fini(&rp->images);
	vt_conflicts_free(rp->conflicts);
	vt_profile_free(rp->profile);
	vt_context_free(rp->context);
	vt_addrspace_free(rp->space);
	vt_bblocks_free(rp->dict);
	vt_intern_free(rp->strings);
	free(rp->accesses);
	free(rp->pairs);
	free(rp);
}

/* ---- places ---- */

uint32_t vti_replay_place(struct vt_replay *rp, int64_t pid, uint64_t ip)
{
	const struct vt_map *m = vt_addrspace_find(rp->space, (int32_t)pid, ip, 0);
	struct vti_place key = {.offset = m ? vt_map_offset(m, ip) : ip,
				.image = m ? m->image : VT_UNMAPPED_IMAGE,
				.pid = m ? 0 : (uint32_t)pid};
	const uint8_t *place = vt_hash_add(&rp->places, &key, NULL);

	return place ? (uint32_t)((size_t)(place - rp->places.entries) / sizeof(key)) : UINT32_MAX;
}

/* ---- records ---- */

static int take_image(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vti_replay_image *image = vt_hash_add(&rp->images, &id, NULL);

	if (image)
		image->path = vt_intern_add(rp->strings, path.data, path.size);
	if (!image || image->path == UINT32_MAX)
		return vt_error_nomem(err);
	return vt_addrspace_feed(rp->space, rec, err);
}

static int take_block(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words slots = vt_record_words(rec, VT_BLOCK_SLOTS);
	size_t i;

	for (i = 0; i < slots.count && !rp->has_addresses; i++) {
		unsigned what = slots.data[i] >> 16 & 0xff;

		rp->has_addresses = what == VT_WHAT_LOAD_ADDRESS || what == VT_WHAT_STORE_ADDRESS;
	}
	return vt_bblocks_add(rp->dict, rec, err);
}

static int take_exec(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	if (rp->source == VT_REPLAY_NOTHING)
		vti_replay_decide(rp, rp->has_addresses ? VT_REPLAY_RECORDED : VT_REPLAY_PATH);
	rp->totals.ignored += rp->source == VT_REPLAY_SAMPLES;
	return rp->source == VT_REPLAY_RECORDED ? vti_replay_exec(rp, rec, err) : 0;
}

static int take_record(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EXEC:
		return take_exec(rp, rec, err);
	case VT_BLOCK:
		return take_block(rp, rec, err);
	case VT_IMAGE:
		return take_image(rp, rec, err);
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
		return vt_addrspace_feed(rp->space, rec, err);
	case VT_SAMPLE:
		if (rp->source == VT_REPLAY_NOTHING && !rp->has_addresses &&
		    vt_record_words(rec, VT_SAMPLE_UREGS).count)
			vti_replay_decide(rp, VT_REPLAY_SAMPLES);
		return 0;
	case VT_GAP:
	case VT_LOST:
	case VT_SIGNAL:
		rp->runs = false;
		return 0;
	default:
		return 0;
	}
}

int vt_replay_feed(struct vt_replay *rp, const struct vt_block *block, uint32_t first,
		   uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = vt_context_feed(rp->context, block, first, count, err);

	for (; rec.row - first < count && code == 0; rec.row++) {
		code = take_record(rp, &rec, err);
		if (code == 0)
			code = vti_replay_interpret(rp, &rec, err);
		if (code == -VT_E_FORMAT) {
			rp->totals.bad++;
			if (rp->o.warn)
				rp->o.warn(rp->o.warn_arg, err->text);
			code = 0;
		}
	}
	return code;
}

enum vt_replay_source vt_replay_source(const struct vt_replay *rp)
{
	return rp->source;
}

/* ---- the pairs ---- */

static bool is_wanted(const struct vt_replay *rp, uint32_t image)
{
	uint64_t id = image;
	const struct vti_replay_image *i = vt_hash_find(&rp->images, &id);
	const char *path = i ? vt_intern_get(rp->strings, i->path) : "", *name = strrchr(path, '/');

	return !rp->o.image || strcmp(path, rp->o.image) == 0 ||
	       (name && strcmp(name + 1, rp->o.image) == 0);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct vt_replay_pair *a = pa, *b = pb;
	const uint64_t x[] = {a->image,	  a->offset,	    a->type,
			      a->nearest, a->earlier_image, a->earlier};
	const uint64_t y[] = {b->image,	  b->offset,	    b->type,
			      b->nearest, b->earlier_image, b->earlier};
	size_t i;

	for (i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool gather_pairs(struct vt_replay *rp)
{
	size_t i, n = vt_conflicts_count(rp->conflicts);

	rp->pairs = calloc(n + 1, sizeof(*rp->pairs));
	for (i = 0; rp->pairs && i < n; i++) {
		const struct vt_conflict_pair *p = vt_conflicts_at(rp->conflicts, i);
		const struct vti_place *later = vt_hash_at(&rp->places, p->later);
		const struct vti_place *earlier = vt_hash_at(&rp->places, p->earlier);

		if (!is_wanted(rp, later->image))
			continue;
		rp->totals.pairs[p->type]++;
		rp->totals.met[p->type] += p->count;
		rp->pairs[rp->npairs++] = (struct vt_replay_pair){
			.image = later->image,
			.earlier_image = earlier->image,
			.offset = later->offset,
			.earlier = earlier->offset,
			.type = (enum vt_conflict)p->type,
			.count = p->count,
			.executions = vt_conflicts_executions(rp->conflicts, p->later),
			.distance = p->distance,
			.nearest = p->nearest};
	}
	if (rp->pairs)
		qsort(rp->pairs, rp->npairs, sizeof(*rp->pairs), compare_pairs);
	return rp->pairs != NULL;
}

/* ---- their samples ---- */

/* Whether a text holds a name, in capitals or not. */
static bool holds(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; *text; text++)
		if (strncasecmp(text, name, n) == 0)
			return true;
	return false;
}

/* Intel's and AMD's event lists. */
bool vt_conflict_event_fits(enum vt_conflict type, const char *event)
{
	static const struct {
		enum vt_conflict type;
		const char *event;
	} known[] = {
		{VT_CONFLICT_FORWARD, "ld_blocks.store_forward"},
		{VT_CONFLICT_FORWARD, "load_blocks.store_forward"},
		{VT_CONFLICT_FORWARD, "ls_bad_status2.stli_other"},
		{VT_CONFLICT_ALIAS_4K, "ld_blocks_partial.address_alias"},
		{VT_CONFLICT_ALIAS_4K, "ld_blocks.address_alias"},
		{VT_CONFLICT_ORDER, "machine_clears.memory_ordering"},
		{VT_CONFLICT_ORDER, "machine_clears.disambiguation"},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type && holds(event, known[i].event))
			return true;
	return false;
}

static bool is_chosen(const struct vt_replay *rp, const struct vt_event_choice *chosen,
		      uint32_t event, enum vt_conflict type)
{
	size_t i;

	if (!rp->o.nevents)
		return vt_conflict_event_fits(type, vt_profile_event(rp->profile, event)->name);
	for (i = 0; i < chosen->count; i++)
		if (chosen->index[i] == event)
			return true;
	return false;
}

/* The samples of one place belong to all pairs whose later instruction is there. */
static void add_samples(struct vt_replay *rp, const struct vt_event_choice *chosen,
			const struct vt_place *at)
{
	size_t low = 0, high = rp->npairs;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct vt_replay_pair *p = &rp->pairs[mid];

		if (p->image < at->image || (p->image == at->image && p->offset < at->offset))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < rp->npairs && rp->pairs[low].image == at->image &&
	       rp->pairs[low].offset == at->offset;
	     low++) {
		if (!is_chosen(rp, chosen, at->event, rp->pairs[low].type))
			continue;
		rp->pairs[low].samples += at->samples;
		rp->totals.samples += at->samples;
	}
}

int vt_replay_finish(struct vt_replay *rp, struct vt_error *err)
{
	struct vt_event_choice chosen = {0};
	int code = vt_profile_finish(rp->profile, err);
	size_t i;

	rp->totals.of = *vt_conflicts_totals(rp->conflicts);
	if (code == 0 && !gather_pairs(rp))
		code = vt_error_nomem(err);
	if (code == 0 && rp->o.nevents)
		code = vt_event_choice_init(&chosen, rp->profile, rp->o.events, rp->o.nevents, err);
	if (code < 0)
		return code;
	for (i = 0; i < vt_profile_nplaces(rp->profile); i++)
		add_samples(rp, &chosen, vt_profile_place(rp->profile, i));
	vt_event_choice_fini(&chosen);
	return 0;
}

size_t vt_replay_count(const struct vt_replay *rp)
{
	return rp->npairs;
}

const struct vt_replay_pair *vt_replay_at(const struct vt_replay *rp, size_t i)
{
	return &rp->pairs[i];
}

const struct vt_replay_totals *vt_replay_totals(const struct vt_replay *rp)
{
	return &rp->totals;
}

/* ---- writing ---- */

static void write_meta(struct vt_writer *w, const char *key, uint64_t number)
{
	char text[META_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, text);
}

static void write_pair(const struct vt_replay_pair *p, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_CONFLICT);

	row[VT_CONFLICT_IMAGE] = p->image;
	row[VT_CONFLICT_OFFSET] = p->offset;
	row[VT_CONFLICT_EARLIER_IMAGE] = p->earlier_image;
	row[VT_CONFLICT_EARLIER] = p->earlier;
	row[VT_CONFLICT_TYPE] = p->type;
	row[VT_CONFLICT_COUNT] = p->count;
	row[VT_CONFLICT_EXECUTIONS] = p->executions;
	row[VT_CONFLICT_DISTANCE] = p->distance;
	row[VT_CONFLICT_NEAREST] = p->nearest;
	row[VT_CONFLICT_SAMPLES] = p->samples;
}

static void write_place(const struct vt_replay *rp, const struct vt_place *p, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = p->image;
	row[VT_COUNT_OFFSET] = p->offset;
	row[VT_COUNT_EVENT] = vt_profile_event(rp->profile, p->event)->id;
	row[VT_COUNT_SAMPLES] = p->samples;
	row[VT_COUNT_PERIOD] = p->period;
}

void vt_replay_write(const struct vt_replay *rp, struct vt_writer *w)
{
	const struct vt_replay_totals *t = &rp->totals;
	size_t i;

	for (i = 0; i < vt_profile_nplaces(rp->profile); i++)
		write_place(rp, vt_profile_place(rp->profile, i), w);
	for (i = 0; i < rp->npairs; i++)
		write_pair(&rp->pairs[i], w);
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, "replay.model");
	vt_writer_text(w, VT_META_VALUE, rp->o.model->name);
	write_meta(w, "replay.distance", rp->o.model->distance);
	for (i = 0; i < rp->o.nevents; i++) {
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "replay.event");
		vt_writer_text(w, VT_META_VALUE, rp->o.events[i]);
	}
	write_meta(w, "replay.runs", t->of.runs);
	write_meta(w, "replay.insns", t->of.insns);
	write_meta(w, "replay.accesses", t->of.accesses);
	write_meta(w, "replay.known", t->of.known);
	write_meta(w, "replay.relative", t->of.relative);
	write_meta(w, "replay.apart", t->of.apart);
	write_meta(w, "replay.dependent", t->of.ruled_out);
}
