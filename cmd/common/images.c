/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/images.h"

#include <stdlib.h>

#include "base/buf.h"
#include "cmd/common/debuginfod.h"
#include "cmd/common/symfs.h"

struct vt_images *app_images_open(struct app *a, struct app_images *i, const char *symfs)
{
	static const char *const debugdirs[] = {"/usr/lib/debug"};
	struct vt_images_options o = {
		.find = {.debugdirs = debugdirs,
			 .ndebugdirs = 1,
			 .fetch = app_debuginfod_fetch,
			 .fetch_arg = a->debuginfod},
		.perf_map_dir = symfs ? NULL : "/tmp",
		.warn = app_warn,
		.warn_arg = &i->warnings,
		.threads = a->threads + 1,
	};
	struct vt_error err = VT_ERROR_INIT;

	i->warnings = (struct app_warnings){a, "warnings about images", 0};
	i->cache = app_buildid_cache();
	o.find.buildid_cache = i->cache;
	if (i->quiet)
		o.warn = NULL;
	o.find.symfs = app_symfs_dir(&a->archives, symfs, &err);
	if (o.find.symfs || !symfs)
		i->store = vt_images_new(&o, &err);
	if (!i->store)
		app_fail(a, &err);
	return i->store;
}

/* Says once how files that were asked for and not found can be. */
static void explain_missing_images(struct app_images *i)
{
	struct app *a = i->warnings.app;
	size_t k, n = 0;

	for (k = 0; k < vt_images_count(i->store); k++)
		n += vt_images_missing(i->store, k) != VT_KNOWN;
	/* A program that fails has something else to say. */
	if (!n || a->missing_told || a->incomplete)
		return;
	a->missing_told = true;
	app_say(a,
		"%zu image%s: --symfs DIR looks for files below DIR; `perf buildid-cache -a FILE` "
		"keeps copies that are found%s",
		n, n == 1 ? " without its file" : "s without their files",
		a->debuginfod ? "" : "; servers in DEBUGINFOD_URLS are asked for others");
}

void app_images_close(struct app_images *i)
{
	if (i->warnings.app)
		app_warnings_end(&i->warnings);
	if (i->store && !i->quiet)
		explain_missing_images(i);
	vt_images_free(i->store);
	free(i->cache);
}

void app_images_tell_missing(struct app_images *i)
{
	size_t k;

	for (k = 0; k < vt_images_count(i->store); k++) {
		struct vt_buf b = VT_BUF_INIT;

		/* The finder has reported whatever else is wrong with a file. */
		if (vt_images_missing(i->store, k) != VT_UNKNOWN_NO_FILE)
			continue;
		vt_buf_printf(&b, "%s: %s: its code and constants are unknown",
			      vt_images_at(i->store, k)->path, vt_unknown_text(VT_UNKNOWN_NO_FILE));
		app_warn(&i->warnings, vt_buf_str(&b));
		vt_buf_free(&b);
	}
	explain_missing_images(i);
}

void app_images_tell_unverified(struct app_images *i)
{
	enum vt_unknown why;
	size_t k, n = 0;

	for (k = 0; k < vt_images_count(i->store); k++) {
		const struct vt_image *image = vt_images_at(i->store, k);
		const struct vt_elf *elf;
		struct vt_buf b = VT_BUF_INIT;

		if (!vt_images_withheld(i->store, k))
			continue;
		elf = vt_images_elf(i->store, image->id, &why);
		n++;
		vt_buf_printf(&b,
			      vt_images_changed(i->store, image->id)
				      ? "%s: %s was written to after it was mapped: what it holds "
					"is withheld"
				      : "%s: nothing shows that %s is the recorded image: what it "
					"holds is withheld",
			      image->path, elf ? vt_elf_info(elf)->path : "the file");
		app_warn(&i->warnings, vt_buf_str(&b));
		vt_buf_free(&b);
	}
	if (n)
		app_say(i->warnings.app,
			"(%zu unverified image%s: `perf record --buildid-all` records build-ids, "
			"--trust images does without)",
			n, n == 1 ? "" : "s");
}

bool app_context_open(struct app *a, struct app_context *c, const char *symfs)
{
	if (!app_images_open(a, &c->images, symfs))
		return false;
	c->context = vt_context_new(c->images.store);
	return c->context || app_no_memory(a);
}

void app_context_close(struct app_context *c)
{
	vt_context_free(c->context);
	app_images_close(&c->images);
}
