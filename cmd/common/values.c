/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/common/collect.h"
#include "cmd/common/stream.h"

/* A stream that is read into both: only its end tells which it was for. */
struct reading {
	struct app_collect collect;
	struct vt_hotprofile *lists;
};

static int take_run(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct reading *r = arg;
	int code = app_collect_run(&r->collect, block, first, count, err);

	return code < 0 ? code : vt_hotprofile_feed(r->lists, block, first, count, err);
}

/* The lists that were kept, as a stream that nobody else sees. */
static bool write_lists(struct app *a, struct app_collect *c, int fd)
{
	char program[] = "vspec", version[] = VT_VERSION;
	struct vt_stage stage = {.program = program, .version = version};
	const struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open_fd(fd, "temporary file", &o, &err);

	if (!w)
		return app_fail(a, &err);
	if (vt_sites_write(c->sites, w, &err) < 0) {
		vt_writer_abandon(w);
		return app_fail(a, &err);
	}
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		return app_fail(a, &err);
	return true;
}

static bool read_lists(struct app *a, struct app_values *v, int fd)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open_fd(fd, "temporary file", &err);
	const struct vt_block *block;
	uint32_t first, count;
	int code = r ? 1 : -1;

	while (code > 0) {
		code = vt_reader_next_run(r, &block, &first, &count, &err);
		if (code <= 0)
			break;
		if (vt_context_feed(v->base.context, block, first, count, &err) < 0)
			code = -1;
	}
	vt_reader_close(r);
	return code == 0 ? true : app_fail(a, &err);
}

static bool open_profile(struct app *a, struct app_values *v, const char *symfs)
{
	v->base.images = app_images_open(a, &v->base.warnings, &v->base.cache, symfs);
	if (!v->base.images)
		return false;
	v->base.context = vt_context_new(v->base.images);
	v->base.profile = v->base.context ? vt_profile_new(v->base.context) : NULL;
	v->lists = vt_hotprofile_new(a->seed);
	if (!v->base.profile || !v->lists)
		return app_no_memory(a);
	vt_context_add(v->base.context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = v->base.profile});
	vt_context_add(v->base.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = v->lists});
	return true;
}

/*
 * The lists that were kept become what reading vhot's output gives: by way of such a stream, so
 * that both ways are one.
 */
static bool take_lists(struct app *a, struct app_values *v, const char *symfs,
		       struct app_collect *c)
{
	struct vt_error err = VT_ERROR_INIT;
	FILE *f = tmpfile();
	bool ok;

	if (!f) {
		vt_error_set(&err, VT_E_SYSTEM, "no temporary file");
		return app_fail(a, &err);
	}
	ok = write_lists(a, c, fileno(f)) && lseek(fileno(f), 0, SEEK_SET) == 0;
	app_values_end(v);
	v->collected = true;
	ok = ok && open_profile(a, v, symfs) && read_lists(a, v, fileno(f));
	fclose(f);
	return ok;
}

static bool read_stream(struct app *a, struct app_values *v, const char *path,
			struct reading *reading)
{
	struct vt_reader *r = app_open_reader(a, path);
	bool ok;

	ok = r && app_collect_begin(&reading->collect, v->base.images) &&
	     app_each_run(a, r, take_run, reading) && app_collect_end(&reading->collect);
	vt_reader_close(r);
	return ok;
}

static bool finish(struct app *a, struct app_values *v)
{
	const struct vt_hot_damage *damage;
	struct vt_error err = VT_ERROR_INIT;

	if (vt_hotprofile_end(v->lists, &err) < 0)
		return app_fail(a, &err);
	damage = vt_hotprofile_damage(v->lists);
	if (damage->rejected) {
		app_say(a, "%" PRIu64 " hot lists left out; the first: %s", damage->rejected,
			damage->first);
		app_raise(a, APP_LOSSY);
	}
	return true;
}

bool app_values_read(struct app *a, struct app_values *v, const char *path, const char *symfs,
		     bool callers)
{
	const struct vt_hotlist_options lists = {.algo = VT_ALGO_GM, .seed = a->seed};
	struct reading r = {.lists = NULL};
	bool ok;

	*v = (struct app_values){.name = path && strcmp(path, "-") != 0 ? path : "standard input"};
	if (!open_profile(a, v, symfs))
		return false;
	r.lists = v->lists;
	ok = app_collect_open(&r.collect, a, &lists, VT_COLLECT_WHAT | 1u << VT_WHAT_RETURN,
			      callers) &&
	     read_stream(a, v, path, &r);
	if (ok)
		app_collect_tell(&r.collect);
	if (ok && r.collect.lists) {
		/* Its own profile is as good as one that only heard of counts. */
		vt_profile_free(v->base.profile);
		vt_context_free(v->base.context);
		v->base.profile = r.collect.profile;
		v->base.context = r.collect.context;
		r.collect.profile = NULL;
		r.collect.context = NULL;
	} else if (ok) {
		ok = take_lists(a, v, symfs, &r.collect);
	}
	app_collect_close(&r.collect);
	return ok && finish(a, v);
}

void app_values_end(struct app_values *v)
{
	app_profile_end(&v->base);
	vt_hotprofile_free(v->lists);
	v->base = (struct app_profile){.cache = NULL};
	v->lists = NULL;
}
