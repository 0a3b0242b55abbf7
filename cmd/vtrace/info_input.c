/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/info_input.h"

#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "cmd/common/trace.h"
#include "formats/auxtrace.h"
#include "formats/common/decompress.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/packet.h"
#include "formats/spe/info.h"

/* A raw trace has a PSB this early; the ones of a ring buffer begin anywhere. */
#define RAW_PROBE_SIZE 65536

/* The first byte of a stream (formats/vt.md), which begins no packet. */
#define STREAM_BYTE 0x89

/* A file may go on behind what was converted: what is left counts, too. */
static void read_rest(struct vt_input *in)
{
	struct vt_error ignored = VT_ERROR_INIT;
	size_t have;

	while (vt_input_fill(in, 1, &have, &ignored) == 0 && have)
		vt_input_consume(in, have);
}

/*
 * A vt_decode_fn.  The summary of an Intel PT trace needs no decoding, so nothing is lost by
 * keeping its AUX areas.  Those of Arm SPE have samples.
 */
static int decode_perfdata_info(struct vt_input *in, struct vt_writer *w,
				const struct vt_format_options *opt, struct vt_format_summary *sum,
				struct vt_error *err)
{
	struct vt_error ignored = VT_ERROR_INIT; /* decoding finds the same error and reports it */
	struct vt_format_options o = *opt;
	uint32_t aux = 0;
	int code;

	if (vt_perfdata_auxtrace_type(in, &aux, &ignored) == 0)
		o.keep_aux = aux == VT_PERFDATA_AUX_INTEL_PT;
	code = aux == VT_SPE_AUXINFO_TYPE ? vt_auxtrace_decode(in, w, &o, sum, err)
					  : vt_perfdata_decode(in, w, &o, sum, err);
	read_rest(in);
	sum->damaged += sum->aux_areas;
	return code;
}

static bool fail_to_open(struct info_input *i, const struct vt_error *err)
{
	vt_input_close(&i->in);
	return app_fail(i->app, err);
}

static bool open_perfdata(struct info_input *i)
{
	const struct vt_format_options o = {.tmpdir = app_tmpdir()};
	struct vt_error err = VT_ERROR_INIT;

	i->format = INFO_PERF;
	i->reader =
		vt_conversion_start(&i->conversion, &i->in, decode_perfdata_info, &o, NULL, &err);
	return i->reader || fail_to_open(i, &err);
}

bool info_input_open(struct info_input *i, struct app *a, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t have;

	*i = (struct info_input){.app = a};
	path = app_input_path(path);
	if (!app_is_no_terminal(a, path))
		return false;
	if (vt_input_open(&i->in, path, &err) < 0)
		return app_fail(a, &err);
	if (vt_gunzip_input(&i->in, &err) < 0 || vt_input_fill(&i->in, 8, &have, &err) < 0)
		return fail_to_open(i, &err);
	if (vt_perfdata_probe(vt_input_data(&i->in), have))
		return open_perfdata(i);
	if (have && *vt_input_data(&i->in) != STREAM_BYTE) {
		if (vt_input_fill(&i->in, RAW_PROBE_SIZE, &have, &err) < 0)
			return fail_to_open(i, &err);
		i->format = INFO_PT;
		if (vt_pt_find_psb(vt_input_data(&i->in), vt_input_data(&i->in) + have))
			return true;
	}
	i->format = INFO_STREAM;
	i->reader = vt_reader_open_input(&i->in, &err);
	if (i->reader)
		return true;
	if (err.code == VT_E_FORMAT)
		vt_error_set(&err, VT_E_FORMAT, "%s: %s", app_input_name(path),
			     have ? "neither a stream, nor perf.data, nor Intel PT"
				  : "the file is empty");
	return app_fail(a, &err);
}

uint64_t info_input_bytes(const struct info_input *i)
{
	return i->format == INFO_STREAM ? vt_reader_offset(i->reader) : i->in.offset;
}

bool info_input_end(struct info_input *i)
{
	const struct vt_error *err = &i->conversion.err;
	bool first = i->conversion.channel;

	vt_conversion_end(&i->conversion);
	return !err->code || (first && app_fail(i->app, err));
}

void info_input_close(struct info_input *i)
{
	info_input_end(i);
	vt_reader_close(i->reader);
	if (i->format != INFO_STREAM)
		vt_input_close(&i->in);
}
