/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "culprit/cause.h"
#include "culprit/check.h"
#include "culprit/culprits.h"
#include "listing/cycles/cycles.h"
#include "listing/cycles/top_stalls.h"
#include "listing/json.h"
#include "machine/pipeline/opcache.h"

#define DEFAULT_TOP 20

struct options {
	uint64_t top;
	bool top_given;
	const char *truth;
	const char *cpu;
	struct app_form form;
	int color;
	const char *symfs;
	const char *output;
	const char *compress;
};

/* META records that tell which machine it was. */
struct cpu {
	char *chosen; /* by vfreq: the model's name or path */
	char *model;
	char *cpuid;
	char *description;
};

struct job {
	struct app *app;
	const struct options *o;
	struct app_warnings warnings; /* about images */
	char *cache;
	struct vt_images *images;
	struct vt_profile *profile;
	struct vt_blockcode *code;
	struct vt_freqprofile *freq;
	struct vt_freqprofile *truth; /* NULL: not asked for */
	struct vt_culprittop *list;
	struct vt_culpritcheck *check;
	uint32_t *ids; /* of images that have frequencies */
	size_t nids;
	size_t ids_cap;
	struct cpu cpu;
	struct vt_core core;
	struct vt_culprits_totals totals;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL for a listing */
	bool estimated;		  /* vfreq was here */
	uint64_t event;		  /* that the frequencies rest on */
};

static bool lists(const struct options *o)
{
	return o->top_given || o->truth || app_form_count(&o->form);
}

/* ---- reading ---- */

/* Frequencies come image by image, so that the last one is mostly the one. */
static int note_image(struct job *j, uint32_t image, struct vt_error *err)
{
	size_t i;

	for (i = j->nids; i > 0; i--)
		if (j->ids[i - 1] == image)
			return 0;
	if (!vt_array_grow(&j->ids, &j->ids_cap, j->nids + 1, sizeof(*j->ids)))
		return vt_error_nomem(err);
	j->ids[j->nids++] = image;
	return 0;
}

static int note_cpu(struct job *j, const struct vt_record *rec, struct vt_error *err)
{
	const struct {
		const char *key;
		char **value;
	} facts[] = {
		{"vfreq.model", &j->cpu.chosen},
		{"cpu.model", &j->cpu.model},
		{"cpuid", &j->cpu.cpuid},
		{"cpudesc", &j->cpu.description},
	};
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (key.size != strlen(facts[i].key) ||
		    memcmp(key.data, facts[i].key, key.size) != 0)
			continue;
		free(*facts[i].value);
		*facts[i].value = strndup((const char *)value.data, value.size);
		if (!*facts[i].value)
			return vt_error_nomem(err);
	}
	return 0;
}

static int take(struct job *j, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_freqprofile_feed(j->freq, rec, err);

	if (code == 0 && rec->kind == VT_FREQ) {
		code = note_image(j, (uint32_t)vt_record_u64(rec, VT_FREQ_IMAGE), err);
		j->event = vt_record_u64(rec, VT_FREQ_EVENT);
	}
	j->estimated = j->estimated || app_is_estimated(rec);
	if (code == 0 && rec->kind == VT_META)
		code = note_cpu(j, rec, err);
	if (code == 0 && rec->kind == VT_BLOCK)
		code = vt_blockcode_feed(j->code, j->profile, rec, err);
	/* Causes that another stage found are replaced. */
	if (code == 0 && j->writer && rec->kind != VT_STALL)
		vt_writer_copy(j->writer, rec);
	return code;
}

static int feed(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct job *j = arg;
	struct vt_record rec = {block, block->kind, first};
	int code = vt_profile_feed(j->profile, block, first, count, err);

	for (; rec.row - first < count && code == 0; rec.row++)
		code = take(j, &rec, err);
	return code < 0 || !j->writer ? code : vt_writer_error(j->writer, err);
}

static int feed_truth(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	return vt_freqprofile_feed(arg, rec, err);
}

static bool read_truth(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok;

	if (!j->o->truth)
		return true;
	j->truth = vt_freqprofile_new();
	if (!j->truth) {
		vt_error_nomem(&err);
		return app_fail(j->app, &err);
	}
	r = app_open_reader(j->app, j->o->truth);
	ok = r && app_each_record(j->app, r, feed_truth, j->truth) &&
	     (app_saw(j->app, VT_STALL) ||
	      app_lacks(j->app, vt_reader_name(r), "no stalls (vsim --truth knows them)")) &&
	     (vt_freqprofile_finish(j->truth, &err) == 0 || app_fail(j->app, &err));
	vt_reader_close(r);
	return ok;
}

static bool finish_reading(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_profile_finish(j->profile, &err) < 0 || vt_freqprofile_finish(j->freq, &err) < 0 ||
	    vt_blockcode_finish(j->code, j->profile, &err) < 0)
		return app_fail(j->app, &err);
	if (!j->nids && !j->estimated)
		return app_lacks(j->app, vt_reader_name(j->reader), APP_NO_FREQS);
	if (!j->nids)
		app_say(j->app, "%s: %s", vt_reader_name(j->reader), APP_NO_ESTIMATES);
	return true;
}

/* ---- the machine ---- */

static bool choose_core(struct job *j)
{
	const char *name = j->o->cpu;
	struct vt_error err = VT_ERROR_INIT;

	if (strcmp(name, "auto") == 0 && j->cpu.chosen)
		name = j->cpu.chosen;
	else if (strcmp(name, "auto") == 0)
		name = vt_core_for_cpu(j->cpu.model, j->cpu.cpuid, j->cpu.description);
	if (!name && j->nids) {
		app_say(j->app, "%s: no model is known for its processor: name one with --cpu",
			vt_reader_name(j->reader));
		app_raise(j->app, APP_INPUT);
		return false;
	}
	if (vt_core_load(&j->core, name ? name : vt_core_name(0), &err) < 0)
		return app_fail(j->app, &err);
	/* Without one, it only takes longer. */
	j->core.cache = vt_opcache_new();
	return true;
}

/* ---- writing ---- */

static void write_meta(struct vt_writer *w, const char *key, const char *text)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, text);
	vt_writer_bytes(w, VT_META_DATA, "", 0);
}

static void write_count(struct vt_writer *w, const char *key, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	write_meta(w, key, text);
}

static uint64_t bits_of(double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static void write_stall(struct vt_writer *w, const struct vt_culprits_proc *p,
			const struct vt_culprit_stall *s)
{
	const struct vt_procedure *proc = &p->flow->proc;
	const struct vt_cfg_insn *insns = p->flow->cfg->insns;
	uint64_t *row = vt_writer_row(w, VT_STALL);
	uint64_t guilty[VT_CULPRIT_GUILTY];
	uint32_t i;

	row[VT_STALL_IMAGE] = proc->image;
	row[VT_STALL_OFFSET] = p->offset + (insns[s->insn].addr - proc->start);
	row[VT_STALL_CAUSE] = s->cause;
	row[VT_STALL_LOW] = bits_of(s->low);
	row[VT_STALL_HIGH] = bits_of(s->high);
	row[VT_STALL_CONFIDENCE] = s->confidence;
	for (i = 0; i < s->nguilty; i++)
		guilty[i] = p->offset + (insns[s->guilty[i]].addr - proc->start);
	vt_writer_words(w, VT_STALL_CULPRITS, guilty, s->nguilty);
}

/* What becomes of a procedure's stalls. */
static int take_stalls(void *arg, const struct vt_culprits_proc *p, struct vt_error *err)
{
	struct job *j = arg;
	size_t i;
	int code;

	if (j->writer) {
		for (i = 0; i < p->nstalls; i++)
			write_stall(j->writer, p, &p->stalls[i]);
		return vt_writer_error(j->writer, err);
	}
	code = vt_culpritcheck_add(j->check, p, err);
	return code < 0 ? code : vt_culprittop_add(j->list, p, err);
}

static void tell_left_out(const struct job *j)
{
	const struct vt_culprits_totals *t = &j->totals;

	if (t->without_code)
		app_say(j->app, "%s: the code of %" PRIu64 " procedure%s is not there",
			vt_reader_name(j->reader), t->without_code,
			t->without_code == 1 ? "" : "s");
	if (t->outside)
		app_say(j->app,
			"%s: %" PRIu64 " of %" PRIu64
			" places with frequencies are in no procedure",
			vt_reader_name(j->reader), t->outside, t->places);
}

/* Those of the event that frequencies rest on; a simulator's truth rests on none. */
static uint64_t all_samples(const struct job *j)
{
	size_t event = j->nids ? vt_cyclesum_event(j->profile, j->event) : SIZE_MAX;

	return event == SIZE_MAX ? 0 : vt_profile_event(j->profile, event)->samples;
}

static bool judge(struct job *j)
{
	const struct vt_culprits_source src = {
		.core = &j->core,
		.freq = j->freq,
		.profile = j->profile,
		.images = j->images,
		.code = j->code,
		.ids = j->ids,
		.nids = j->nids,
	};
	struct vt_error err = VT_ERROR_INIT;

	if (vt_culprits_run(&src, take_stalls, j, &j->totals, &err) < 0)
		return app_fail(j->app, &err);
	if (all_samples(j) > j->totals.samples)
		j->totals.unknown = all_samples(j) - j->totals.samples;
	tell_left_out(j);
	if (!j->writer)
		return true;
	write_meta(j->writer, "vculprit.cpu", j->core.name);
	write_count(j->writer, "vculprit.procedures", j->totals.procedures);
	write_count(j->writer, "vculprit.without_code", j->totals.without_code);
	write_count(j->writer, "vculprit.outside", j->totals.outside);
	return true;
}

/* ---- listings ---- */

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static json_t *json_causes(const struct job *j)
{
	json_t *causes = json_object();
	unsigned i;

	for (i = 0; i < VT_NSTALLS; i++) {
		const struct vt_culpritcheck_totals *t = vt_culpritcheck_totals(j->check);
		json_t *cause;

		if (!(j->totals.high[i] > 0) && !(t->truth[i] > 0))
			continue;
		cause = json_pack("{s:s, s:b, s:f, s:f}", "text", vt_stall_text(i), "static",
				  vt_stall_is_static(i), "low",
				  percent(j->totals.low[i], j->totals.cycles), "high",
				  percent(j->totals.high[i], j->totals.cycles));
		if (j->truth) {
			json_object_set_new(cause, "true",
					    json_real(percent(t->truth[i], j->totals.cycles)));
			json_object_set_new(cause, "missed",
					    json_real(percent(t->missed[i], j->totals.cycles)));
		}
		json_object_set_new(causes, vt_stall_name(i), cause);
	}
	return causes;
}

static json_t *json_truth(const struct vt_culpritcheck_totals *t)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "stalled", percent(t->stalled, t->cycles),
			 "main_listed", percent(t->found, t->stalled), "dynamic",
			 percent(t->dynamic, t->cycles), "dynamic_main_listed",
			 percent(t->dynamic_found, t->dynamic), "dynamic_missed",
			 percent(t->dynamic - t->dynamic_found, t->cycles));
}

static json_t *json_summary(const struct job *j)
{
	const struct vt_culprits_totals *t = &j->totals;
	const struct vt_culpritcheck_totals *c = vt_culpritcheck_totals(j->check);
	struct vt_culpritcheck_correlation r = vt_culpritcheck_correlate(j->check);
	json_t *doc = vt_json_doc("vculprit/1"), *coverage = json_object();
	unsigned i;

	for (i = 0; i < VT_NCONFIDENCES; i++)
		json_object_set_new(coverage, vt_confidence_name(i),
				    json_real(percent((double)vt_culprits_samples(t, i),
						      (double)(t->samples + t->unknown))));
	vt_json_losses(doc, &j->app->losses);
	json_object_set_new(doc, "cpu", vt_json_text(j->core.name, strlen(j->core.name)));
	json_object_set_new(doc, "procedures", vt_json_u64(t->procedures));
	json_object_set_new(doc, "procedures_without_code", vt_json_u64(t->without_code));
	json_object_set_new(doc, "places", vt_json_u64(t->places));
	json_object_set_new(doc, "places_outside", vt_json_u64(t->outside));
	json_object_set_new(doc, "samples", vt_json_u64(t->samples + t->unknown));
	json_object_set_new(doc, "cycles", vt_json_real(t->cycles));
	json_object_set_new(doc, "coverage", coverage);
	json_object_set_new(doc, "unexplained", vt_json_real(percent(c->unexplained, t->cycles)));
	json_object_set_new(doc, "gain", vt_json_real(percent(t->high[VT_STALL_GAIN], t->cycles)));
	json_object_set_new(doc, "stalls", vt_json_u64(c->stalls));
	json_object_set_new(doc, "listed",
			    vt_json_real(c->stalls ? (double)c->listed / (double)c->stalls : 0));
	json_object_set_new(doc, "listed_by_cycles",
			    vt_json_real(c->weight > 0 ? c->weighted / c->weight : 0));
	json_object_set_new(doc, "causes", json_causes(j));
	json_object_set_new(doc, "icache_correlation",
			    json_pack("{s:I, s:o, s:o, s:o}", "procedures",
				      (json_int_t)r.procedures, "high", vt_json_real(r.high), "low",
				      vt_json_real(r.low), "middle", vt_json_real(r.middle)));
	if (j->truth)
		json_object_set_new(doc, "truth", json_truth(c));
	return doc;
}

static void print_truth(const struct job *j, struct vt_output *out)
{
	const struct vt_culpritcheck_totals *c = vt_culpritcheck_totals(j->check);
	unsigned i;

	vt_output_printf(out,
			 "True stalls: %.1f %% of all cycles, %.1f %% of them dynamic\n"
			 "Where the true main cause is listed: %.2f %% of all true stall cycles, "
			 "%.2f %% of dynamic ones\n"
			 "Causes listed: %.2f a stall, %.2f by cycles; unexplained: %.2f %% of all "
			 "cycles\n\n",
			 percent(c->stalled, c->cycles), percent(c->dynamic, c->stalled),
			 percent(c->found, c->stalled), percent(c->dynamic_found, c->dynamic),
			 c->stalls ? (double)c->listed / (double)c->stalls : 0,
			 c->weight > 0 ? c->weighted / c->weight : 0,
			 percent(c->unexplained, c->cycles));
	for (i = 0; i < VT_NSTALLS; i++)
		if (c->truth[i] > 0 || c->high[i] > 0)
			vt_output_printf(out, "%-28s true %6.2f %%  told %6.2f to %6.2f %%\n",
					 vt_stall_text(i), percent(c->truth[i], c->cycles),
					 percent(c->low[i], c->cycles),
					 percent(c->high[i], c->cycles));
	vt_output_text(out, "\n");
}

static bool print_table(struct job *j, struct vt_output *out, struct vt_table *t)
{
	const struct options *o = j->o;
	struct vt_error err = VT_ERROR_INIT;
	int64_t left = vt_culprittop_fill(j->list, &j->totals, j->images, o->top, t, &err);

	if (left < 0)
		return app_fail(j->app, &err);
	if (o->form.json) {
		json_t *doc = json_summary(j);

		json_object_set_new(doc, "rows", vt_json_table(t));
		json_object_set_new(doc, "rows_left_out", json_integer(left));
		vt_json_write(out, doc, true);
		return true;
	}
	if (app_form_is_text(&o->form))
		vt_culprittop_header(&j->totals, out);
	if (o->truth && app_form_is_text(&o->form))
		print_truth(j, out);
	if (o->truth && !o->top_given && app_form_is_text(&o->form))
		return true;
	if (vt_table_print(t, out, app_table_form(&o->form), app_color(j->app, o->color), &err) < 0)
		return app_fail(j->app, &err);
	if (left && app_form_is_text(&o->form))
		vt_output_printf(out, "(%" PRId64 " more instructions)\n", left);
	return true;
}

static bool print(struct job *j)
{
	struct vt_output *out = app_text(j->app, j->o->output);
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (out && !t) {
		vt_error_nomem(&err);
		app_fail(j->app, &err);
	}
	ok = out && t && print_table(j, out, t);
	vt_table_free(t);
	return ok;
}

/* ---- all of it ---- */

static bool start(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!lists(j->o))
		app_make_stream(j->app, j->o->output);
	j->images = app_images_open(j->app, &j->warnings, &j->cache, j->o->symfs);
	if (!j->images || !read_truth(j))
		return false;
	j->profile = vt_profile_new(j->images);
	j->code = vt_blockcode_new();
	j->freq = vt_freqprofile_new();
	j->list = vt_culprittop_new();
	j->check = vt_culpritcheck_new(j->truth);
	if (!j->profile || !j->code || !j->freq || !j->list || !j->check) {
		vt_error_nomem(&err);
		return app_fail(j->app, &err);
	}
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (!j->reader || lists(j->o))
		return j->reader != NULL;
	j->writer = app_open_writer(j->app, j->o->output, j->o->compress, &j->reader, 1);
	return j->writer != NULL;
}

static void stop(struct job *j)
{
	if (j->writer)
		app_close_writer(j->app, j->writer);
	vt_culprittop_free(j->list);
	vt_culpritcheck_free(j->check);
	vt_freqprofile_free(j->truth);
	vt_freqprofile_free(j->freq);
	vt_blockcode_free(j->code);
	vt_profile_free(j->profile);
	app_images_close(j->images, &j->warnings, j->cache);
	vt_reader_close(j->reader);
	free(j->ids);
	free(j->cpu.chosen);
	vt_opcache_free(j->core.cache);
	free(j->cpu.model);
	free(j->cpu.cpuid);
	free(j->cpu.description);
}

static void run(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o, .warnings = {a, "warnings about images", 0}};

	if (app_form_count(&o->form) > 1) {
		app_usage(a, "--json, --csv and --tsv exclude each other");
		return;
	}
	if (start(&j) && app_each_run(a, j.reader, feed, &j) && finish_reading(&j) &&
	    choose_core(&j) && judge(&j) && !j.writer)
		print(&j);
	stop(&j);
}

int main(int argc, char **argv)
{
	struct options o = {.top = DEFAULT_TOP, .cpu = "auto"};
	struct app app;
	const struct vt_opt opts[] = {
		{.letter = 'n',
		 .name = "top",
		 .type = VT_OPT_U64,
		 .value = &o.top,
		 .arg = "N",
		 .given = &o.top_given,
		 .help = "list the N instructions that cost most stall cycles; 0: all"},
		{.name = "cpu",
		 .type = VT_OPT_STRING,
		 .value = &o.cpu,
		 .arg = "NAME",
		 .help = "the machine: a name or a file, as in vsim --model; auto (default):\n"
			 "vfreq's, or by what the stream says of its processor"},
		{.name = "truth",
		 .type = VT_OPT_STRING,
		 .value = &o.truth,
		 .arg = "FILE",
		 .help = "compare with the true causes that vsim --truth wrote"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vculprit",
		.usage = "[options] [FILE]",
		.about =
			"Finds why instructions stall: adds to a stream with frequencies, for each "
			"stall, all\ncauses that cannot be ruled out.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	return app_finish(&app);
}
