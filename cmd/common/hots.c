/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/hots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "stream/kinds.h"
#include "value/invariance.h"

static int feed(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct app_hots *h = arg;
	struct vt_record rec = {block, block->kind, first};
	int code = vt_hotprofile_feed(h->profile, block, first, count, err);

	if (rec.kind != VT_IMAGE && rec.kind != VT_MAP && rec.kind != VT_KSYMBOL &&
	    rec.kind != VT_META)
		return code;
	for (; rec.row - first < count && code == 0; rec.row++)
		code = vt_images_feed(h->images, &rec, err);
	return code;
}

bool app_hots_check(struct app *a, const struct vt_hotprofile *p, const char *name, bool made)
{
	const struct vt_hot_damage *d = vt_hotprofile_damage(p);

	if (d->rejected) {
		app_say(a,
			"%s: %" PRIu64 " hot lists contradict themselves, left out; the first: %s",
			name, d->rejected, d->first);
		app_raise(a, APP_LOSSY);
	}
	if (vt_hotprofile_count(p))
		return true;
	return app_lacks(a, name, made ? "no hot lists: vhot found no such values" : APP_NO_LISTS);
}

bool app_hots_read(struct app *a, struct app_hots *h, const char *path, const char *symfs,
		   uint64_t seed)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok, made;

	*h = (struct app_hots){.name = path && strcmp(path, "-") != 0 ? path : "standard input"};
	h->images = app_images_open(a, &h->warnings, &h->cache, symfs);
	if (!h->images)
		return false;
	h->profile = vt_hotprofile_new(seed);
	if (!h->profile)
		return app_no_memory(a);
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, feed, h);
	made = r && app_came_through(r, "vhot");
	vt_reader_close(r);
	if (!ok)
		return false;
	if (vt_hotprofile_end(h->profile, &err) < 0) {
		vt_error_prefix(&err, "%s", h->name);
		return app_fail(a, &err);
	}
	return app_hots_check(a, h->profile, h->name, made);
}

void app_hots_end(struct app_hots *h)
{
	vt_hotprofile_free(h->profile);
	app_images_close(h->images, &h->warnings, h->cache);
}
