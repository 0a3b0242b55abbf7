/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/counts.h"

#include <inttypes.h>

#include "cmd/common/stream.h"
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

	*c = (struct app_counts){0};
	app_note_input(a, path);
	if (!open_counts(a, c, symfs))
		return false;
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, vt_context_feed, c->in.context);
	if (ok && vt_flowcount_finish(c->counts, &err) < 0)
		ok = app_fail(a, &err);
	ok = ok && check_counts(a, c, vt_reader_name(r));
	vt_reader_close(r);
	return ok;
}

void app_counts_end(struct app_counts *c)
{
	vt_flowcount_free(c->counts);
	app_context_close(&c->in);
}
