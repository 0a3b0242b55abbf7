/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/followed.h"

void vt_followed_init(struct vt_hash *totals)
{
	vt_hash_init(totals, sizeof(struct vt_followed_total), sizeof(uint64_t));
}

static void add_bits(uint64_t *counts, unsigned n, uint64_t bits)
{
	unsigned i;

	for (i = 0; i < n; i++)
		counts[i] += bits >> i & 1;
}

static void add_sample(struct vt_followed_total *t, const struct vt_record *rec)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_PM_HAS);
	uint64_t told = vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD);

	t->samples++;
	add_bits(t->known, VT_PM_NBITS, has);
	add_bits(t->least, VT_PM_NBITS, has & vt_record_u64(rec, VT_SAMPLE_PM_LEAST));
	add_bits(t->told, VT_PM_NEVENTS, told);
	add_bits(t->happened, VT_PM_NEVENTS, told & vt_record_u64(rec, VT_SAMPLE_EVENTS));
}

bool vt_followed_add(struct vt_hash *totals, const struct vt_block *b, uint32_t first,
		     uint32_t count, size_t limit)
{
	struct vt_record rec = {b, b->kind, first};
	struct vt_followed_total *t = NULL;

	for (; rec.row < first + count; rec.row++) {
		uint64_t event = vt_record_u64(&rec, VT_SAMPLE_EVENT);

		if (!vt_record_u64(&rec, VT_SAMPLE_PM_HAS))
			continue;
		if (!t || t->event != event) {
			t = vt_hash_find(totals, &event);
			if (!t && totals->count >= limit)
				continue;
			t = t ? t : vt_hash_add(totals, &event, NULL);
			if (!t)
				return false;
		}
		add_sample(t, &rec);
	}
	return true;
}

void vt_walks_add(struct vt_walk_total walks[VT_NWALKSTOPS], const struct vt_block *b,
		  uint32_t first, uint32_t count)
{
	const struct vt_column *c = &b->columns[VT_SAMPLE_WALK_STOP];
	struct vt_record rec = {b, b->kind, first};

	if (!c->mask && c->v[0] == VT_WALK_NOT)
		return;
	for (; rec.row < first + count; rec.row++) {
		uint64_t stop = vt_record_u64(&rec, VT_SAMPLE_WALK_STOP);

		if (stop == VT_WALK_NOT || stop >= VT_NWALKSTOPS)
			continue;
		walks[stop].samples++;
		walks[stop].insns += vt_record_u64(&rec, VT_SAMPLE_WALKED);
		walks[stop].lines += vt_record_words(&rec, VT_SAMPLE_LINE_ADDR).count;
	}
}
