/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/common/progress.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "cmd/vtrace/info_input.h"
#include "formats/pt/sideband/survey.h"
#include "listing/stream/summary.h"

struct info {
	struct app *app;
	bool json;
	const char *output;
	struct info_input input;
	struct vt_summary summary;
	struct vt_pt_survey *survey;
};

/* ---- reading ---- */

static int feed_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct info *i = arg;
	int code = vt_summary_feed(&i->summary, b, first, count, err);

	return code < 0 ? code : vt_pt_survey_feed(i->survey, b, first, count, err);
}

/* False if there is nothing to show. */
static bool read_info_stream(struct info *i, struct vt_error *err)
{
	struct app *a = i->app;

	a->source_tells = i->input.format == INFO_PERF;
	if (!app_each_run(a, i->input.reader, feed_run, i))
		return false;
	/* Show nothing if nothing of a damaged file could be read. */
	if (!info_input_end(&i->input) && !(a->kinds & ~(UINT64_C(1) << VT_GAP)))
		return false;
	return vt_summary_finish(&i->summary, err) == 0 || app_fail(a, err);
}

static bool read_raw(struct info *i, struct vt_error *err)
{
	struct vt_input *in = &i->input.in;
	struct progress progress;
	size_t have;
	int code;

	progress_start(&progress, i->app->name, in->name, true);
	while ((code = vt_input_fill(in, 1, &have, err)) == 0 && have) {
		code = vt_pt_survey_feed_raw(i->survey, vt_input_data(in), have, err);
		if (code < 0)
			break;
		vt_input_consume(in, have);
		progress_update(&progress, in->offset);
	}
	progress_end(&progress);
	return code == 0 || app_fail(i->app, err);
}

/* ---- showing ---- */

static struct vt_trace_span span_of(const struct vt_pt_survey *survey, uint64_t first,
				    uint64_t last)
{
	return (struct vt_trace_span){true, first, last, vt_pt_survey_time(survey, first),
				      vt_pt_survey_time(survey, last)};
}

/* The trace as listings want it, which know no formats. */
static struct vt_raw_trace raw_trace_of(const struct vt_pt_survey *survey,
					const struct vt_pt_surveyed *t)
{
	static const uint64_t timing = UINT64_C(1) << VT_PT_TSC | UINT64_C(1) << VT_PT_TMA |
				       UINT64_C(1) << VT_PT_MTC | UINT64_C(1) << VT_PT_CBR |
				       UINT64_C(1) << VT_PT_CYC;
	const struct vt_pt_scan *s = &t->scan;
	struct vt_raw_trace r = {.format = "Intel PT",
				 .index = t->index,
				 .cpu = t->cpu,
				 .tid = t->tid,
				 .bytes = s->size,
				 .packets = s->packets,
				 .syncs = s->count[VT_PT_PSB],
				 .overflows = s->count[VT_PT_OVF],
				 .decisions = s->decisions,
				 .taken = s->taken,
				 .targets = s->count[VT_PT_TIP],
				 .lost_mtc = s->timing.lost,
				 .has_cycles = s->timing.has_cycles,
				 .cycles = s->timing.cycles,
				 .min_cbr = s->min_cbr,
				 .max_cbr = s->max_cbr,
				 .before = s->before,
				 .places = s->places,
				 .bad_bytes = s->bad_bytes};
	unsigned k;

	for (k = 0; k < VT_PT_NKINDS; k++) {
		if (s->count[k])
			r.kinds[r.nkinds++] = (struct vt_packet_kind){
				vt_pt_kind_name(k), timing >> k & 1, s->count[k], s->bytes[k]};
	}
	for (k = 0; k < VT_BAD_PLACES && k < s->places; k++)
		r.bad[k] = (struct vt_bad_place){s->bad[k].offset, s->bad[k].bytes, s->bad[k].cut};
	if (s->timing.has_tsc)
		r.span = span_of(survey, s->first_tsc, s->timing.tsc);
	return r;
}

_Static_assert(VT_PACKET_KINDS >= VT_PT_NKINDS, "room for all kinds of packets");
_Static_assert(VT_BAD_PLACES == VT_PT_SCAN_PLACES, "as many places as are scanned");

static void warn_bad(const struct info *i, const char *name)
{
	uint64_t bytes, places = vt_pt_survey_places(i->survey, &bytes);

	if (i->summary.executed.bad)
		app_say_lossy(i->app,
			      "%s: %" PRIu64 " records of executed code contradict themselves",
			      name, i->summary.executed.bad);
	if (places)
		app_say_lossy(i->app,
			      "%s: %" PRIu64 " bytes of Intel PT at %" PRIu64
			      " place%s are no packets",
			      name, bytes, places, places == 1 ? "" : "s");
}

static void show_summary(struct info *i, const char *name, struct vt_error *err)
{
	size_t k, n = vt_pt_survey_count(i->survey);
	struct vt_raw_trace *traces = calloc(n + 1, sizeof(*traces));
	struct vt_trace_span *span = &i->summary.trace.span;
	struct vt_summary_view view = {name, &i->summary, i->input.reader, traces, n};
	struct vt_output *out;

	for (k = 0; traces && k < n; k++)
		traces[k] = raw_trace_of(i->survey, vt_pt_survey_at(i->survey, k));
	if (span->known)
		*span = span_of(i->survey, span->first_tsc, span->last_tsc);
	i->summary.bytes = info_input_bytes(&i->input);
	warn_bad(i, name);
	out = app_text(i->app, i->output);
	if (!traces)
		app_no_memory(i->app);
	else if (out && i->json)
		vt_summary_print_json(&view, out);
	else if (out && vt_summary_print_text(&view, out, err) < 0)
		app_fail(i->app, err);
	free(traces);
}

static void show_input(struct app *a, const char *path, bool json, const char *output)
{
	static const struct vt_schema none = {0};
	struct info i = {.app = a, .json = json, .output = output};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_reader *r;
	bool ok;

	if (!info_input_open(&i.input, a, path))
		return;
	r = i.input.reader;
	i.survey = vt_pt_survey_new();
	if (!i.survey || vt_summary_init(&i.summary, r ? vt_reader_schema(r) : &none, &err) < 0) {
		app_no_memory(a);
	} else {
		ok = r ? read_info_stream(&i, &err) : read_raw(&i, &err);
		vt_pt_survey_finish(i.survey);
		if (ok)
			show_summary(&i, r ? vt_reader_name(r) : i.input.in.name, &err);
	}
	vt_summary_fini(&i.summary);
	vt_pt_survey_free(i.survey);
	info_input_close(&i.input);
}

int cmd_info(int argc, char **argv)
{
	const char *output = NULL, *symfs = NULL;
	struct app_slice slice = {.alone = true};
	bool json = false;
	struct app app;
	const struct vt_opt opts[] = {
		{0, "json", VT_OPT_FLAG, &json, .help = "print one JSON object"},
		APP_OPT_SLICE(slice),
		APP_OPT_SYMFS(symfs),
		APP_OPT_OUTPUT(output),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace info",
		.usage = "[--json] [-o FILE] [FILE]",
		.about = "Says what is in a stream: records, samples of each event, what is "
			 "missing,\n"
			 "images, facts about the recording, and the programs that it went "
			 "through.\n"
			 "The same of a perf.data; and what packets a raw trace of Intel PT has.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &slice, symfs))
		show_input(&app, app.argc ? app.argv[0] : NULL, json, output);
	app_slice_end(&slice);
	return app_finish(&app);
}
