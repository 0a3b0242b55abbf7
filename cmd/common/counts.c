/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/counts.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "cmd/common/stream.h"
#include "profile/same_image.h"
#include "stream/kinds.h"

static bool open_counts(struct app *a, struct app_counts *c, const char *symfs)
{
	if (!app_context_open(a, &c->in, symfs))
		return false;
	c->counts = vt_flowcount_new(c->in.context);
	if (!c->counts)
		return app_no_memory(a);
	vt_context_add(c->in.context,
		       &(struct vt_consumer){.record = vt_flowcount_feed, .arg = c->counts});
	return true;
}

static bool check_counts(struct app *a, const struct app_counts *c, const char *name)
{
	if (vt_flowcount_bad(c->counts))
		app_say_lossy(a,
			      "%s: %" PRIu64
			      " records of executed code contradict themselves, left out",
			      name, vt_flowcount_bad(c->counts));
	if (vt_flowcount_any(c->counts))
		return true;
	return app_lacks(a, name, APP_NO_CODE);
}

bool app_counts_read(struct app *a, struct app_counts *c, const char *path, const char *symfs)
{
	struct app_slice *slice = a->slice;
	struct app_where *where = a->where;
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	*c = (struct app_counts){0};
	app_note_input(a, path);
	if (!open_counts(a, c, symfs))
		return false;
	/* What was executed is wanted whatever samples are. */
	a->slice = NULL;
	a->where = NULL;
	ok = app_read_stream(a, path, vt_context_feed, c->in.context);
	a->slice = slice;
	a->where = where;
	if (!ok)
		return false;
	if (vt_flowcount_finish(c->counts, &err) < 0)
		return app_fail(a, &err);
	return check_counts(a, c, app_input_name(path));
}

/* ---- images without counts ---- */

/* The samples of an event in an image. */
struct image_samples {
	uint32_t image;
	uint64_t samples;
};

/* The image with most of them; of several, the first.  False: there is none, or no memory. */
static bool find_hottest_image(const struct vt_profile *p, size_t event, struct image_samples *hot)
{
	struct vt_hash images;
	size_t i;
	bool ok = true;

	*hot = (struct image_samples){0};
	vt_hash_init(&images, sizeof(struct image_samples), sizeof(uint32_t));
	for (i = 0; i < vt_profile_nplaces(p) && ok; i++) {
		const struct vt_place *place = vt_profile_place(p, i);
		struct image_samples *at;

		if (place->event != event || place->image == VT_UNMAPPED_IMAGE)
			continue;
		at = vt_hash_add(&images, &place->image, NULL);
		ok = at != NULL;
		if (ok)
			at->samples += place->samples;
	}
	for (i = 0; i < images.count && ok; i++) {
		const struct image_samples *at = vt_hash_at(&images, i);

		if (at->samples > hot->samples)
			*hot = *at;
	}
	vt_hash_fini(&images);
	return ok && hot->samples > 0;
}

/* Whether a stream has another file of the same path. */
static bool has_other_build(const struct vt_images *images, const struct vt_image *of)
{
	size_t i;

	for (i = 0; i < vt_images_count(images); i++)
		if (strcmp(vt_images_at(images, i)->path, of->path) == 0)
			return true;
	return false;
}

void app_counts_tell_missing(struct app *a, const struct app_counts *c, const char *name,
			     const struct app_profile *in, size_t event)
{
	struct image_samples hot;
	const struct vt_image *image;
	uint32_t same;
	bool found;

	if (event == SIZE_MAX || !find_hottest_image(in->profile, event, &hot))
		return;
	found = vt_same_image(in->in.images.store, hot.image, c->in.images.store, &same);
	image = vt_images_get(in->in.images.store, hot.image);
	if ((found && vt_flowcount_has(c->counts, same)) || !image)
		return;
	app_say(a, "%s: no counts of %s, which has most samples (%.0f %%)%s", name, image->path,
		100 * (double)hot.samples / (double)vt_profile_event(in->profile, event)->samples,
		!found && has_other_build(c->in.images.store, image)
			? ": those of that name are of another build"
			: "");
}

void app_counts_end(struct app_counts *c)
{
	vt_flowcount_free(c->counts);
	app_context_close(&c->in);
}
