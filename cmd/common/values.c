/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/common/collect.h"
#include "cmd/common/hots.h"
#include "cmd/common/stream.h"
#include "interpret/output.h"
#include "listing/values/interpreted.h"
#include "stream/meta.h"

/* Of samples whose stream does not say for how many instructions their memory suffices. */
#define DEFAULT_INSNS 16
#define MAX_INSNS     1000000 /* vinterp's */

/* A stream that nobody else sees.  NULL after app_fail(). */
static FILE *open_hidden(struct app *a)
{
	struct vt_error err = VT_ERROR_INIT;
	FILE *f = tmpfile();

	if (!f) {
		vt_error_errno(&err, VT_E_WRITE, errno, "no temporary file");
		app_fail(a, &err);
	}
	return f;
}

/* From its beginning, into a context.  What was lost was told when it was written. */
static bool read_hidden(struct app *a, FILE *f, struct vt_context *context)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = NULL;
	const struct vt_block *block;
	uint32_t first, count;
	int code = -1;

	if (lseek(fileno(f), 0, SEEK_SET) < 0)
		vt_error_errno(&err, VT_E_READ, errno, "temporary file");
	else
		r = vt_reader_open_fd(fileno(f), "temporary file", &err);
	if (r)
		while ((code = vt_reader_next_run(r, &block, &first, &count, &err)) > 0)
			if ((code = vt_context_feed(context, block, first, count, &err)) < 0)
				break;
	vt_reader_close(r);
	return code == 0 ? true : app_fail(a, &err);
}

static struct vt_writer *write_hidden(struct app *a, FILE *f, const struct vt_reader *const *input)
{
	char program[] = "vspec", version[] = VT_VERSION;
	struct vt_stage stage = {.program = program, .version = version};
	const struct vt_writer_options o = {.compression = VT_COMPRESS_NONE,
					    .stage = &stage,
					    .inputs = input,
					    .ninputs = input ? 1 : 0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open_fd(fileno(f), "temporary file", &o, &err);

	if (!w)
		app_fail(a, &err);
	return w;
}

/* ---- samples with memory ---- */

/*
 * A stream that is read into `context`; if it begins by saying that it has samples with memory,
 * what follows goes another way: it is interpreted into a hidden stream.
 */
struct feed {
	struct app *app;
	const char *symfs;
	struct vt_reader *reader;
	struct vt_context *context;
	bool begun;   /* a record other than META came */
	bool sampled; /* it says so, and nobody has interpreted it */
	bool failed;  /* after app_fail() */
	double insns;
	struct app_context in;
	struct vt_plugins *plugins;	    /* none */
	struct vt_interpret_output *output; /* NULL: it goes the plain way */
	FILE *hidden;
	struct vt_writer *writer;
};

static bool is_of_values(struct vt_bytes recorder)
{
	return vt_bytes_are(recorder, "sample-values") ||
	       vt_bytes_are(recorder, "sample-values-bpf");
}

static void note_sampling(struct feed *f, const struct vt_block *block, uint32_t first,
			  uint32_t count)
{
	struct vt_record rec = {block, block->kind, first};

	for (; rec.row - first < count; rec.row++) {
		if (vt_record_is_meta(&rec, "recorder"))
			f->sampled = is_of_values(vt_record_bytes(&rec, VT_META_VALUE)) &&
				     !app_came_through(f->reader, "vinterp");
		vt_meta_f64(&rec, "agent.insns", &f->insns);
	}
}

/* Its options are vinterp's, so that both ways give the same. */
static bool begin_interpreting(struct feed *f)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_reader *const input = f->reader;
	bool fits = f->insns >= 1 && f->insns <= MAX_INSNS;
	struct vt_interpret_output_options o = {
		.interpret = {.length = fits ? (uint32_t)f->insns : DEFAULT_INSNS,
			      .frequency = 1,
			      .callers = true,
			      .capture = APP_INTERPRETED_WHAT,
			      .seed = f->app->seed},
		.what = APP_INTERPRETED_WHAT,
		.warn = app_bad_record,
		.note = app_note,
		.warn_arg = f->app,
	};

	/* The images of what is interpreted are told of where their lists are read. */
	f->in.images.quiet = true;
	if (!app_context_open(f->app, &f->in, f->symfs))
		return false;
	f->hidden = open_hidden(f->app);
	f->writer = f->hidden ? write_hidden(f->app, f->hidden, &input) : NULL;
	if (!f->writer)
		return false;
	o.plugins = f->plugins = vt_plugins_new();
	if (!f->plugins)
		return app_no_memory(f->app);
	f->output = vt_interpret_output_new(&o, f->in.context, &err);
	return (f->output &&
		vt_interpret_output_begin(f->output, f->writer, f->reader, &err) == 0) ||
	       app_fail(f->app, &err);
}

static int feed_run(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct feed *f = arg;

	if (!f->begun && block->kind == VT_META)
		note_sampling(f, block, first, count);
	else if (!f->begun && f->sampled)
		f->failed = !begin_interpreting(f);
	if (f->failed)
		return 1;
	f->begun = f->begun || block->kind != VT_META;
	return vt_context_feed(f->output ? f->in.context : f->context, block, first, count, err);
}

/* What was interpreted is read as the pipeline's next program would. */
static bool end_interpreting(struct feed *f)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = f->writer;
	uint64_t values;

	if (!f->output)
		return true;
	vt_interpretlist_withheld(vt_interpret_output_end(f->output, &values), app_note, f->app);
	f->writer = NULL;
	if (vt_interpret_output_finish(f->output, &err) < 0) {
		vt_writer_abandon(w);
		return app_fail(f->app, &err);
	}
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		return app_fail(f->app, &err);
	return read_hidden(f->app, f->hidden, f->context);
}

static void close_feed(struct feed *f)
{
	if (f->writer)
		vt_writer_abandon(f->writer);
	vt_interpret_output_free(f->output);
	vt_plugins_free(f->plugins);
	app_context_close(&f->in);
	if (f->hidden)
		fclose(f->hidden);
	app_close_reader(f->app, f->reader);
}

/* ---- hot lists ---- */

/* The lists that were kept, as a stream that nobody else sees. */
static bool write_hot_lists(struct app *a, struct app_collect *c, FILE *f)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = write_hidden(a, f, NULL);

	if (!w)
		return false;
	if (vt_sites_write(c->sites, w, &err) < 0) {
		vt_writer_abandon(w);
		return app_fail(a, &err);
	}
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		return app_fail(a, &err);
	return true;
}

static bool read_back(struct app *a, struct app_values *v, FILE *f, const char *symfs)
{
	struct app_profile *p = &v->base;

	if (!app_profile_open(a, p, symfs))
		return false;
	p->lists = vt_hotprofile_new(a->seed);
	if (!p->lists)
		return app_no_memory(a);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = p->lists});
	return read_hidden(a, f, p->in.context);
}

/*
 * The lists that were kept become what reading vhot's output gives: by way of such a stream, so
 * that both ways are one.
 */
static bool take_lists(struct app *a, struct app_values *v, const char *symfs,
		       struct app_collect *c)
{
	FILE *f = open_hidden(a);
	bool ok, sampled = v->sampled;

	if (!f)
		return false;
	ok = write_hot_lists(a, c, f);
	app_values_end(v);
	v->collected = true;
	v->sampled = sampled;
	ok = ok && read_back(a, v, f, symfs);
	fclose(f);
	return ok;
}

/* A stream is read into both, hot lists and values: only its end shows which it holds. */
static bool read_values_stream(struct app *a, struct app_values *v, const char *path,
			       const char *symfs, struct app_collect *c)
{
	struct feed f = {.app = a, .symfs = symfs};
	bool ok;

	if (!app_collect_begin(c, v->base.in.images.store))
		return false;
	vt_context_add(c->context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = v->base.lists});
	f.context = c->context;
	f.reader = app_open_reader(a, path);
	ok = f.reader && app_each_run(a, f.reader, feed_run, &f) && !f.failed &&
	     end_interpreting(&f);
	v->sampled = f.output != NULL;
	close_feed(&f);
	return ok && app_collect_end(c);
}

static bool finish_values(struct app *a, struct app_values *v)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_hotprofile_end(v->base.lists, &err) < 0)
		return app_fail(a, &err);
	app_tell_hots(a, v->name, vt_hotprofile_damage(v->base.lists));
	return true;
}

bool app_values_read(struct app *a, struct app_values *v, const char *path, const char *symfs,
		     bool callers)
{
	const struct vt_hotlist_options lists = {.algo = VT_ALGO_GM, .seed = a->seed};
	struct app_profile *p = &v->base;
	struct app_collect c;
	bool ok;

	*v = (struct app_values){.name = app_input_name(path)};
	if (!app_images_open(a, &p->in.images, symfs))
		return false;
	p->lists = vt_hotprofile_new(a->seed);
	if (!p->lists)
		return app_no_memory(a);
	ok = app_collect_open(&c, a, &lists, VT_COLLECT_WHAT | 1u << VT_WHAT_RETURN, callers) &&
	     read_values_stream(a, v, path, symfs, &c);
	if (ok)
		app_collect_tell(&c);
	if (ok && vt_collect_stats(c.collect)->lists) {
		/* Its own profile is as good as one that only heard of counts. */
		p->profile = c.profile;
		p->in.context = c.context;
		c.profile = NULL;
		c.context = NULL;
	} else if (ok) {
		ok = take_lists(a, v, symfs, &c);
	}
	app_collect_close(&c);
	return ok && finish_values(a, v);
}

void app_values_end(struct app_values *v)
{
	app_profile_end(&v->base);
	v->base = (struct app_profile){0};
}
