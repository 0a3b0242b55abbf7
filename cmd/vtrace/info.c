/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/info.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/vtrace/info_input.h"
#include "cmd/vtrace/subcommands.h"

const char *info_status(const struct vt_reader *r)
{
	static const char *const names[] = {
		[VT_STATUS_COMPLETE] = "complete",
		[VT_STATUS_LOSSY] = "lossy",
		[VT_STATUS_INTERRUPTED] = "interrupted",
		[VT_STATUS_MISSING] = "truncated",
	};

	return names[vt_reader_status(r)];
}

static void put_escaped(struct vt_output *out, const void *text, size_t size)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape(&b, text, size);
	vt_output_put(out, b.data, b.size);
	vt_buf_free(&b);
}

static void put_string(struct vt_output *out, const struct vt_intern *strings, uint32_t id)
{
	put_escaped(out, vt_intern_get(strings, id), vt_intern_size(strings, id));
}

static void cell_string(struct vt_table *t, const struct vt_intern *strings, uint32_t id)
{
	vt_table_text(t, vt_intern_get(strings, id), vt_intern_size(strings, id));
}

/* Prints and frees a table under a heading; nothing if it has no rows. */
static int put_table(struct vt_table *t, const char *heading, struct vt_output *out,
		     struct vt_error *err)
{
	int rc = 0;

	if (!t)
		return vt_error_nomem(err);
	if (vt_table_rows(t)) {
		vt_output_printf(out, "\n%s\n", heading);
		rc = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	}
	vt_table_free(t);
	return rc;
}

static void put_head(const struct summary *s, const struct vt_reader *r, struct vt_output *out)
{
	const struct vt_failure *failure = vt_reader_failure(r);

	put_escaped(out, vt_reader_name(r), strlen(vt_reader_name(r)));
	vt_output_printf(out, ": %s, %" PRIu64 " bytes, %" PRIu64 " records\n", info_status(r),
			 s->bytes, s->records);
	if (failure) {
		vt_output_text(out, "failed: ");
		put_escaped(out, failure->program, strlen(failure->program));
		vt_output_text(out, *failure->why ? ": " : "");
		put_escaped(out, failure->why, strlen(failure->why));
		vt_output_text(out, "\n");
	}
	if (s->timed)
		vt_output_printf(out,
				 "time: %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64
				 " s, %.6f s in all\n",
				 s->first_time / 1000000000, s->first_time % 1000000000,
				 s->last_time / 1000000000, s->last_time % 1000000000,
				 (double)(s->last_time - s->first_time) * 1e-9);
	vt_output_printf(out, "threads: %zu in %zu processes\n", s->threads.count,
			 s->processes.count);
	if (s->capped)
		vt_output_printf(out, "(of some things there are more than %d: not all counted)\n",
				 SUMMARY_MAX);
}

static struct vt_table *kinds_table(const struct summary *s, const struct vt_reader *r)
{
	struct vt_table *t = vt_table_new();
	uint32_t k;

	if (!t)
		return NULL;
	vt_table_column(t, "records", "records", VT_FORMAT_NUMBER);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (k = 0; k < s->nkinds; k++) {
		if (!s->kinds[k])
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, s->kinds[k]);
		vt_table_str(t, vt_reader_schema(r)->kinds[k].name);
	}
	return t;
}

static struct vt_table *events_table(const struct summary *s)
{
	struct vt_table *t = vt_table_new();
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "period", "period", VT_FORMAT_NUMBER);
	vt_table_column(t, "unit", "unit", VT_FORMAT_TEXT);
	vt_table_column(t, "policy", "pc chosen", VT_FORMAT_TEXT);
	vt_table_column(t, "event", "event", VT_FORMAT_TEXT);
	for (i = 0; i < s->names.events.count; i++) {
		const struct named_event *e = vt_hash_at(&s->names.events, i);
		struct summary_event sum = summary_of_event(s, e->id);

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, sum.samples);
		vt_table_number(t, sum.period);
		cell_string(t, s->names.strings, e->unit);
		if (e->policy == VT_POLICY_PRECISE && sum.samples)
			vt_table_printf(t, "%s, EXACT_IP %" PRIu64, vt_policy_name(e->policy),
					sum.exact_ip);
		else
			vt_table_str(t, vt_policy_name(e->policy));
		if (e->name)
			cell_string(t, s->names.strings, e->name);
		else
			vt_table_printf(t, "event%" PRIu64, e->id);
	}
	return t;
}

static struct vt_table *losses_table(const struct summary *s)
{
	struct vt_table *t = vt_table_new();
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "places", "places", VT_FORMAT_NUMBER);
	vt_table_column(t, "records", "records", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "why", "why", VT_FORMAT_TEXT);
	for (i = 0; i < s->gaps.count + s->lost.count; i++) {
		bool gap = i < s->gaps.count;
		const struct summary_loss *l =
			gap ? vt_hash_at(&s->gaps, i) : vt_hash_at(&s->lost, i - s->gaps.count);

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, l->places);
		vt_table_number(t, l->records);
		vt_table_number(t, l->bytes);
		if (gap)
			cell_string(t, s->strings, (uint32_t)l->text);
		else
			vt_table_printf(t, "lost while recording: %s",
					vt_intern_get(s->strings, (uint32_t)l->text));
	}
	return t;
}

static int put_missing(const struct summary *s, struct vt_output *out, struct vt_error *err)
{
	size_t left;
	struct vt_table *t = missing_code_table(&s->missing, &s->names, &left);
	int rc = put_table(t, "missing code", out, err);

	if (rc == 0 && left)
		vt_output_printf(out, "(%zu more)\n", left);
	return rc;
}

static struct vt_table *images_table(const struct summary *s)
{
	struct vt_table *t = vt_table_new();
	size_t i, k;

	if (!t)
		return NULL;
	vt_table_column(t, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(t, "buildid", "build-id", VT_FORMAT_TEXT);
	vt_table_column(t, "path", "image", VT_FORMAT_TEXT);
	for (i = 0; i < s->names.images.count; i++) {
		const struct named_image *m = vt_hash_at(&s->names.images, i);
		const char *id = vt_intern_get(s->names.strings, m->buildid);
		struct vt_buf hex = VT_BUF_INIT;

		for (k = 0; k < vt_intern_size(s->names.strings, m->buildid); k++)
			vt_buf_printf(&hex, "%02x", (unsigned char)id[k]);
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, vt_image_type_name(m->type));
		vt_table_str(t, hex.size ? vt_buf_str(&hex) : "-");
		cell_string(t, s->names.strings, m->path);
		vt_buf_free(&hex);
	}
	return t;
}

static void put_facts(const struct summary *s, struct vt_output *out)
{
	size_t i;

	if (s->nfacts)
		vt_output_text(out, "\nthe recording\n");
	for (i = 0; i < s->nfacts; i++) {
		const struct summary_fact *f = &s->facts[i];

		vt_output_text(out, "  ");
		put_string(out, s->strings, f->key);
		vt_output_text(out, ": ");
		put_string(out, s->strings, f->value);
		if (f->bytes)
			vt_output_printf(out, "%s(%" PRIu64 " bytes kept)", f->value ? " " : "",
					 f->bytes);
		vt_output_text(out, "\n");
	}
}

/* An argument as a shell would need it to be typed, if that is more than a plain word. */
static void put_argument(struct vt_output *out, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	const char *quote = *arg && !arg[strspn(arg, plain)] ? "" : "'";

	vt_output_printf(out, " %s", quote);
	put_escaped(out, arg, strlen(arg));
	vt_output_text(out, quote);
}

static void put_provenance(const struct vt_reader *r, struct vt_output *out)
{
	const struct vt_header *h = vt_reader_header(r);
	uint32_t i, k;

	if (h->nstages)
		vt_output_text(out, "\nmade by\n");
	for (i = 0; i < h->nstages; i++) {
		const struct vt_stage *st = &h->stages[i];

		vt_output_text(out, "  ");
		put_escaped(out, st->program, strlen(st->program));
		for (k = 0; k < st->nargs; k++)
			put_argument(out, st->args[k]);
		vt_output_text(out, " (");
		put_escaped(out, st->version, strlen(st->version));
		if (st->seed)
			vt_output_printf(out, ", seed %" PRIu64, st->seed);
		vt_output_text(out, ")\n");
	}
}

int info_print_text(const struct summary *s, const struct vt_reader *r, struct vt_output *out,
		    struct vt_error *err)
{
	int rc;

	put_head(s, r, out);
	executed_print(&s->executed, s->bytes, out);
	rc = pt_info_print(&s->pt, vt_execcount_totals(s->executed.count)->insns, out, err);
	if (rc == 0)
		rc = put_table(events_table(s), "samples", out, err);
	if (rc == 0)
		rc = put_table(executed_values_table(&s->executed), "values", out, err);
	if (rc == 0)
		rc = put_table(kinds_table(s, r), "records", out, err);
	if (rc == 0)
		rc = put_table(losses_table(s), "missing", out, err);
	if (rc == 0)
		rc = put_missing(s, out, err);
	if (rc == 0)
		rc = put_table(images_table(s), "images", out, err);
	put_facts(s, out);
	put_provenance(r, out);
	return rc;
}

int info_raw_text(const struct summary *s, const char *name, struct vt_output *out,
		  struct vt_error *err)
{
	put_escaped(out, name, strlen(name));
	vt_output_printf(out, ": %" PRIu64 " bytes\n", s->bytes);
	return pt_info_print(&s->pt, 0, out, err);
}

/* ---- the inputs ---- */

struct inform {
	struct app *app;
	struct info_input *input;
	bool json;
	const char *output;
};

static void tell_bad(struct app *a, const struct summary *s, const char *name)
{
	uint64_t bytes, places = pt_info_places(&s->pt, &bytes);

	if (s->executed.bad) {
		app_say(a, "%s: %" PRIu64 " records of executed code contradict themselves", name,
			s->executed.bad);
		app_raise(a, APP_LOSSY);
	}
	if (places) {
		app_say(a,
			"%s: %" PRIu64 " bytes of Intel PT at %" PRIu64 " place%s are no packets",
			name, bytes, places, places == 1 ? "" : "s");
		app_raise(a, APP_LOSSY);
	}
}

static void inform_stream(const struct inform *i, struct summary *s)
{
	struct vt_reader *r = i->input->reader;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out;

	if (summary_init(s, vt_reader_schema(r), &err) < 0) {
		app_fail(i->app, &err);
		return;
	}
	i->app->source_tells = i->input->format == INFO_PERF;
	if (!app_each_run(i->app, r, summary_feed, s))
		return;
	/* Of a file of which nothing could be read there is nothing to say. */
	if (!info_input_end(i->input) && !(i->app->kinds & ~(UINT64_C(1) << VT_GAP)))
		return;
	if (summary_finish(s, &err) < 0) {
		app_fail(i->app, &err);
		return;
	}
	s->bytes = info_input_bytes(i->input);
	tell_bad(i->app, s, vt_reader_name(r));
	out = app_text(i->app, i->output);
	if (out && i->json)
		info_print_json(s, r, out);
	else if (out && info_print_text(s, r, out, &err) < 0)
		app_fail(i->app, &err);
}

/* Feeds a raw trace to its end: its size, or a negative error. */
static int feed_raw(const struct inform *i, struct pt_info *p, struct vt_error *err)
{
	struct vt_input *in = &i->input->in;
	struct pt_trace *t = pt_info_raw(p);
	struct progress progress;
	size_t have;
	int code;

	if (!t)
		return vt_error_nomem(err);
	progress_start(&progress, i->app->name, in->name);
	while ((code = vt_input_fill(in, 1, &have, err)) == 0 && have) {
		vt_pt_scan_feed(&t->scan, vt_input_data(in), have);
		vt_input_consume(in, have);
		progress_update(&progress, in->offset);
	}
	progress_end(&progress);
	pt_info_finish(p);
	return code;
}

static void inform_raw(const struct inform *i, struct summary *s)
{
	const struct vt_input *in = &i->input->in;
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_schema none = {0};
	struct vt_output *out;

	if (summary_init(s, &none, &err) < 0 || feed_raw(i, &s->pt, &err) < 0) {
		app_fail(i->app, &err);
		return;
	}
	s->bytes = info_input_bytes(i->input);
	tell_bad(i->app, s, in->name);
	out = app_text(i->app, i->output);
	if (out && i->json)
		info_raw_json(s, in->name, out);
	else if (out && info_raw_text(s, in->name, out, &err) < 0)
		app_fail(i->app, &err);
}

static void inform(struct app *a, const char *path, bool json, const char *output)
{
	struct info_input input;
	struct inform i = {a, &input, json, output};
	struct summary s = {0};

	if (!info_input_open(&input, a, path))
		return;
	if (input.format == INFO_PT)
		inform_raw(&i, &s);
	else
		inform_stream(&i, &s);
	summary_fini(&s);
	info_input_close(&input);
}

int cmd_info(int argc, char **argv)
{
	const char *output = NULL;
	bool json = false;
	struct app app;
	const struct vt_opt opts[] = {
		{'j', "json", VT_OPT_FLAG, &json, .help = "print one JSON object"},
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

	if (app_start(&app, &page, argc, argv))
		inform(&app, app.argc ? app.argv[0] : NULL, json, output);
	return app_finish(&app);
}
