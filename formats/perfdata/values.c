/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/common/value_sample.h"
#include "formats/perfdata/session.h"

_Static_assert(VT_VALUE_SAMPLE_LINE == VT_KNOWN_LINE, "lines of samples are those of streams");

#define HEAD  40 /* bytes of struct vt_value_sample in the raw bytes */
#define STATE 16 /* of an entry of the state */

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
		.nstate = vt_le64(p + 32),
	};
}

/* Do the arrays have room, and is what it says of the walk possible? */
static bool is_valid_head(const struct vt_value_sample *v, size_t size)
{
	size_t need;

	if (v->stop >= VT_NWALKSTOPS || (v->walked && !v->stop) ||
	    v->nstate > VT_VALUE_SAMPLE_NSTATE)
		return false;
	need = HEAD + STATE * (size_t)v->nstate;
	return need <= size && v->nlines <= (size - need) / PD_LINE_MIN;
}

/* Do the entries ascend, and is each of a register that there is? */
static bool is_valid_state(const uint8_t *p, size_t count)
{
	uint64_t last = 8 * VT_VALUE_SAMPLE_MASK - 1, reg;
	size_t i;

	for (i = 0; i < count; i++, last = reg) {
		reg = vt_le64(p + STATE * i);
		if (reg <= last || reg >= 8 * (VT_VALUE_SAMPLE_VECTOR + 32) ||
		    (reg < 8 * VT_VALUE_SAMPLE_VECTOR && reg % 8))
			return false;
	}
	return true;
}

/* Puts one of the two words of each entry. */
static void put_state_words(struct pd_session *s, unsigned field, const uint8_t *p, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		s->words[i] = vt_le64(p + STATE * i);
	if (count)
		vt_writer_words(s->w, field, s->words, count);
}

/*
 * Sorts the lines, of which `p` has addresses, masks and bytes, into s->values.lines; as
 * vt_lines_sort().
 */
static size_t sort_value_lines(struct pd_session *s, const uint8_t *p, size_t size, size_t count,
			       size_t *contradictory)
{
	uint64_t *addr = s->words, *read = addr + count;
	size_t i, bytes = 0;

	for (i = 0; i < 2 * count; i++)
		addr[i] = vt_le64(p + 8 * i);
	for (i = 0; i < count; i++)
		bytes += (size_t)__builtin_popcountll(read[i]);
	size -= 16 * count;
	if (bytes > size || size - bytes > VT_VALUE_SAMPLE_PAD)
		return SIZE_MAX;
	return vt_lines_sort(s->values.lines, addr, read, p + 16 * count, bytes, count,
			     contradictory);
}

static void put_value_lines(struct pd_session *s, size_t count)
{
	const struct vt_line *line = s->values.lines;
	size_t i, size = 0;

	for (i = 0; i < count; i++) {
		s->words[i] = line[i].addr;
		s->words[count + i] = line[i].read;
		memcpy(s->values.bytes + size, line[i].bytes, vt_line_size(&line[i]));
		size += vt_line_size(&line[i]);
	}
	if (!count)
		return;
	vt_writer_words(s->w, VT_SAMPLE_LINE_ADDR, s->words, count);
	vt_writer_words(s->w, VT_SAMPLE_LINE_READ, s->words + count, count);
	vt_writer_bytes(s->w, VT_SAMPLE_LINES, s->values.bytes, size);
}

/* Returns false, and puts nothing, if anything is damaged but lines that contradict each other. */
static bool put_values(struct pd_session *s, const struct pd_sample *smp, uint64_t *row)
{
	struct vt_value_sample v;
	const uint8_t *state = smp->raw + HEAD;
	size_t head, lines, contradictory;

	if (smp->raw_size < HEAD)
		return false;
	read_value_head(&v, smp->raw);
	if (!is_valid_head(&v, smp->raw_size) || !is_valid_state(state, v.nstate))
		return false;
	head = HEAD + STATE * (size_t)v.nstate;
	lines = sort_value_lines(s, smp->raw + head, smp->raw_size - head, v.nlines,
				 &contradictory);
	if (lines == SIZE_MAX)
		return false;
	s->values.contradictory += contradictory > 0;
	row[VT_SAMPLE_FS_BASE] = v.fs_base;
	row[VT_SAMPLE_GS_BASE] = v.gs_base;
	row[VT_SAMPLE_MXCSR] = v.mxcsr;
	row[VT_SAMPLE_WALKED] = v.walked;
	row[VT_SAMPLE_WALK_STOP] = v.stop;
	put_value_lines(s, lines);
	put_state_words(s, VT_SAMPLE_STATE_REG, state, v.nstate);
	put_state_words(s, VT_SAMPLE_STATE, state + 8, v.nstate);
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
