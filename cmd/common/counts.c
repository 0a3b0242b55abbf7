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
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	*c = (struct app_counts){0};
	app_note_input(a, path);
	if (!open_counts(a, c, symfs))
		return false;
	/* What was executed is wanted whatever samples are. */
	a->slice = NULL;
	ok = app_read_stream(a, path, vt_context_feed, c->in.context);
	a->slice = slice;
	if (!ok)
		return false;
	if (vt_flowcount_finish(c->counts, &err) < 0)
		return app_fail(a, &err);
	return check_counts(a, c, app_input_name(path));
}

void app_counts_end(struct app_counts *c)
{
	vt_flowcount_free(c->counts);
	app_context_close(&c->in);
}
