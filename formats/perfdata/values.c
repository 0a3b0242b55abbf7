/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/common/value_sample.h"
#include "formats/perfdata/session.h"

_Static_assert(VT_VALUE_SAMPLE_LINE == VT_KNOWN_LINE, "lines of samples are those of streams");

#define HEAD 40 /* bytes of struct vt_value_sample in the raw bytes */
#define HIGH 16 /* of the upper half of a vector register */

/* What precedes the arrays. */
static void read_value_head(struct vt_value_sample *v, const uint8_t *p)
{
	*v = (struct vt_value_sample){
		.magic = vt_le32(p),
		.walked = vt_le16(p + 4),
		.stop = vt_le16(p + 6),
		.nlines = vt_le32(p + 8),
		.mxcsr = vt_le32(p + 12),
		.fs_base = vt_le64(p + 16),
		.gs_base = vt_le64(p + 24),
		.high_mask = vt_le32(p + 32),
		.high_zero = vt_le32(p + 36),
	};
}

/* Do the sizes agree, and is what it says of the walk possible? */
static bool is_valid_head(const struct vt_value_sample *v, size_t size)
{
	size_t need = HEAD + HIGH * (size_t)__builtin_popcount(v->high_mask);

	if (v->stop >= VT_NWALKSTOPS || (v->walked && !v->stop) || v->high_mask & v->high_zero)
		return false;
	if (need > size || v->nlines > (size - need) / (sizeof(uint64_t) + VT_KNOWN_LINE))
		return false;
	need += v->nlines * (sizeof(uint64_t) + VT_KNOWN_LINE);
	return size - need < 8;
}

static void put_value_words(struct pd_session *s, unsigned field, const uint8_t *p, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		s->words[i] = vt_le64(p + 8 * i);
	if (count)
		vt_writer_words(s->w, field, s->words, count);
}

/* Sorts the lines into s->values.lines; as vt_lines_sort(). */
static size_t sort_value_lines(struct pd_session *s, const uint8_t *p, size_t count,
			       size_t *contradictory)
{
	size_t i;

	for (i = 0; i < count; i++)
		s->words[i] = vt_le64(p + 8 * i);
	return vt_lines_sort(s->values.lines, s->words, p + 8 * count, count, contradictory);
}

static void put_value_lines(struct pd_session *s, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		s->words[i] = s->values.lines[i].addr;
		memcpy(s->values.bytes + VT_KNOWN_LINE * i, s->values.lines[i].bytes,
		       VT_KNOWN_LINE);
	}
	if (!count)
		return;
	vt_writer_words(s->w, VT_SAMPLE_LINE_ADDR, s->words, count);
	vt_writer_bytes(s->w, VT_SAMPLE_LINES, s->values.bytes, VT_KNOWN_LINE * count);
}

/* Returns false, and puts nothing, if anything is damaged but lines that contradict each other. */
static bool put_values(struct pd_session *s, const struct pd_sample *smp, uint64_t *row)
{
	struct vt_value_sample v;
	size_t high, lines, contradictory;

	if (smp->raw_size < HEAD)
		return false;
	read_value_head(&v, smp->raw);
	if (!is_valid_head(&v, smp->raw_size))
		return false;
	high = 2 * (size_t)__builtin_popcount(v.high_mask);
	lines = sort_value_lines(s, smp->raw + HEAD + 8 * high, v.nlines, &contradictory);
	if (lines == SIZE_MAX)
		return false;
	s->values.contradictory += contradictory > 0;
	row[VT_SAMPLE_FS_BASE] = v.fs_base;
	row[VT_SAMPLE_GS_BASE] = v.gs_base;
	row[VT_SAMPLE_MXCSR] = v.mxcsr;
	row[VT_SAMPLE_HIGH_MASK] = v.high_mask;
	row[VT_SAMPLE_HIGH_ZERO] = v.high_zero;
	row[VT_SAMPLE_WALKED] = v.walked;
	row[VT_SAMPLE_WALK_STOP] = v.stop;
	put_value_lines(s, lines);
	put_value_words(s, VT_SAMPLE_VECTOR_HIGH, smp->raw + HEAD, high);
	return true;
}

bool vti_pd_are_values(const struct pd_sample *smp)
{
	return smp->raw_size >= sizeof(uint32_t) && vt_le32(smp->raw) == VT_VALUE_SAMPLE_MAGIC;
}

void vti_pd_put_values(struct pd_session *s, const struct pd_rec *r, const struct pd_sample *smp,
		       uint64_t *row)
{
	uint64_t before = s->values.damaged + s->values.contradictory;

	if (!put_values(s, smp, row))
		s->values.damaged++;
	if (!before && s->values.damaged + s->values.contradictory)
		s->values.offset = r->offset;
}

static void put_values_gap(struct pd_session *s, const char *reason, uint64_t records)
{
	if (!records)
		return;
	vti_pd_gap(s, reason, s->values.offset, 0, records);
	s->sum->damaged++;
}

void vti_pd_values_emit(struct pd_session *s)
{
	put_values_gap(s, "samples whose lines of memory are damaged", s->values.damaged);
	put_values_gap(s, "samples with contradictory lines of memory", s->values.contradictory);
}
