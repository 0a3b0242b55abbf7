/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/counts.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "freq/run.h"
#include "listing/json.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/opcache.h"
#include "stream/kinds.h"

static const char *const method_words[] = {"flow", "paper", "naive", NULL};
static const enum vt_method methods[] = {VT_METHOD_FLOW, VT_METHOD_PAPER, VT_METHOD_NAIVE};

struct options {
	const char *event;
	const char *cpu;
	int method;
	const char *exact;
	double clock; /* GHz */
	bool clock_given;
	bool json;
	const char *symfs;
	const char *output;
	const char *compress;
};

/* What the stream says of the processor that it is from. */
struct cpu {
	struct vt_buf model;
	struct vt_buf id;
	struct vt_buf description;
};

struct state {
	struct app *app;
	const struct options *o;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL: --json */
	struct app_profile in;
	struct app_counts exact;
	struct vt_stackcount *stacks;
	struct cpu cpu;
	struct vt_core core;
	size_t event;
	double scale;
	const char *clock; /* how the scale was found; NULL: the event counts cycles */
	struct vt_freqrun_totals totals;
};

/* ---- the input ---- */

static void note(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);

	b->size = 0;
	vt_buf_put(b, value.data, value.size);
}

static void take_meta(struct cpu *c, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	const struct {
		const char *key;
		struct vt_buf *b;
	} known[] = {{"cpu.model", &c->model}, {"cpuid", &c->id}, {"cpudesc", &c->description}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (key.size == strlen(known[i].key) &&
		    memcmp(key.data, known[i].key, key.size) == 0)
			note(known[i].b, rec);
}

/* Samples become counts; what was estimated before is estimated anew. */
static bool is_passed_on(uint32_t kind)
{
	return kind != VT_SAMPLE && kind != VT_COUNT && kind != VT_FREQ && kind != VT_EDGE &&
	       kind != VT_STALL;
}

static bool is_own_meta(const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

	return rec->kind == VT_META && key.size >= 6 && memcmp(key.data, "vfreq.", 6) == 0;
}

static int feed(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct state *s = arg;
	struct vt_record rec = {block, block->kind, first};
	int code = vt_profile_feed(s->in.profile, block, first, count, err);

	for (; rec.row - first < count && code == 0; rec.row++) {
		if (rec.kind == VT_META)
			take_meta(&s->cpu, &rec);
		code = vt_stackcount_feed(s->stacks, &rec, err);
		if (rec.kind == VT_BLOCK && code == 0)
			code = vt_blockcode_feed(s->in.code, s->in.profile, &rec, err);
		if (s->writer && is_passed_on(rec.kind) &&
		    !(rec.kind == VT_META && is_own_meta(&rec)))
			vt_writer_copy(s->writer, &rec);
	}
	return code < 0 || !s->writer ? code : vt_writer_error(s->writer, err);
}

static bool start(struct state *s)
{
	s->in.images = app_images_open(s->app, &s->in.warnings, &s->in.cache, s->o->symfs);
	if (!s->in.images)
		return false;
	s->in.profile = vt_profile_new(s->in.images);
	s->in.code = vt_blockcode_new();
	s->stacks = vt_stackcount_new();
	if (!s->in.profile || !s->in.code || !s->stacks)
		return app_no_memory(s->app);
	return true;
}

static bool read_input(struct state *s, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_run(s->app, r, feed, s))
		return false;
	if (vt_profile_finish(s->in.profile, &err) < 0 ||
	    vt_blockcode_finish(s->in.code, s->in.profile, &err) < 0 ||
	    vt_stackcount_finish(s->stacks, &err) < 0)
		return app_fail(s->app, &err);
	return true;
}

/* ---- the processor ---- */

static const char *text_or_null(struct vt_buf *b)
{
	return b->size ? vt_buf_str(b) : NULL;
}

static bool choose_core(struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;
	const char *name = s->o->cpu;

	if (strcmp(name, "auto") == 0) {
		name = vt_core_for_cpu(text_or_null(&s->cpu.model), text_or_null(&s->cpu.id),
				       text_or_null(&s->cpu.description));
		if (!name) {
			name = "skylake";
			app_say(s->app, "%s: taken for %s; --cpu chooses another",
				s->cpu.description.size
					? vt_buf_str(&s->cpu.description)
					: "a stream that does not tell its processor",
				name);
		}
	}
	if (vt_core_load(&s->core, name, &err) < 0)
		return app_fail(s->app, &err);
	/* Without one, it only takes longer. */
	s->core.cache = vt_opcache_new();
	return true;
}

/* "... CPU @ 2.50GHz" */
static double clock_of(struct vt_buf *description)
{
	const char *text = vt_buf_str(description);
	const char *at = strrchr(text, '@');
	double ghz = at ? strtod(at + 1, NULL) : 0;

	return at && strstr(at, "GHz") && ghz > 0 && ghz < 100 ? ghz : 0;
}

static bool choose_event(struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_profile_event *e;

	if (s->o->event && !app_need_samples(s->app, vt_reader_name(s->reader)))
		return false;
	s->scale = 1;
	if (vt_freqrun_event(s->in.profile, s->o->event, &s->event, &err) < 0) {
		/* An empty profile is one, too. */
		if (s->o->event || !app_saw_no_sample(s->app))
			return app_fail_stream(s->app, s->reader, &err);
		app_say(s->app, "%s: no samples: nothing is estimated", vt_reader_name(s->reader));
		s->event = SIZE_MAX;
		return true;
	}
	e = vt_profile_event(s->in.profile, s->event);
	if (!vt_freqrun_is_clock(e))
		return true;
	s->clock = "given";
	s->scale = s->o->clock;
	if (!s->o->clock_given) {
		s->clock = "described";
		s->scale = clock_of(&s->cpu.description);
	}
	if (!(s->scale > 0)) {
		s->clock = "assumed";
		s->scale = 1;
		app_say(s->app,
			"%s counts nanoseconds, and nothing tells the processor's clock: 1 GHz is "
			"assumed; --clock tells",
			e->name);
	}
	return true;
}

/* ---- the output ---- */

static void put_meta(struct state *s, const char *key, const char *value)
{
	if (!s->writer)
		return;
	vt_writer_row(s->writer, VT_META);
	vt_writer_text(s->writer, VT_META_KEY, key);
	vt_writer_text(s->writer, VT_META_VALUE, value);
}

static void put_number(struct state *s, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_meta(s, key, text);
}

static void write_meta(struct state *s)
{
	const struct vt_freqrun_totals *t = &s->totals;
	char text[64];

	put_meta(s, "vfreq.model", strchr(s->o->cpu, '/') ? s->o->cpu : s->core.name);
	put_meta(s, "vfreq.event", vt_profile_event(s->in.profile, s->event)->name);
	put_meta(s, "vfreq.method", method_words[s->o->method]);
	snprintf(text, sizeof(text), "%.9g", s->scale);
	put_meta(s, "vfreq.scale", text);
	if (s->clock)
		put_meta(s, "vfreq.clock", s->clock);
	put_number(s, "vfreq.samples", t->samples);
	put_number(s, "vfreq.unmapped", t->unmapped);
	put_number(s, "vfreq.outside", t->outside);
	put_number(s, "vfreq.no_code", t->no_code);
	put_number(s, "vfreq.stray", t->stray);
	put_number(s, "vfreq.estimated", t->estimated);
}

static bool print_json(struct state *s)
{
	const struct vt_freqrun_totals *t = &s->totals;
	const struct vt_profile_event *e =
		s->event == SIZE_MAX ? NULL : vt_profile_event(s->in.profile, s->event);
	struct vt_output *out = app_text(s->app, s->o->output);
	json_t *doc = vt_json_doc("vfreq/1"), *by = json_object();
	size_t i;

	if (!out)
		return false;
	for (i = 0; i < VT_NCONFIDENCES; i++)
		json_object_set_new(by, vt_confidence_name(i), vt_json_u64(t->by_confidence[i]));
	vt_json_losses(doc, &s->app->losses);
	json_object_set_new(doc, "cpu", json_string(s->core.name));
	json_object_set_new(doc, "event", e ? vt_json_text(e->name, strlen(e->name)) : json_null());
	json_object_set_new(doc, "method", json_string(method_words[s->o->method]));
	json_object_set_new(doc, "clock", s->clock ? json_string(s->clock) : json_null());
	json_object_set_new(doc, "cycles_per_unit", json_real(s->scale));
	json_object_set_new(doc, "procedures", vt_json_u64(t->procedures));
	json_object_set_new(doc, "complete", vt_json_u64(t->complete));
	json_object_set_new(doc, "samples", vt_json_u64(t->samples));
	json_object_set_new(doc, "by_confidence", by);
	json_object_set_new(doc, "unmapped", vt_json_u64(t->unmapped));
	json_object_set_new(doc, "outside", vt_json_u64(t->outside));
	json_object_set_new(doc, "no_code", vt_json_u64(t->no_code));
	json_object_set_new(doc, "stray", vt_json_u64(t->stray));
	json_object_set_new(doc, "estimated", vt_json_u64(t->estimated));
	vt_json_write(out, doc, true);
	return true;
}

/* Fewer are what every program has: its loader, a signal. */
#define TELL_FROM 0.01

static void tell_left_out(struct state *s)
{
	const struct vt_freqrun_totals *t = &s->totals;
	const struct {
		uint64_t samples;
		const char *where;
	} parts[] = {
		{t->unmapped, "in no known memory"},
		{t->no_code, "in procedures whose code is not there"},
		{t->stray, "at no instruction"},
		{t->outside, "in no procedure"},
	};
	uint64_t sum = t->unmapped + t->outside + t->no_code + t->stray;
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	if (!sum || (double)sum < TELL_FROM * (double)t->samples)
		return;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].samples)
			vt_buf_printf(&b, "%s%" PRIu64 " %s", b.size ? ", " : "", parts[i].samples,
				      parts[i].where);
	if (t->outside) {
		vt_buf_printf(&b, "; most of those: ");
		app_unknown_image(&s->in, s->event, &b);
	}
	app_say(s->app, "%" PRIu64 " of %" PRIu64 " samples are left out: %s", sum, t->samples,
		vt_buf_str(&b));
	vt_buf_free(&b);
}

static bool estimate(struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_freqrun_options how = {
		.profile = s->in.profile,
		.images = s->in.images,
		.code = s->in.code,
		.core = &s->core,
		.event = s->event,
		.scale = s->scale,
		.method = methods[s->o->method],
		.exact = s->exact.counts,
		.exact_images = s->exact.images,
		.stacks = s->stacks,
	};

	if (s->event == SIZE_MAX) {
		put_number(s, "vfreq.samples", 0);
		return true;
	}
	if (s->writer && vt_freqrun_counts(s->in.profile, s->writer, &err) < 0)
		return app_fail(s->app, &err);
	if (vt_freqrun(&how, s->writer, &s->totals, &err) < 0)
		return app_fail(s->app, &err);
	write_meta(s);
	tell_left_out(s);
	return true;
}

static void state_fini(struct state *s)
{
	vt_buf_free(&s->cpu.model);
	vt_buf_free(&s->cpu.id);
	vt_buf_free(&s->cpu.description);
	app_profile_end(&s->in);
	app_counts_end(&s->exact);
	vt_stackcount_free(s->stacks);
}

static void run(struct app *a, const struct options *o)
{
	struct state s = {.app = a, .o = o};
	struct vt_reader *r;

	if (!o->json)
		app_make_stream(a, o->output);
	if (o->clock_given && !(o->clock >= 0.001 && o->clock <= 1000)) {
		app_usage(a, "--clock: a frequency in GHz, from 0.001 to 1000");
		return;
	}
	if (o->exact)
		app_note_input(a, o->exact);
	r = s.reader = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (r && !o->json)
		s.writer = app_open_writer(a, o->output, o->compress, &r, 1);
	if (r && (s.writer || o->json) && start(&s) && read_input(&s, r) && choose_event(&s) &&
	    (!o->exact || app_counts_read(a, &s.exact, o->exact, o->symfs)) && choose_core(&s) &&
	    estimate(&s) && o->json)
		print_json(&s);
	if (s.writer)
		app_close_writer(a, s.writer);
	vt_reader_close(r);
	vt_opcache_free(s.core.cache);
	state_fini(&s);
}

int main(int argc, char **argv)
{
	struct options o = {.cpu = "auto"};
	struct app app;
	const struct vt_opt opts[] = {
		{.letter = 'e',
		 .name = "event",
		 .type = VT_OPT_STRING,
		 .value = &o.event,
		 .arg = "NAME",
		 .help = "whose samples tell time (default: cycles, cpu-clock, …)"},
		{.name = "cpu",
		 .type = VT_OPT_STRING,
		 .value = &o.cpu,
		 .arg = "NAME",
		 .help = "the processor's model, or the FILE that describes it, with a '/' in its\n"
			 "name (default: auto, by what the stream says)"},
		{.letter = 'm',
		 .name = "method",
		 .type = VT_OPT_CHOICE,
		 .value = &o.method,
		 .arg = "HOW",
		 .choices = method_words,
		 .help = "flow (default): the likeliest frequencies that add up; paper: clusters\n"
			 "of ratios and local propagation; naive: each instruction on its own"},
		{.letter = 'x',
		 .name = "exact",
		 .type = VT_OPT_STRING,
		 .value = &o.exact,
		 .arg = "FILE",
		 .help = "take counts from FILE, a recording of the same program, where it has "
			 "them"},
		{.name = "clock",
		 .type = VT_OPT_F64,
		 .value = &o.clock,
		 .given = &o.clock_given,
		 .arg = "GHZ",
		 .help = "the processor's clock, for events that count nanoseconds"},
		{.name = "json",
		 .type = VT_OPT_FLAG,
		 .value = &o.json,
		 .help = "print what came of the samples as JSON, instead of the stream"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vfreq",
		.usage = "[-m HOW] [--cpu NAME] [options] [FILE]",
		.about = "Tells from samples of time how often each instruction was executed and "
			 "how\nlong each execution took.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	return app_finish(&app);
}
