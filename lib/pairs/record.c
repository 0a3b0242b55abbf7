/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs/record.h"

#include <stdlib.h>

#include "base/buf.h"

/* Whether a record is less sure than its sums are, as there is more beyond the window. */
static bool is_partial(const struct vt_record *rec, const struct vt_pairstat *s)
{
	return vt_record_u64(rec, VT_PAIRSTAT_CONFIDENCE) <
	       vt_pairsum_value(&s->sum, vt_pairstat_is_total(s)).confidence;
}

bool vt_pairstat_read(const struct vt_record *rec, struct vt_pairstat *s)
{
	*s = (struct vt_pairstat){
		.offset = vt_record_u64(rec, VT_PAIRSTAT_OFFSET),
		.event = vt_record_u64(rec, VT_PAIRSTAT_EVENT),
		.image = (uint32_t)vt_record_u64(rec, VT_PAIRSTAT_IMAGE),
		.method = (uint32_t)vt_record_u64(rec, VT_PAIRSTAT_METHOD),
		.metric = vt_record_bytes(rec, VT_PAIRSTAT_METRIC),
		.split = vt_record_bytes(rec, VT_PAIRSTAT_SPLIT),
		.sum = {.pairs = vt_record_u64(rec, VT_PAIRSTAT_PAIRS),
			.missing = vt_record_u64(rec, VT_PAIRSTAT_MISSING),
			.x = vt_record_f64(rec, VT_PAIRSTAT_X),
			.x2 = vt_record_f64(rec, VT_PAIRSTAT_X2),
			.y = vt_record_f64(rec, VT_PAIRSTAT_Y),
			.y2 = vt_record_f64(rec, VT_PAIRSTAT_Y2),
			.xy = vt_record_f64(rec, VT_PAIRSTAT_XY),
			.counted = vt_record_u64(rec, VT_PAIRSTAT_METHOD) == VT_METHOD_COUNTED},
	};
	s->sum.partial = is_partial(rec, s);
	return s->metric.size <= VT_PAIR_MAX_METRIC &&
	       vt_record_u64(rec, VT_PAIRSTAT_IMAGE) <= UINT32_MAX &&
	       vt_record_u64(rec, VT_PAIRSTAT_METHOD) <= UINT32_MAX && vt_pairsum_is_valid(&s->sum);
}

bool vt_pairstat_is_total(const struct vt_pairstat *s)
{
	return vt_bytes_are(s->metric, "wasted");
}

void vt_pairstat_write(const struct vt_pairstat *s, struct vt_writer *w)
{
	struct vt_pairvalue v = vt_pairsum_value(&s->sum, vt_pairstat_is_total(s));
	uint64_t *row = vt_writer_row(w, VT_PAIRSTAT);

	row[VT_PAIRSTAT_IMAGE] = s->image;
	row[VT_PAIRSTAT_OFFSET] = s->offset;
	row[VT_PAIRSTAT_EVENT] = s->event;
	row[VT_PAIRSTAT_PAIRS] = s->sum.pairs;
	vt_row_set_f64(&row[VT_PAIRSTAT_X], s->sum.x);
	vt_row_set_f64(&row[VT_PAIRSTAT_X2], s->sum.x2);
	vt_row_set_f64(&row[VT_PAIRSTAT_Y], s->sum.y);
	vt_row_set_f64(&row[VT_PAIRSTAT_Y2], s->sum.y2);
	vt_row_set_f64(&row[VT_PAIRSTAT_XY], s->sum.xy);
	vt_row_set_f64(&row[VT_PAIRSTAT_VALUE], v.value);
	vt_row_set_f64(&row[VT_PAIRSTAT_ERROR], v.error);
	vt_row_set_f64(&row[VT_PAIRSTAT_LOW], v.low);
	vt_row_set_f64(&row[VT_PAIRSTAT_HIGH], v.high);
	row[VT_PAIRSTAT_CONFIDENCE] = v.confidence;
	row[VT_PAIRSTAT_METHOD] = s->method;
	row[VT_PAIRSTAT_MISSING] = s->sum.missing;
	vt_writer_bytes(w, VT_PAIRSTAT_METRIC, s->metric.data, s->metric.size);
	vt_writer_bytes(w, VT_PAIRSTAT_SPLIT, s->split.data, s->split.size);
}

static int compare_pair_places(const void *pa, const void *pb)
{
	const struct vt_pairplace *a = *(const struct vt_pairplace *const *)pa;
	const struct vt_pairplace *b = *(const struct vt_pairplace *const *)pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static void write_place(const struct vt_pairs *p, const struct vt_pairplace *place,
			const char *metric, struct vt_bytes split, enum vt_split side,
			struct vt_writer *w)
{
	const struct vt_pairstat s = {
		.offset = place->offset,
		.event = place->event,
		.image = place->image,
		.method = vt_pairs_totals(p)->windows ? VT_METHOD_COUNTED : VT_METHOD_FOLLOWED,
		.metric = {(const uint8_t *)metric, strlen(metric)},
		.split = split,
		.sum = *vt_pairs_sum(p, place->row, side),
	};

	if (vt_pairs_has_sum(p, &s.sum))
		vt_pairstat_write(&s, w);
}

int vt_pairs_write(const struct vt_pairs *p, const char *metric, const char *split,
		   struct vt_writer *w, struct vt_error *err)
{
	size_t i, n = vt_pairs_nplaces(p);
	const struct vt_pairplace **places = calloc(n + 1, sizeof(struct vt_pairplace *));
	struct vt_buf texts[VT_NSPLITS] = {VT_BUF_INIT, VT_BUF_INIT, VT_BUF_INIT};
	bool failed = !places;
	unsigned side;

	for (side = 0; side < VT_NSPLITS; side++) {
		vt_pairs_split_text(split, (enum vt_split)side, &texts[side]);
		failed = failed || texts[side].failed;
	}
	for (i = 0; i < n && !failed; i++)
		places[i] = vt_pairs_place(p, i);
	if (!failed)
		qsort(places, n, sizeof(struct vt_pairplace *), compare_pair_places);
	for (i = 0; i < n && !failed; i++)
		for (side = 0; side < VT_NSPLITS; side++)
			write_place(p, places[i], metric,
				    (struct vt_bytes){texts[side].data, texts[side].size},
				    (enum vt_split)side, w);
	for (side = 0; side < VT_NSPLITS; side++)
		vt_buf_free(&texts[side]);
	free(places);
	return failed ? vt_error_nomem(err) : 0;
}
