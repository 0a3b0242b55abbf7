/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intel PT in a perf.data, or in a stream that was made from one: decoding in two passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/tempfile.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/raw/decode.h"
#include "formats/pt/sideband/files.h"
#include "formats/pt/sideband/session.h"
#include "formats/pt/sideband/spool.h"
#include "stream/kinds.h"

/* What both ways share. */
struct job {
	struct vt_pt_session *session;
	struct vt_pt_spool spool;
	struct vt_writer *w;
	struct vt_format_summary *sum;
	bool raw; /* traces stay as they are */
};

/* Whether the kernel's files can be read, whether or not there is anything to decode with them. */
static int check_kernels(const struct vt_pt_decode_options *pt, struct vt_error *err)
{
	struct vt_pt_file file;
	size_t i;

	for (i = 0; i < pt->nkernels; i++) {
		if (vti_pt_file_map(&file, pt->kernels[i], err) < 0)
			return -(int)err->code;
		vti_pt_file_unmap(&file);
	}
	return 0;
}

static int choose(struct job *j, const struct vt_format_options *opt, const char *input,
		  struct vt_error *err)
{
	static const char *const debugdirs[] = {"/usr/lib/debug"};
	static const struct vt_pt_decode_options none;
	const struct vt_pt_decode_options *pt = opt->pt ? opt->pt : &none;
	const char *name = pt->engine ? pt->engine : VT_PT_DEFAULT_ENGINE;
	struct vt_pt_session_options o = {
		.jobs = pt->jobs,
		.packets = pt->packets,
		.lbr = pt->lbr,
		.find = {.symfs = pt->symfs,
			 .debugdirs = debugdirs,
			 .ndebugdirs = 1,
			 .buildid_cache = pt->cache},
		.kernels = pt->kernels,
		.nkernels = pt->nkernels,
		.tmpdir = vt_tempdir(opt->tmpdir),
		.input = input,
		.warn = opt->warn,
		.warn_arg = opt->warn_arg,
	};

	j->raw = strcmp(name, VT_PT_ENGINE_NONE) == 0;
	if (!j->raw) {
		o.engine = vt_pt_engine_by_name(name);
		if (!o.engine)
			return vt_error_set(err, VT_E_USAGE, "--engine: '%s' is not known", name);
	}
	if (vt_find_check(&o.find, err) < 0 || check_kernels(pt, err) < 0)
		return -(int)err->code;
	j->session = vt_pt_session_new(&o, err);
	return j->session ? 0 : -(int)err->code;
}

static int end(struct job *j, int code)
{
	vt_pt_session_free(j->session);
	vt_pt_spool_close(&j->spool);
	return code;
}

/* Calls a step of the session with each record that was put aside. */
static int each(struct job *j,
		int (*step)(struct vt_pt_session *s, const struct vt_record *rec,
			    struct vt_error *err),
		struct vt_error *err)
{
	struct vt_record rec;
	int r;

	while ((r = vt_reader_next(j->spool.r, &rec, err)) > 0) {
		r = step(j->session, &rec, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* All records are put aside: looks at them as a whole, then goes through them. */
static int decode_spool(struct job *j, struct vt_error *err)
{
	const struct vt_pt_totals *t;
	int code = vt_pt_spool_rewind(&j->spool, err);

	if (code == 0)
		code = each(j, vt_pt_session_scan, err);
	if (code == 0)
		code = vt_pt_spool_rewind(&j->spool, err);
	if (code == 0)
		code = vt_writer_add_input(j->w, j->spool.r, err);
	if (code == 0)
		code = vt_pt_session_begin(j->session, j->w, err);
	if (code == 0)
		code = each(j, vt_pt_session_record, err);
	if (code == 0)
		code = vt_pt_session_end(j->session, err);
	t = vt_pt_session_totals(j->session);
	j->sum->damaged += t->gaps;
	j->sum->unread += t->skipped;
	j->sum->traced = true;
	j->sum->insns += t->insns;
	return code;
}

/* ---- perf.data ---- */

static int take_piece(void *arg, const struct vt_format_auxtrace *piece, struct vt_error *err)
{
	struct job *j = arg;

	return vt_pt_session_piece(j->session, piece, err);
}

int vt_pt_perfdata_decode(struct vt_input *in, struct vt_writer *w,
			  const struct vt_format_options *opt, struct vt_format_summary *sum,
			  struct vt_error *err)
{
	struct vt_format_options inner = *opt;
	struct job j = {.w = w, .sum = sum, .spool = {.fd = -1}};
	uint32_t type;
	int code = choose(&j, opt, in->name, err);

	if (code < 0 || vt_perfdata_auxtrace_type(in, &type, err) < 0)
		return end(&j, -(int)err->code);
	inner.keep_aux = j.raw;
	if ((j.raw || type != VT_PERFDATA_AUX_INTEL_PT) && !(opt->pt && opt->pt->lbr))
		return end(&j, vt_perfdata_decode(in, w, &inner, sum, err));
	code = vt_pt_spool_open(&j.spool, vt_tempdir(opt->tmpdir), NULL, err);
	if (code < 0)
		return end(&j, code);
	if (!j.raw && type == VT_PERFDATA_AUX_INTEL_PT) {
		inner.auxtrace = take_piece;
		inner.auxtrace_arg = &j;
	}
	code = vt_perfdata_decode(in, j.spool.w, &inner, sum, err);
	return end(&j, code < 0 ? code : decode_spool(&j, err));
}

/* ---- a stream ---- */

struct vt_pt_stream {
	struct job job;
	enum {
		UNDECIDED, /* records are put aside until it is clear whether there is PT */
		DECODE,	   /* there is: they all are */
		COPY	   /* there is none: they are passed on */
	} state;
	/* Areas of another kind, in so far as no GAP of the stream tells of them. */
	uint64_t aux_areas;
	uint64_t aux_bytes;
	uint32_t aux_type;
};

/* Kinds that come after the AUXINFO of a recording, if it has one. */
static bool is_late(uint32_t kind)
{
	return kind == VT_SAMPLE || kind == VT_EXEC || kind == VT_AUXTRACE || kind == VT_HOT ||
	       kind == VT_COUNT || kind == VT_VALUE || kind == VT_STATE || kind == VT_PACKETS;
}

struct vt_pt_stream *vt_pt_stream_new(const struct vt_reader *r, struct vt_writer *w,
				      const struct vt_format_options *opt, struct vt_error *err)
{
	struct vt_pt_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->job.w = w;
	s->job.spool.fd = -1;
	s->state = opt->pt && opt->pt->lbr ? DECODE : UNDECIDED;
	if (choose(&s->job, opt, vt_reader_name(r), err) == 0 &&
	    vt_pt_spool_open(&s->job.spool, vt_tempdir(opt->tmpdir), r, err) == 0)
		return s;
	vt_pt_stream_free(s);
	return NULL;
}

void vt_pt_stream_free(struct vt_pt_stream *s)
{
	if (s)
		end(&s->job, 0);
	free(s);
}

/* There is nothing to decode: what was put aside is passed on. */
static int copy_spool(struct vt_pt_stream *s, struct vt_error *err)
{
	struct vt_record rec;
	int code = vt_pt_spool_rewind(&s->job.spool, err);

	s->state = COPY;
	if (code == 0)
		code = vt_writer_add_input(s->job.w, s->job.spool.r, err);
	while (code == 0 && (code = vt_reader_next(s->job.spool.r, &rec, err)) > 0) {
		vt_writer_copy(s->job.w, &rec);
		code = vt_writer_error(s->job.w, err);
	}
	return code;
}

/* AUX areas that nothing decodes, as vt_perfdata_decode() counts them. */
static void note_aux(struct vt_pt_stream *s, const struct vt_record *rec)
{
	static const char told[] = VT_PERFDATA_AUX_GAP;
	struct vt_bytes b;

	if (rec->kind == VT_AUXINFO) {
		s->aux_type = (uint32_t)vt_record_u64(rec, VT_AUXINFO_TYPE);
	} else if (rec->kind == VT_AUXTRACE) {
		s->aux_areas += vt_record_u64(rec, VT_AUXTRACE_POSITION) == 0;
		s->aux_bytes += vt_record_bytes(rec, VT_AUXTRACE_DATA).size;
	} else if (rec->kind == VT_GAP) {
		b = vt_record_bytes(rec, VT_GAP_REASON);
		if (b.size < sizeof(told) - 1 || memcmp(b.data, told, sizeof(told) - 1) != 0)
			return;
		/* A GAP comes behind the area that it stands for. */
		s->aux_areas -= s->aux_areas > 0;
		s->aux_bytes -= vt_record_u64(rec, VT_GAP_BYTES) <= s->aux_bytes
					? vt_record_u64(rec, VT_GAP_BYTES)
					: s->aux_bytes;
	}
}

static void tell_aux(const struct vt_pt_stream *s, struct vt_format_summary *sum)
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

int vt_pt_stream_run(struct vt_pt_stream *s, const struct vt_block *b, uint32_t first,
		     uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	struct vt_writer *to;
	int code = 0;

	if (s->state == UNDECIDED && is_late(b->kind))
		code = copy_spool(s, err);
	to = s->state == COPY ? s->job.w : s->job.spool.w;
	for (; rec.row < first + count && code == 0; rec.row++) {
		if (s->state == UNDECIDED && !s->job.raw && vt_pt_session_is_pt(&rec))
			s->state = DECODE;
		note_aux(s, &rec);
		if (s->state == DECODE && rec.kind == VT_AUXTRACE && !s->job.raw)
			code = vt_pt_session_scan(s->job.session, &rec, err);
		else
			vt_writer_copy(to, &rec);
	}
	return code < 0 ? code : vt_writer_error(to, err);
}

int vt_pt_stream_end(struct vt_pt_stream *s, struct vt_format_summary *sum, struct vt_error *err)
{
	int code = 0;

	s->job.sum = sum;
	if (s->state == DECODE)
		return decode_spool(&s->job, err);
	if (s->state == UNDECIDED)
		code = copy_spool(s, err);
	if (code == 0)
		tell_aux(s, sum);
	return code;
}
