/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/raw/decode.h"

#include <inttypes.h>

#include "base/buf.h"
#include "formats/common/wholefile.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/scan.h"
#include "formats/pt/options.h"
#include "formats/pt/packet.h"
#include "formats/pt/raw/code.h"

/* The decoding of a raw trace. */
struct raw {
	const struct vt_format_options *opt;
	const struct vt_pt_decode_options *pt;
	struct vt_wholefile trace;
	struct vt_pt_rawcode *code;
	struct vt_pt_emit *emit;
	struct vt_pt_context context;
	const struct vt_pt_engine_ops *engine;
};

bool vt_pt_probe(const uint8_t *bytes, size_t size)
{
	/* A pipe may give more bytes than were asked for. */
	if (size > VT_FORMAT_PROBE_SIZE)
		size = VT_FORMAT_PROBE_SIZE;
	return vt_pt_find_psb(bytes, bytes + size) != NULL;
}

static int decode_batches(struct raw *r, struct vt_pt_engine *e, struct vt_error *err)
{
	struct vt_pt_batch batch;
	int code;

	while ((code = r->engine->next(e, UINT64_MAX, &batch, err)) > 0) {
		code = vt_pt_emit_batch(r->emit, &r->context, &batch, err);
		if (code < 0)
			return code;
	}
	return code < 0 ? code : vt_pt_emit_flush(r->emit, err);
}

static int run_engine(struct raw *r, struct vt_error *err)
{
	const struct vt_pt_options options = {.clock = r->pt->clock, .jobs = r->pt->jobs};
	struct vt_pt_engine *e = r->engine->open(r->trace.bytes, r->trace.size, &options, err);
	int code;

	if (!e)
		return -(int)err->code;
	code = r->engine->set_code(e, vt_pt_rawcode_code(r->code), err);
	if (code >= 0)
		code = decode_batches(r, e, err);
	r->engine->close(e);
	return code;
}

static int open_raw(struct raw *r, struct vt_input *in, struct vt_writer *w, struct vt_error *err)
{
	const char *name = r->pt->engine ? r->pt->engine : VT_PT_DEFAULT_ENGINE;
	int code;

	r->engine = vt_pt_engine_by_name(name);
	if (!r->engine)
		return vt_error_set(err, VT_E_USAGE, "--engine: '%s' is none", name);
	r->code = vt_pt_rawcode_new(r->pt, err);
	if (!r->code)
		return -(int)err->code;
	code = vt_wholefile_take(&r->trace, in, err);
	if (code < 0)
		return code;
	r->emit = vt_pt_emit_new(w, NULL);
	if (!r->emit)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	return 0;
}

static void set_raw_summary(const struct raw *r, struct vt_format_summary *sum)
{
	const struct vt_pt_totals *t = vt_pt_emit_totals(r->emit);

	sum->damaged = t->gaps;
	sum->unread = t->skipped;
	sum->traced = true;
	sum->insns = t->insns;
}

int vt_pt_decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		 struct vt_format_summary *sum, struct vt_error *err)
{
	static const struct vt_pt_decode_options none;
	struct raw r = {.opt = opt, .pt = opt->pt ? opt->pt : &none};
	const int64_t pid = r.pt->pid ? r.pt->pid : 1;
	int code = open_raw(&r, in, w, err);

	if (code >= 0) {
		r.context = (struct vt_pt_context){
			.pid = pid, .tid = pid, .cpu = -1, .input = in->name};
		if (!vt_pt_code_count(vt_pt_rawcode_code(r.code)) && opt->warn)
			opt->warn(opt->warn_arg, "no code is named: see --image and --pages");
		vt_pt_rawcode_write(r.code, w, pid);
		vt_pt_packets_write(w, 0, r.trace.bytes, r.trace.size, r.pt->packets);
		code = run_engine(&r, err);
		set_raw_summary(&r, sum);
	}
	vt_pt_emit_free(r.emit);
	vt_wholefile_fini(&r.trace);
	vt_pt_rawcode_free(r.code);
	return code;
}
