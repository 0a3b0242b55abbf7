/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/profiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/hots.h"
#include "cmd/common/stream.h"
#include "stream/kinds.h"

struct vt_images *app_images_open(struct app *a, struct app_warnings *warnings, char **cache,
				  const char *symfs)
{
	static const char *const debugdirs[] = {"/usr/lib/debug"};
	struct vt_images_options o = {
		.find = {.symfs = symfs, .debugdirs = debugdirs, .ndebugdirs = 1},
		.perf_map_dir = symfs ? NULL : "/tmp",
		.warn = app_warn,
		.warn_arg = warnings,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_images *images;

	*warnings = (struct app_warnings){a, "warnings about images", 0};
	*cache = app_buildid_cache();
	o.find.buildid_cache = *cache;
	images = vt_images_new(&o, &err);
	if (!images)
		app_fail(a, &err);
	return images;
}

/* How files that were asked for and not found can be: said once. */
static void tell_way(struct app *a, const struct vt_images *images)
{
	size_t i, n = 0;

	for (i = 0; i < vt_images_count(images); i++)
		n += vt_images_missing(images, i) != VT_KNOWN;
	/* Whoever fails has something else to say. */
	if (!n || a->missing_told || a->incomplete)
		return;
	a->missing_told = true;
	app_say(a,
		"%zu image%s: --symfs DIR looks for files below DIR; `perf buildid-cache -a FILE` "
		"keeps copies that are found",
		n, n == 1 ? " without its file" : "s without their files");
}

void app_images_close(struct vt_images *images, struct app_warnings *warnings, char *cache)
{
	if (warnings->app)
		app_warnings_end(warnings);
	if (images)
		tell_way(warnings->app, images);
	vt_images_free(images);
	free(cache);
}

void app_images_tell_missing(struct app_warnings *w, const struct vt_images *images)
{
	size_t i;

	for (i = 0; i < vt_images_count(images); i++) {
		struct vt_buf b = VT_BUF_INIT;

		/* Of what else is wrong with a file, the finder has spoken. */
		if (vt_images_missing(images, i) != VT_UNKNOWN_NO_FILE)
			continue;
		vt_buf_printf(&b, "%s: %s: its code and constants are unknown",
			      vt_images_at(images, i)->path, vt_unknown_text(VT_UNKNOWN_NO_FILE));
		app_warn(w, vt_buf_str(&b));
		vt_buf_free(&b);
	}
	tell_way(w->app, images);
}

void app_images_tell_unverified(struct app_warnings *w, struct vt_images *images)
{
	enum vt_unknown why;
	size_t i, n = 0;

	for (i = 0; i < vt_images_count(images); i++) {
		const struct vt_image *image = vt_images_at(images, i);
		const struct vt_elf *elf;
		struct vt_buf b = VT_BUF_INIT;

		if (!vt_images_withheld(images, i))
			continue;
		elf = vt_images_elf(images, image->id, &why);
		n++;
		vt_buf_printf(&b,
			      vt_images_changed(images, image->id)
				      ? "%s: %s was written to after it was mapped: what it holds "
					"is withheld"
				      : "%s: nothing shows that %s is the recorded image: what it "
					"holds is withheld",
			      image->path, elf ? vt_elf_info(elf)->path : "the file");
		app_warn(w, vt_buf_str(&b));
		vt_buf_free(&b);
	}
	if (n)
		app_say(w->app,
			"(%zu unverified image%s: `perf record --buildid-all` records build-ids, "
			"--trust images does without)",
			n, n == 1 ? "" : "s");
}

static int note_analyses(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			 struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct app_profile *p = arg;

	(void)err;
	for (; rec.row - first < count; rec.row++)
		p->estimated = p->estimated || vt_record_is_meta(&rec, "vfreq.samples");
	p->stalls = p->stalls || rec.kind == VT_STALL;
	return 0;
}

static void tell_bad(struct app *a, const char *name, uint64_t bad)
{
	if (!bad)
		return;
	app_say(a, "%s: %" PRIu64 " record%s of executed code that contradict%s, left out", name,
		bad, bad == 1 ? "" : "s", bad == 1 ? "s itself" : " themselves");
	app_raise(a, APP_LOSSY);
}

static bool read_stream(struct app *a, struct app_profile *p, const char *path)
{
	struct vt_reader *r = app_open_reader(a, path);
	struct vt_error err = VT_ERROR_INIT;
	bool ok = r && app_each_run(a, r, vt_context_feed, p->context);

	p->name = path && strcmp(path, "-") != 0 ? path : "standard input";
	ok = ok && (vt_profile_finish(p->profile, &err) == 0 || app_fail(a, &err));
	if (ok)
		tell_bad(a, vt_reader_name(r), vt_profile_bad(p->profile));
	p->listed = r && app_came_through(r, "vhot");
	p->explained = r && app_came_through(r, "vculprit");
	vt_reader_close(r);
	return ok;
}

bool app_profile_open(struct app *a, struct app_profile *p, const char *symfs)
{
	p->images = app_images_open(a, &p->warnings, &p->cache, symfs);
	if (!p->images)
		return false;
	p->context = vt_context_new(p->images);
	if (!p->context)
		return app_no_memory(a);
	p->profile = vt_profile_new(p->context);
	p->code = vt_blockcode_new(p->context);
	if (!p->profile || !p->code)
		return app_no_memory(a);
	vt_context_add(p->context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = p->profile});
	vt_context_add(p->context,
		       &(struct vt_consumer){.take = vt_blockcode_feed, .arg = p->code});
	return true;
}

bool app_profile_read(struct app *a, struct app_profile *p, const char *path, const char *symfs)
{
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){.cache = NULL};
	if (!app_profile_open(a, p, symfs))
		return false;
	vt_profile_estimates(p->profile);
	if (!read_stream(a, p, path) || !app_need_samples(a, p->name))
		return false;
	return vt_blockcode_finish(p->code, &err) == 0 || app_fail(a, &err);
}

bool app_profile_read_values(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs)
{
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){.cache = NULL};
	if (!app_profile_open(a, p, symfs))
		return false;
	p->lists = vt_hotprofile_new(0);
	if (!p->lists)
		return app_no_memory(a);
	vt_context_add(p->context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = p->lists});
	if (!read_stream(a, p, path))
		return false;
	if (vt_hotprofile_end(p->lists, &err) < 0 || vt_blockcode_finish(p->code, &err) < 0)
		return app_fail(a, &err);
	if (!vt_profile_nplaces(p->profile) &&
	    vt_hotprofile_count_executions(p->lists, p->profile, &err) < 0)
		return app_fail(a, &err);
	return app_hots_check(a, p->lists, p->name, p->listed);
}

static int note_images(struct app_profile *p, struct vt_error *err)
{
	size_t i, n = vt_profile_nplaces(p->profile);
	bool ok = true;

	for (i = 0; i < p->freq_images->count && ok; i++)
		ok = vt_hash_add(&p->seen_images, vt_hash_at(p->freq_images, i), NULL) != NULL;
	for (i = 0; i < n && ok; i++) {
		uint32_t image = vt_profile_place(p->profile, i)->image;

		ok = image == VT_UNMAPPED_IMAGE ||
		     vt_hash_add(&p->seen_images, &image, NULL) != NULL;
	}
	return ok ? 0 : vt_error_nomem(err);
}

bool app_profile_open_freqs(struct app *a, struct app_profile *p, const char *symfs)
{
	*p = (struct app_profile){.cache = NULL};
	vt_hash_init(&p->seen_images, sizeof(uint32_t), sizeof(uint32_t));
	if (!app_profile_open(a, p, symfs))
		return false;
	p->freqs = vt_freqprofile_new();
	if (!p->freqs)
		return app_no_memory(a);
	p->freq_images = vt_freqprofile_images(p->freqs);
	vt_context_add(p->context,
		       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = p->freqs});
	vt_context_add(p->context, &(struct vt_consumer){.take = note_analyses, .arg = p});
	return true;
}

bool app_profile_read_freqs(struct app *a, struct app_profile *p, const char *path,
			    const char *symfs, bool none)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_profile_open_freqs(a, p, symfs) || !read_stream(a, p, path))
		return false;
	if (!p->freq_images->count && !none)
		return app_lacks(a, p->name, p->estimated ? APP_NO_ESTIMATES : APP_NO_FREQS);
	if (vt_freqprofile_finish(p->freqs, &err) < 0 || vt_blockcode_finish(p->code, &err) < 0 ||
	    note_images(p, &err) < 0 ||
	    (!vt_profile_nplaces(p->profile) &&
	     vt_freqprofile_count_cycles(p->freqs, p->profile, &err) < 0))
		return app_fail(a, &err);
	return true;
}

void app_profile_end(struct app_profile *p)
{
	vt_freqprofile_free(p->freqs);
	vt_hash_fini(&p->seen_images);
	vt_profile_free(p->profile);
	vt_hotprofile_free(p->lists);
	vt_blockcode_free(p->code);
	vt_context_free(p->context);
	app_images_close(p->images, &p->warnings, p->cache);
}
