/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/common/collect.h"
#include "cmd/common/hots.h"
#include "cmd/common/stream.h"

/* The lists that were kept, as a stream that nobody else sees. */
static bool write_hot_lists(struct app *a, struct app_collect *c, int fd)
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
		if (vt_context_feed(v->base.in.context, block, first, count, &err) < 0)
			code = -1;
	}
	vt_reader_close(r);
	return code == 0 ? true : app_fail(a, &err);
}

static bool read_back(struct app *a, struct app_values *v, int fd, const char *symfs)
{
	struct app_profile *p = &v->base;

	if (!app_profile_open(a, p, symfs))
		return false;
	p->lists = vt_hotprofile_new(a->seed);
	if (!p->lists)
		return app_no_memory(a);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = p->lists});
	return read_lists(a, v, fd);
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
	ok = write_hot_lists(a, c, fileno(f)) && lseek(fileno(f), 0, SEEK_SET) == 0;
	app_values_end(v);
	v->collected = true;
	ok = ok && read_back(a, v, fileno(f), symfs);
	fclose(f);
	return ok;
}

/* A stream is read into both, hot lists and values: only its end shows which it holds. */
static bool read_values_stream(struct app *a, struct app_values *v, const char *path,
			       struct app_collect *c)
{
	if (!app_collect_begin(c, v->base.in.images.store))
		return false;
	vt_context_add(c->context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = v->base.lists});
	return app_read_stream(a, path, vt_context_feed, c->context) && app_collect_end(c);
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
	     read_values_stream(a, v, path, &c);
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
