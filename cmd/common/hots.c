/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/hots.h"

#include <inttypes.h>

#include "base/plural.h"
#include "cmd/common/stream.h"

void app_tell_hots(struct app *a, const char *name, const struct vt_hot_damage *d)
{
	if (d->rejected)
		app_say_lossy(a, "%s: %" PRIu64 " hot list%s contradict%s, left out; the first: %s",
			      name, d->rejected, vt_plural(d->rejected),
			      d->rejected == 1 ? "s itself" : " themselves", d->first);
}

bool app_hots_check(struct app *a, const struct vt_hotprofile *p, const char *name, bool made)
{
	app_tell_hots(a, name, vt_hotprofile_damage(p));
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

	*h = (struct app_hots){.name = app_input_name(path)};
	if (!app_context_open(a, &h->in, symfs))
		return false;
	h->profile = vt_hotprofile_new(seed);
	if (!h->profile)
		return app_no_memory(a);
	vt_context_add(h->in.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = h->profile});
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, vt_context_feed, h->in.context);
	made = r && app_came_through(r, "vhot");
	app_close_reader(a, r);
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
	app_context_close(&h->in);
}
