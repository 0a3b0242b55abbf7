/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/survey.h"

#include <stdlib.h>

#include "base/hash.h"
#include "formats/pt/sideband/ptinfo.h"

struct vt_pt_survey {
	struct vt_hash traces; /* struct vt_pt_surveyed */
	struct vti_pt_info info;
};

struct vt_pt_survey *vt_pt_survey_new(void)
{
	struct vt_pt_survey *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	vt_hash_init(&s->traces, sizeof(struct vt_pt_surveyed), sizeof(uint64_t));
	vti_pt_info_init(&s->info);
	return s;
}

void vt_pt_survey_free(struct vt_pt_survey *s)
{
	if (!s)
		return;
	vt_hash_fini(&s->traces);
	free(s);
}

/* NULL when memory runs out. */
static struct vt_pt_surveyed *find_trace(struct vt_pt_survey *s, uint64_t index)
{
	struct vt_pt_surveyed *t;
	bool added;

	t = vt_hash_add(&s->traces, &index, &added);
	if (t && added) {
		vti_pt_info_done(&s->info);
		vt_pt_scan_init(&t->scan, &s->info.options);
		t->cpu = t->tid = -1;
	}
	return t;
}

static bool feed_auxtrace(struct vt_pt_survey *s, const struct vt_record *rec)
{
	uint64_t index = vt_record_u64(rec, VT_AUXTRACE_INDEX);
	uint64_t at =
		vt_record_u64(rec, VT_AUXTRACE_OFFSET) + vt_record_u64(rec, VT_AUXTRACE_POSITION);
	struct vt_bytes data = vt_record_bytes(rec, VT_AUXTRACE_DATA);
	struct vt_pt_surveyed *t;

	if (!s->info.found ||
	    (s->traces.count >= VT_PT_SURVEY_TRACES && !vt_hash_find(&s->traces, &index)))
		return true;
	t = find_trace(s, index);
	if (!t)
		return false;
	/* perf pads the bytes of a record to a multiple of 8; the area continues at their start. */
	if (t->scan.size && (at > t->next || t->next - at >= 8))
		vt_pt_scan_break(&t->scan);
	t->cpu = vt_record_i64(rec, VT_AUXTRACE_CPU);
	t->tid = vt_record_i64(rec, VT_AUXTRACE_TID);
	t->next = at + data.size;
	vt_pt_scan_feed(&t->scan, data.data, data.size);
	return true;
}

int vt_pt_survey_feed(struct vt_pt_survey *s, const struct vt_block *b, uint32_t first,
		      uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};

	if (b->kind == VT_SAMPLE || b->kind == VT_EXEC || b->kind == VT_VALUE)
		return 0;
	for (; rec.row < first + count; rec.row++) {
		if (b->kind != VT_AUXTRACE)
			vti_pt_info_feed(&s->info, &rec);
		else if (!feed_auxtrace(s, &rec))
			return vt_error_nomem(err);
	}
	return 0;
}

int vt_pt_survey_feed_raw(struct vt_pt_survey *s, const uint8_t *data, size_t size,
			  struct vt_error *err)
{
	struct vt_pt_surveyed *t = find_trace(s, 0);

	if (!t)
		return vt_error_nomem(err);
	vt_pt_scan_feed(&t->scan, data, size);
	return 0;
}

void vt_pt_survey_finish(struct vt_pt_survey *s)
{
	size_t i;

	for (i = 0; i < s->traces.count; i++) {
		struct vt_pt_surveyed *t = vt_hash_at(&s->traces, i);

		vt_pt_scan_end(&t->scan);
	}
}

size_t vt_pt_survey_count(const struct vt_pt_survey *s)
{
	return s->traces.count;
}

const struct vt_pt_surveyed *vt_pt_survey_at(const struct vt_pt_survey *s, size_t i)
{
	return vt_hash_at(&s->traces, i);
}

uint64_t vt_pt_survey_places(const struct vt_pt_survey *s, uint64_t *bytes)
{
	uint64_t places = 0;
	size_t i;

	*bytes = 0;
	for (i = 0; i < s->traces.count; i++) {
		const struct vt_pt_scan *scan = &vt_pt_survey_at(s, i)->scan;

		places += scan->places;
		*bytes += scan->bad_bytes;
	}
	return places;
}

uint64_t vt_pt_survey_time(const struct vt_pt_survey *s, uint64_t tsc)
{
	return vt_pt_time(&s->info.conv, tsc);
}
