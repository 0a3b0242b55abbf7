/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AUXTRACE records, whose AUX areas follow them, and a look ahead for the type of the areas. */
#include "formats/perfdata/perfdata.h"

#include <inttypes.h>

#include "formats/perfdata/session.h"

#define PIPE_HEADER_SIZE 16
#define LOOK_AHEAD	 (4u << 20) /* bytes of records that may come before AUXTRACE_INFO */

static int put_aux_piece(struct pd_session *s, const struct vt_format_auxtrace *x)
{
	uint64_t *row;

	if (s->opt->auxtrace)
		return s->opt->auxtrace(s->opt->auxtrace_arg, x, s->err);
	row = vt_writer_row(s->w, VT_AUXTRACE);
	row[VT_AUXTRACE_INDEX] = x->index;
	row[VT_AUXTRACE_CPU] = (uint64_t)x->cpu;
	row[VT_AUXTRACE_TID] = (uint64_t)x->tid;
	row[VT_AUXTRACE_OFFSET] = x->offset;
	row[VT_AUXTRACE_REFERENCE] = x->reference;
	row[VT_AUXTRACE_POSITION] = x->position;
	row[VT_AUXTRACE_TOTAL] = x->total;
	vt_writer_bytes(s->w, VT_AUXTRACE_DATA, x->bytes, x->size);
	return 0;
}

/* Reads the bytes of an area, which begins at the input's position. */
static int read_aux_area(struct pd_session *s, struct vt_format_auxtrace *x)
{
	size_t have, n;
	int code;

	do {
		n = x->total - x->position < PD_PIECE_MAX ? (size_t)(x->total - x->position)
							  : PD_PIECE_MAX;
		if (vt_input_fill(s->in, n, &have, s->err) < 0)
			return -(int)s->err->code;
		x->size = have < n ? have : n;
		x->bytes = vt_input_data(s->in);
		code = put_aux_piece(s, x);
		if (code < 0)
			return code;
		vt_input_consume(s->in, x->size);
		x->position += x->size;
		if (x->size < n) {
			vti_pd_damage(s, s->in->offset, 0,
				      "AUX data end after %" PRIu64 " of %" PRIu64 " bytes",
				      x->position, x->total);
			return 0;
		}
	} while (x->position < x->total);
	return 0;
}

const char *vt_perfdata_auxtrace_name(uint32_t type)
{
	/* enum auxtrace_type of tools/perf/util/auxtrace.h */
	static const char *const names[] = {
		[1] = "Intel PT",	 [2] = "Intel BTS",    [3] = "CoreSight ETM",
		[4] = "Arm SPE",	 [5] = "s390 CPUM_SF", [6] = "HiSilicon PTT",
		[7] = "PowerPC VPA DTL",
	};
	const size_t n = sizeof(names) / sizeof(names[0]);

	return type && type < n ? names[type] : "an unknown kind";
}

int vti_pd_auxtrace(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	struct vt_format_auxtrace x = {.total = vt_cursor_u64(&c)};
	/* The record is consumed before its area is read. */
	const struct pd_rec area = {.offset = r->offset};
	int code;

	x.offset = vt_cursor_u64(&c);
	x.reference = vt_cursor_u64(&c);
	x.index = vt_cursor_u32(&c);
	x.tid = (int32_t)vt_cursor_u32(&c);
	x.cpu = (int32_t)vt_cursor_u32(&c);
	if (c.bad)
		vti_pd_bad_record(s, r, "too short for its type");
	vt_input_consume(s->in, r->size);
	if (c.bad)
		return 0;
	/* Decoders need the event's configuration. */
	code = vti_pd_events_emit(s);
	if (code < 0)
		return code;
	code = read_aux_area(s, &x);
	if (code >= 0 && !s->opt->auxtrace && !s->opt->keep_aux)
		vti_pd_aux_area(s, &area, x.position);
	return code;
}

/* ---- looking ahead ---- */

/* The offset of the first record; 0: the input has none. */
static uint64_t find_first_record(const uint8_t *p, size_t have, bool big)
{
	uint64_t size;

	if (have < PIPE_HEADER_SIZE || !vt_perfdata_probe(p, have))
		return 0;
	size = vti_pd_u64(p + 8, big);
	if (size == PIPE_HEADER_SIZE)
		return PIPE_HEADER_SIZE;
	return have < 48 ? 0 : vti_pd_u64(p + 40, big);
}

/* True for records after which no AUXTRACE_INFO can come. */
static bool ends_auxtrace_search(uint32_t type)
{
	return type == PD_SAMPLE || type == PD_FINISHED_ROUND || type == PD_AUXTRACE ||
	       type == PD_COMPRESSED || type == PD_COMPRESSED2;
}

int vt_perfdata_auxtrace_type(struct vt_input *in, uint32_t *type, struct vt_error *err)
{
	uint64_t at;
	bool big;
	size_t have;

	*type = 0;
	if (vt_input_fill(in, VT_FORMAT_PROBE_SIZE, &have, err) < 0)
		return -(int)err->code;
	big = have && *vt_input_data(in) == '2';
	at = find_first_record(vt_input_data(in), have, big);
	while (at && at <= LOOK_AHEAD) {
		const uint8_t *p;
		uint32_t kind, size;

		if (vt_input_fill(in, (size_t)at + PD_HEADER_SIZE + 4, &have, err) < 0)
			return -(int)err->code;
		if (have < at + PD_HEADER_SIZE + 4)
			return 0;
		p = vt_input_data(in) + at;
		kind = vti_pd_u32(p, big);
		size = vti_pd_u16(p + 6, big);
		if (size < PD_HEADER_SIZE || ends_auxtrace_search(kind))
			return 0;
		at += size;
		p += PD_HEADER_SIZE;
		if (kind == PD_AUXTRACE_INFO) {
			*type = vti_pd_u32(p, big);
			return 0;
		}
		if (kind == PD_TRACING_DATA)
			at += ((uint64_t)(vti_pd_u32(p, big)) + 7) & ~UINT64_C(7);
	}
	return 0;
}
