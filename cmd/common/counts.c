/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/counts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "stream/kinds.h"

/* The profile is there to know what was mapped where: it need not count what is executed. */
static int feed(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct app_counts *c = arg;
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	if (block->kind != VT_EXEC && block->kind != VT_BLOCK && block->kind != VT_SAMPLE)
		code = vt_profile_feed(c->profile, block, first, count, err);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = vt_flowcount_feed(c->counts, &rec, err);
	return code;
}

static bool start(struct app *a, struct app_counts *c, const char *symfs)
{
	c->images = app_images_open(a, &c->warnings, &c->cache, symfs);
	if (!c->images)
		return false;
	c->profile = vt_profile_new(c->images);
	c->counts = vt_flowcount_new();
	if (c->profile && c->counts)
		return true;
	return app_no_memory(a);
}

static bool check(struct app *a, const struct app_counts *c, const char *name)
{
	if (vt_flowcount_bad(c->counts)) {
		app_say(a,
			"%s: %" PRIu64 " records of executed code contradict themselves, left out",
			name, vt_flowcount_bad(c->counts));
		app_raise(a, APP_LOSSY);
	}
	if (vt_flowcount_any(c->counts))
		return true;
	return app_lacks(a, name, APP_NO_CODE);
}

bool app_counts_read(struct app *a, struct app_counts *c, const char *path, const char *symfs)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok;

	*c = (struct app_counts){.cache = NULL};
	app_note_input(a, path);
	if (!start(a, c, symfs))
		return false;
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, feed, c);
	if (ok && vt_flowcount_finish(c->counts, c->profile, &err) < 0)
		ok = app_fail(a, &err);
	ok = ok && check(a, c, vt_reader_name(r));
	vt_reader_close(r);
	return ok;
}

void app_counts_end(struct app_counts *c)
{
	vt_profile_free(c->profile);
	vt_flowcount_free(c->counts);
	app_images_close(c->images, &c->warnings, c->cache);
}
