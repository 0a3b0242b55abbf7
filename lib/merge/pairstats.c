/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "merge/internal.h"
#include "pairs/record.h"
#include "stream/sum.h"

/* A sum of pairs, by what it is of; texts are numbers of the pool. */
struct vti_pairstat_key {
	uint64_t offset;
	uint64_t event; /* of a stream: id; of all: index */
	uint32_t image; /* likewise, or VT_UNMAPPED_IMAGE */
	uint32_t metric;
	uint32_t split;
	uint32_t method; /* enum vt_method */
};

struct vti_merged_pairstat {
	struct vti_pairstat_key key;
	struct vt_pairsum sum;
};

void vti_init_pairstats(struct vti_pairstats *p)
{
	size_t size = sizeof(struct vti_merged_pairstat), key = sizeof(struct vti_pairstat_key);

	vt_hash_init(&p->own, size, key);
	vt_hash_init(&p->all, size, key);
}

void vti_fini_pairstats(struct vti_pairstats *p)
{
	vt_hash_fini(&p->own);
	vt_hash_fini(&p->all);
}

static bool add_pairstat(struct vt_hash *to, const struct vti_pairstat_key *key,
			 const struct vt_pairsum *sum)
{
	struct vti_merged_pairstat *s = vt_hash_add(to, key, NULL);

	if (s)
		vt_pairsum_join(&s->sum, sum);
	return s != NULL;
}

bool vti_feed_pairstat(struct vt_merge *m, const struct vt_record *rec)
{
	struct vti_pairstat_key key = {0};
	struct vt_pairstat s;

	if (!vt_pairstat_read(rec, &s)) {
		vti_leave_out(m, "PAIRSTAT record: its numbers cannot be");
		return true;
	}
	vti_has_sums(m, VTI_PAIRSTATS);
	key.offset = s.offset;
	key.event = s.event;
	key.image = s.image;
	key.method = s.method;
	key.metric = vt_intern_add(m->strings, s.metric.data, s.metric.size);
	key.split = vt_intern_add(m->strings, s.split.data, s.split.size);
	return key.metric != UINT32_MAX && key.split != UINT32_MAX &&
	       vti_tells(m, s.event, VTI_TOLD_PAIR_SUMS) &&
	       add_pairstat(&m->pairstats.own, &key, &s.sum);
}

int vti_join_pairstats(struct vt_merge *m, const uint32_t *events, struct vt_error *err)
{
	struct vti_pairstats *p = &m->pairstats;
	const struct vti_merged_pairstat *sum;
	size_t i;

	for (i = 0; i < p->own.count; i++) {
		const struct vti_merged_pairstat *s = vt_hash_at(&p->own, i);
		struct vti_pairstat_key key = s->key;

		key.event = events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, s->key.event)];
		if (!vti_join_image_id(m, s->key.image, &key.image) ||
		    !add_pairstat(&p->all, &key, &s->sum))
			return vt_error_nomem(err);
		/* No reader would take it, as doubles count no further. */
		sum = vt_hash_find(&p->all, &key);
		if ((double)sum->sum.pairs > VT_MOST_COUNT ||
		    (double)sum->sum.missing > VT_MOST_COUNT)
			return vt_error_set(err, VT_E_LIMIT, "a sum of pairs is impossibly high");
	}
	vt_hash_clear(&p->own);
	return 0;
}

/* ---- writing ---- */

struct ranked_pairstat {
	const struct vti_merged_pairstat *s;
	const char *metric;
	const char *split;
	uint32_t image; /* in the stream that is written */
	uint32_t event;
};

static int compare_pairstats(const void *pa, const void *pb)
{
	const struct ranked_pairstat *a = pa, *b = pb;
	int c;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->s->key.offset != b->s->key.offset)
		return a->s->key.offset < b->s->key.offset ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	c = strcmp(a->metric, b->metric);
	c = c ? c : strcmp(a->split, b->split);
	return c ? c
		 : (a->s->key.method > b->s->key.method) - (a->s->key.method < b->s->key.method);
}

static struct vt_bytes get_text(const struct vt_merge *m, uint32_t text)
{
	return (struct vt_bytes){(const uint8_t *)vt_intern_get(m->strings, text),
				 vt_intern_size(m->strings, text)};
}

int vti_write_pairstats(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	size_t i, n = m->pairstats.all.count;
	struct ranked_pairstat *ranked = calloc(n + 1, sizeof(*ranked));

	if (!ranked)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++) {
		const struct vti_merged_pairstat *s = vt_hash_at(&m->pairstats.all, i);

		ranked[i] = (struct ranked_pairstat){
			.s = s,
			.metric = vt_intern_get(m->strings, s->key.metric),
			.split = vt_intern_get(m->strings, s->key.split),
			.image = vti_written_image_id(m, s->key.image),
			.event = vti_written_event_id(m, (uint32_t)s->key.event),
		};
	}
	qsort(ranked, n, sizeof(*ranked), compare_pairstats);
	for (i = 0; i < n; i++) {
		const struct ranked_pairstat *r = &ranked[i];

		vt_pairstat_write(
			&(struct vt_pairstat){
				.offset = r->s->key.offset,
				.event = r->event,
				.image = r->image,
				.method = r->s->key.method,
				.metric = get_text(m, r->s->key.metric),
				.split = get_text(m, r->s->key.split),
				.sum = r->s->sum,
			},
			w);
	}
	free(ranked);
	return 0;
}
