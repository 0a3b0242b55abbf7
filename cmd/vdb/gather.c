/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/gather.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/vdb/batch.h"

/* The prefix of the META keys by which an exported stream describes its sections. */
#define OWN_PREFIX "vdb."

struct fact {
	uint64_t key;
	uint32_t value;
	bool unfit; /* occurs twice, is no text, or describes a section of a database */
};

struct gather {
	struct vt_intern *strings;
	struct vt_stream_tally tally;
	struct vt_hash facts;
	uint64_t first; /* time of any record */
	uint64_t last;
	uint64_t pid; /* of the first sample or thread */
	/* What the batch borrows. */
	struct batch_arrays arrays;
	struct vt_db_meta *metas;
};

struct gather *gather_new(void)
{
	struct gather *g = calloc(1, sizeof(*g));
	bool ok;

	if (!g)
		return NULL;
	vt_hash_init(&g->facts, sizeof(struct fact), sizeof(uint64_t));
	g->first = UINT64_MAX;
	g->strings = vt_intern_new();
	ok = vt_tally_init(&g->tally, g->strings);
	if (g->strings && ok)
		return g;
	gather_free(g);
	return NULL;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	vt_hash_fini(&g->facts);
	vt_tally_fini(&g->tally);
	batch_arrays_fini(&g->arrays);
	free(g->metas);
	vt_intern_free(g->strings);
	free(g);
}

/* ---- records ---- */

static uint32_t gather_string(struct gather *g, const struct vt_record *rec, unsigned field)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	return vt_intern_add(g->strings, b.data, b.size);
}

static bool gather_fact(struct gather *g, const struct vt_record *rec)
{
	uint64_t key = gather_string(g, rec, VT_META_KEY);
	uint32_t value = gather_string(g, rec, VT_META_VALUE);
	bool added;
	struct fact *f = vt_hash_add(&g->facts, &key, &added);

	if (!f || key == UINT32_MAX || value == UINT32_MAX)
		return false;
	f->unfit = strncmp(vt_intern_get(g->strings, (uint32_t)key), OWN_PREFIX,
			   strlen(OWN_PREFIX)) == 0 ||
		   !added || value == 0 || vt_record_bytes(rec, VT_META_DATA).size;
	f->value = value;
	return true;
}

static void extend_marks(struct gather *g, uint64_t time, uint64_t pid)
{
	if (time < g->first)
		g->first = time;
	if (time > g->last)
		g->last = time;
	if (!g->pid)
		g->pid = pid;
}

static void gather_mark(struct gather *g, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_SAMPLE:
		extend_marks(g, vt_record_u64(rec, VT_SAMPLE_TIME),
			     vt_record_u64(rec, VT_SAMPLE_PID));
		break;
	case VT_THREAD:
		extend_marks(g, vt_record_u64(rec, VT_THREAD_TIME),
			     vt_record_u64(rec, VT_THREAD_PID));
		break;
	case VT_MAP:
		extend_marks(g, vt_record_u64(rec, VT_MAP_TIME), vt_record_u64(rec, VT_MAP_PID));
		break;
	default:
		break;
	}
}

int gather_feed(struct gather *g, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};

	for (; rec.row < first + count; rec.row++)
		if (b->kind != VT_META)
			gather_mark(g, &rec);
		else if (!gather_fact(g, &rec))
			return vt_error_nomem(err);
	return vt_tally_feed(&g->tally, b, first, count, err);
}

/* ---- the batch ---- */

static bool fill_batch_metas(struct gather *g, struct vt_db_batch *b)
{
	size_t i;

	g->metas = calloc(g->facts.count + 1, sizeof(*g->metas));
	for (i = 0; g->metas && i < g->facts.count; i++) {
		const struct fact *f = vt_hash_at(&g->facts, i);

		if (!f->unfit)
			g->metas[b->nmetas++] =
				(struct vt_db_meta){batch_text(g->strings, (uint32_t)f->key),
						    batch_text(g->strings, f->value)};
	}
	b->metas = g->metas;
	return g->metas;
}

int gather_finish(struct gather *g, struct vt_db_batch *b, struct vt_error *err)
{
	if (vt_tally_finish(&g->tally, err) < 0)
		return -(int)err->code;
	b->nmetas = 0;
	if (!fill_batch_metas(g, b))
		return vt_error_nomem(err);
	b->marks[0] = g->first == UINT64_MAX ? 0 : g->first;
	b->marks[1] = g->last;
	b->marks[2] = g->pid;
	return batch_fill(&g->arrays, &g->tally, b, err);
}

uint64_t gather_bad(const struct gather *g)
{
	return vt_profile_bad(g->tally.profile);
}
