/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "culprit/check.h"
#include "culprit/culprits.h"
#include "listing/cycles/top_stalls.h"

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

struct job {
	struct app *app;
	const struct options *o;
	struct app_warnings warnings; /* about images */
	char *cache;
	struct vt_images *images;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_blockcode *code;
	struct vt_freqprofile *freq;
	struct vt_freqprofile *truth; /* NULL: not asked for */
	struct vt_culprittop *list;
	struct vt_culpritcheck *check;
	uint32_t *ids; /* of images that have frequencies */
	size_t nids;
	size_t ids_cap;
	struct vt_cpu cpu;
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

static int take(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;
	int code = 0;

	if (rec->kind == VT_FREQ) {
		code = note_image(j, (uint32_t)vt_record_u64(rec, VT_FREQ_IMAGE), err);
		j->event = vt_record_u64(rec, VT_FREQ_EVENT);
	}
	j->estimated = j->estimated || vt_record_is_meta(rec, "vfreq.samples");
	if (code == 0)
		code = vt_cpu_feed(&j->cpu, rec, err);
	/* Causes that another stage found are replaced. */
	if (code == 0 && j->writer && rec->kind != VT_STALL)
		vt_writer_copy(j->writer, rec);
	return code < 0 || !j->writer ? code : vt_writer_error(j->writer, err);
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
	ok = r && app_each_run(j->app, r, vt_freqprofile_feed, j->truth) &&
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
	    vt_blockcode_finish(j->code, &err) < 0)
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
		name = vt_core_for_cpu(j->cpu.model, j->cpu.id, j->cpu.description);
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

/* ---- results ---- */

/* Takes a procedure's stalls for the listing. */
static int list_stalls(void *arg, const struct vt_culprits_proc *p, struct vt_error *err)
{
	struct job *j = arg;
	int code = vt_culpritcheck_add(j->check, p, err);

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

static bool find_culprits(struct job *j)
{
	const struct vt_culprits_source src = {
		.core = &j->core,
		.freq = j->freq,
		.profile = j->profile,
		.images = j->images,
		.code = j->code,
		.ids = j->ids,
		.nids = j->nids,
		.event = j->event,
	};
	struct vt_error err = VT_ERROR_INIT;
	int code = j->writer ? vt_culprits_write(&src, j->writer, &j->totals, &err)
			     : vt_culprits_run(&src, list_stalls, j, &j->totals, &err);

	if (code < 0)
		return app_fail(j->app, &err);
	tell_left_out(j);
	return true;
}

static void print_stalls(struct job *j)
{
	const struct options *o = j->o;
	struct vt_output *out = app_text(j->app, o->output);
	const struct vt_culprittop_options how = {
		.totals = &j->totals,
		.check = j->check,
		.images = j->images,
		.core = j->core.name,
		.losses = &j->app->losses,
		.top = o->top,
		.truth = o->truth != NULL,
		.summary = o->truth && !o->top_given,
		.json = o->form.json,
		.form = app_table_form(&o->form),
		.color = app_color(j->app, o->color),
	};
	struct vt_error err = VT_ERROR_INIT;

	if (out && vt_culprittop_print(j->list, &how, out, &err) < 0)
		app_fail(j->app, &err);
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
	j->context = vt_context_new(j->images);
	if (!j->context)
		return app_no_memory(j->app);
	j->profile = vt_profile_new(j->context);
	j->code = vt_blockcode_new(j->context);
	j->freq = vt_freqprofile_new();
	j->list = vt_culprittop_new();
	j->check = vt_culpritcheck_new(j->truth);
	if (!j->profile || !j->code || !j->freq || !j->list || !j->check) {
		vt_error_nomem(&err);
		return app_fail(j->app, &err);
	}
	vt_context_add(j->context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = j->profile});
	vt_context_add(j->context,
		       &(struct vt_consumer){.take = vt_blockcode_feed, .arg = j->code});
	vt_context_add(j->context,
		       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = j->freq});
	vt_context_add(j->context, &(struct vt_consumer){.record = take, .arg = j});
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
	vt_context_free(j->context);
	app_images_close(j->images, &j->warnings, j->cache);
	vt_reader_close(j->reader);
	free(j->ids);
	vt_cpu_fini(&j->cpu);
	vt_opcache_free(j->core.cache);
}

static void run(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o, .warnings = {a, "warnings about images", 0}};

	if (app_form_count(&o->form) > 1) {
		app_usage(a, "--json, --csv and --tsv exclude each other");
		return;
	}
	if (start(&j) && app_each_run(a, j.reader, vt_context_feed, j.context) &&
	    finish_reading(&j) && choose_core(&j) && find_culprits(&j) && !j.writer)
		print_stalls(&j);
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
