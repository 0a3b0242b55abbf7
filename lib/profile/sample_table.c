/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/sample_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct vt_sampletable {
	struct vt_sampletable_shape shape;
	struct vt_sampletable_counts counts;
	uint32_t turn; /* which way goes next */
	size_t next;   /* no entry before it is in use, for vt_sampletable_take() */
	size_t entries;
	struct vt_sample_entry *entry;
};

struct vt_sampletable *vt_sampletable_new(const struct vt_sampletable_shape *shape)
{
	struct vt_sampletable *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->shape = *shape;
	t->entries = (size_t)shape->buckets * shape->ways;
	t->entry = calloc(t->entries, sizeof(*t->entry));
	if (!t->entry) {
		free(t);
		return NULL;
	}
	return t;
}

void vt_sampletable_free(struct vt_sampletable *t)
{
	if (t)
		free(t->entry);
	free(t);
}

static struct vt_sample_entry *bucket_of(const struct vt_sampletable *t,
					 const struct vt_sample_key *key)
{
	uint64_t h;

	if (t->shape.hash == VT_SAMPLE_HASH_FOLD)
		h = (key->pc + (uint64_t)(uint32_t)key->pid * 64 + key->event) >> 1;
	else
		h = vt_hash_bytes(key, sizeof(*key));
	return t->entry + (size_t)(h & (t->shape.buckets - 1)) * t->shape.ways;
}

static void move_to_front(struct vt_sample_entry *bucket, uint32_t way)
{
	struct vt_sample_entry hit = bucket[way];

	memmove(bucket + 1, bucket, way * sizeof(*bucket));
	bucket[0] = hit;
}

/* The way that a new entry goes to: entries in use come first in a bucket. */
static uint32_t make_room(struct vt_sampletable *t, struct vt_sample_entry *bucket, uint32_t used,
			  struct vt_sample_entry *evicted)
{
	uint32_t way = used;

	if (used == t->shape.ways) {
		way = used - 1;
		if (t->shape.victim == VT_VICTIM_ROUND_ROBIN) {
			way = t->turn;
			t->turn = t->turn + 1 < used ? t->turn + 1 : 0;
		}
		*evicted = bucket[way];
		t->counts.evictions++;
	}
	return way;
}

bool vt_sampletable_add(struct vt_sampletable *t, const struct vt_sample_key *key, uint64_t period,
			struct vt_sample_entry *evicted)
{
	struct vt_sample_entry *bucket = bucket_of(t, key);
	bool front = t->shape.victim == VT_VICTIM_LAST;
	uint64_t evictions = t->counts.evictions;
	uint32_t way;

	t->next = 0;
	t->counts.samples++;
	for (way = 0; way < t->shape.ways && bucket[way].samples; way++) {
		t->counts.compared++;
		if (memcmp(&bucket[way].key, key, sizeof(*key)) != 0)
			continue;
		bucket[way].samples++;
		bucket[way].period += period;
		if (front)
			move_to_front(bucket, way);
		return false;
	}
	t->counts.misses++;
	way = make_room(t, bucket, way, evicted);
	bucket[way] = (struct vt_sample_entry){*key, 1, period};
	if (front)
		move_to_front(bucket, way);
	return t->counts.evictions != evictions;
}

bool vt_sampletable_take(struct vt_sampletable *t, struct vt_sample_entry *entry)
{
	for (; t->next < t->entries; t->next++) {
		if (!t->entry[t->next].samples)
			continue;
		*entry = t->entry[t->next];
		t->entry[t->next++].samples = 0;
		return true;
	}
	return false;
}

const struct vt_sampletable_counts *vt_sampletable_counts(const struct vt_sampletable *t)
{
	return &t->counts;
}
