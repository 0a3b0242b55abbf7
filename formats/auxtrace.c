/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/auxtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/tempfile.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/options.h"
#include "formats/pt/sideband/session.h"
#include "formats/spe/decode.h"
#include "stream/kinds.h"

/* The decoders of AUX areas.  A new one is a folder of its own and a row here. */
static const struct vt_aux_decoder *const decoders[] = {
	&vt_pt_aux_decoder,
	&vt_spe_aux_decoder,
};

#define NDECODERS (sizeof(decoders) / sizeof(decoders[0]))

/* Also decodes branch stacks (--lbr), for which it needs the code of all processes, too. */
static const struct vt_aux_decoder *const lbr_decoder = &vt_pt_aux_decoder;

static const struct vt_aux_decoder *find_decoder(uint64_t type)
{
	size_t i;

	for (i = 0; i < NDECODERS; i++) {
		if (decoders[i]->type == type)
			return decoders[i];
	}
	return NULL;
}

/* An input that is decoded in two passes. */
struct job {
	const struct vt_format_options *opt;
	const char *input;		      /* its name */
	const struct vt_aux_decoder *decoder; /* NULL: not known yet, or none */
	struct vt_aux_session *session;	      /* NULL if `decoder` is */
	struct vt_spool spool;
	struct vt_writer *w;
	bool raw; /* AUX areas stay as they are */
	bool lbr;
};

/* Checks the options of all decoders, so that a bad one is reported for any input. */
static int start_job(struct job *j, const struct vt_format_options *opt, const char *input,
		     struct vt_writer *w, struct vt_error *err)
{
	const char *engine = opt->pt ? opt->pt->engine : NULL;
	int code = 0;
	size_t i;

	*j = (struct job){.opt = opt,
			  .input = input,
			  .w = w,
			  .spool.fd = -1,
			  .raw = engine && strcmp(engine, VT_PT_ENGINE_NONE) == 0,
			  .lbr = opt->pt && opt->pt->lbr};
	for (i = 0; i < NDECODERS && code == 0; i++)
		code = decoders[i]->check_options(opt, err);
	return code;
}

static int open_decoder_session(struct job *j, const struct vt_aux_decoder *decoder,
				struct vt_error *err)
{
	j->session = decoder->open(j->opt, j->input, err);
	if (!j->session)
		return -(int)err->code;
	j->decoder = decoder;
	return 0;
}

static int end_job(struct job *j, int code)
{
	if (j->decoder)
		j->decoder->close(j->session);
	vt_spool_close(&j->spool);
	return code;
}

/* Gives each record of the spool to one pass of the decoder. */
static int pass_records(struct job *j,
			int (*take)(struct vt_aux_session *s, const struct vt_record *rec,
				    struct vt_error *err),
			struct vt_error *err)
{
	struct vt_record rec;
	int r;

	while ((r = vt_reader_next(j->spool.r, &rec, err)) > 0) {
		r = take(j->session, &rec, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* Makes both passes over the spool, which has all records of the input. */
static int decode_spool(struct job *j, struct vt_format_summary *sum, struct vt_error *err)
{
	int code = vt_spool_rewind(&j->spool, err);

	if (code == 0)
		code = pass_records(j, j->decoder->scan_record, err);
	if (code == 0)
		code = vt_spool_rewind(&j->spool, err);
	if (code == 0)
		code = vt_writer_add_input(j->w, j->spool.r, err);
	if (code == 0)
		code = j->decoder->begin_output(j->session, j->w, err);
	if (code == 0)
		code = pass_records(j, j->decoder->decode_record, err);
	return code == 0 ? j->decoder->end_output(j->session, sum, err) : code;
}

/* ---- perf.data ---- */

static int take_aux_piece(void *arg, const struct vt_format_auxtrace *piece, struct vt_error *err)
{
	struct job *j = arg;

	return j->decoder->scan_piece(j->session, piece, err);
}

static int decode_perfdata_job(struct job *j, struct vt_input *in, struct vt_format_summary *sum,
			       struct vt_error *err)
{
	struct vt_format_options inner = *j->opt;
	const struct vt_aux_decoder *decoder;
	uint32_t type;
	int code = vt_perfdata_auxtrace_type(in, &type, err);

	if (code < 0)
		return code;
	decoder = j->raw ? NULL : find_decoder(type);
	inner.keep_aux = j->raw;
	if (!decoder && !j->lbr)
		return vt_perfdata_decode(in, j->w, &inner, sum, err);
	code = open_decoder_session(j, decoder ? decoder : lbr_decoder, err);
	if (code == 0)
		code = vt_spool_open(&j->spool, vt_tempdir(j->opt->tmpdir), NULL, err);
	if (code < 0)
		return code;
	if (decoder) {
		inner.auxtrace = take_aux_piece;
		inner.auxtrace_arg = j;
	}
	code = vt_perfdata_decode(in, j->spool.w, &inner, sum, err);
	return code < 0 ? code : decode_spool(j, sum, err);
}

int vt_auxtrace_decode(struct vt_input *in, struct vt_writer *w,
		       const struct vt_format_options *opt, struct vt_format_summary *sum,
		       struct vt_error *err)
{
	struct job j;
	int code = start_job(&j, opt, in->name, w, err);

	return end_job(&j, code < 0 ? code : decode_perfdata_job(&j, in, sum, err));
}

/* ---- a stream ---- */

struct vt_auxtrace_stream {
	struct job job;
	enum {
		UNDECIDED, /* unknown yet: records go to the spool */
		DECODE,	   /* there are AUX areas with a decoder: all records go to the spool */
		COPY	   /* there are none: records are copied to the output */
	} state;
	/* Areas without a decoder, except those that a GAP of the stream reports. */
	uint64_t aux_areas;
	uint64_t aux_bytes;
	uint32_t aux_type;
};

/* Kinds that come after the AUXINFO of a recording, if it has one. */
static bool comes_after_auxinfo(uint32_t kind)
{
	return kind == VT_SAMPLE || kind == VT_EXEC || kind == VT_AUXTRACE || kind == VT_HOT ||
	       kind == VT_COUNT || kind == VT_VALUE || kind == VT_STATE || kind == VT_PACKETS;
}

struct vt_auxtrace_stream *vt_auxtrace_stream_new(const struct vt_reader *r, struct vt_writer *w,
						  const struct vt_format_options *opt,
						  struct vt_error *err)
{
	struct vt_auxtrace_stream *s = calloc(1, sizeof(*s));
	int code;

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	code = start_job(&s->job, opt, vt_reader_name(r), w, err);
	if (code == 0 && s->job.lbr) {
		s->state = DECODE;
		code = open_decoder_session(&s->job, lbr_decoder, err);
	}
	if (code == 0 && vt_spool_open(&s->job.spool, vt_tempdir(opt->tmpdir), r, err) == 0)
		return s;
	vt_auxtrace_stream_free(s);
	return NULL;
}

void vt_auxtrace_stream_free(struct vt_auxtrace_stream *s)
{
	if (s)
		end_job(&s->job, 0);
	free(s);
}

/* Copies the records of the spool to the output: there is nothing to decode. */
static int copy_spooled_records(struct vt_auxtrace_stream *s, struct vt_error *err)
{
	struct vt_record rec;
	int code = vt_spool_rewind(&s->job.spool, err);

	s->state = COPY;
	if (code == 0)
		code = vt_writer_add_input(s->job.w, s->job.spool.r, err);
	while (code == 0 && (code = vt_reader_next(s->job.spool.r, &rec, err)) > 0) {
		vt_writer_copy(s->job.w, &rec);
		code = vt_writer_error(s->job.w, err);
	}
	return code;
}

/* Counts the AUX areas without a decoder, as vt_perfdata_decode() does. */
static void count_aux_area(struct vt_auxtrace_stream *s, const struct vt_record *rec)
{
	static const char gap[] = VT_PERFDATA_AUX_GAP;
	struct vt_bytes b;

	if (rec->kind == VT_AUXINFO) {
		s->aux_type = (uint32_t)vt_record_u64(rec, VT_AUXINFO_TYPE);
	} else if (rec->kind == VT_AUXTRACE) {
		s->aux_areas += vt_record_u64(rec, VT_AUXTRACE_POSITION) == 0;
		s->aux_bytes += vt_record_bytes(rec, VT_AUXTRACE_DATA).size;
	} else if (rec->kind == VT_GAP) {
		b = vt_record_bytes(rec, VT_GAP_REASON);
		if (b.size < sizeof(gap) - 1 || memcmp(b.data, gap, sizeof(gap) - 1) != 0)
			return;
		/* A GAP comes after the area that it stands for. */
		s->aux_areas -= s->aux_areas > 0;
		s->aux_bytes -= vt_record_u64(rec, VT_GAP_BYTES) <= s->aux_bytes
					? vt_record_u64(rec, VT_GAP_BYTES)
					: s->aux_bytes;
	}
}

static void report_aux_areas(const struct vt_auxtrace_stream *s, struct vt_format_summary *sum)
{
	char reason[64];
	uint64_t *row;

	if (!s->aux_areas || s->job.raw)
		return;
	snprintf(reason, sizeof(reason), VT_PERFDATA_AUX_GAP "%s: not decoded",
		 vt_perfdata_auxtrace_name(s->aux_type));
	row = vt_writer_row(s->job.w, VT_GAP);
	row[VT_GAP_BYTES] = s->aux_bytes;
	vt_writer_text(s->job.w, VT_GAP_REASON, reason);
	sum->aux_areas = s->aux_areas;
	sum->aux_bytes = s->aux_bytes;
	sum->aux_type = s->aux_type;
}

/* Opens the decoder as soon as an AUXINFO record has a type with one. */
static int find_areas(struct vt_auxtrace_stream *s, const struct vt_record *rec,
		      struct vt_error *err)
{
	const struct vt_aux_decoder *decoder;

	if (s->state != UNDECIDED || s->job.raw || rec->kind != VT_AUXINFO)
		return 0;
	decoder = find_decoder(vt_record_u64(rec, VT_AUXINFO_TYPE));
	if (!decoder)
		return 0;
	s->state = DECODE;
	return open_decoder_session(&s->job, decoder, err);
}

int vt_auxtrace_stream_take(struct vt_auxtrace_stream *s, const struct vt_block *b, uint32_t first,
			    uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	struct vt_writer *to;
	int code = 0;

	if (s->state == UNDECIDED && comes_after_auxinfo(b->kind))
		code = copy_spooled_records(s, err);
	to = s->state == COPY ? s->job.w : s->job.spool.w;
	for (; rec.row < first + count && code == 0; rec.row++) {
		code = find_areas(s, &rec, err);
		if (code < 0)
			return code;
		count_aux_area(s, &rec);
		if (s->state == DECODE && rec.kind == VT_AUXTRACE && !s->job.raw)
			code = s->job.decoder->scan_record(s->job.session, &rec, err);
		else
			vt_writer_copy(to, &rec);
	}
	return code < 0 ? code : vt_writer_error(to, err);
}

int vt_auxtrace_stream_end(struct vt_auxtrace_stream *s, struct vt_format_summary *sum,
			   struct vt_error *err)
{
	int code = 0;

	if (s->state == DECODE)
		return decode_spool(&s->job, sum, err);
	if (s->state == UNDECIDED)
		code = copy_spooled_records(s, err);
	if (code == 0)
		report_aux_areas(s, sum);
	return code;
}
