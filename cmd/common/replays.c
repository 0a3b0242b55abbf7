/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/replays.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "listing/json.h"
#include "listing/values/conflicts.h"

struct state {
	struct app_warnings warnings;
	char *cache;
	struct vt_images *images;
	struct vt_listreplay *list;
	bool replayed; /* the stream comes from vreplay */
};

static int take(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct state *s = arg;
	int code = vt_images_feed(s->images, rec, err);

	s->replayed = s->replayed || rec->kind == VT_CONFLICT;
	if (rec->kind == VT_META) {
		struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

		s->replayed =
			s->replayed || (key.size == 12 && !memcmp(key.data, "replay.model", 12));
	}
	return code < 0 ? code : vt_listreplay_feed(s->list, rec, err);
}

static bool print(struct app *a, const struct app_replays *o, struct state *s)
{
	struct vt_output *out = app_text(a, o->output);
	struct vt_table *t = out ? vt_table_new() : NULL;
	size_t left_out;
	bool ok = true;

	if (!t)
		return out ? app_no_memory(a) : false;
	left_out = vt_listreplay_fill(s->list, t, o->top, app_form_is_text(&o->form));
	if (o->form.json) {
		json_t *v = vt_json_doc("vlist-replay/1");

		vt_json_losses(v, &a->losses);
		json_object_set_new(v, "pairs", vt_json_table(t));
		json_object_set_new(v, "pairs_left_out", vt_json_u64(left_out));
		vt_json_write(out, v, true);
	} else {
		if (app_form_is_text(&o->form))
			vt_listreplay_header(s->list, out);
		ok = app_print_table(a, t, &o->form, o->color, out);
		if (left_out && app_form_is_text(&o->form))
			vt_output_printf(out, "(%zu more pairs)\n", left_out);
	}
	vt_table_free(t);
	return ok;
}

bool app_replays_list(struct app *a, const struct app_replays *o)
{
	struct vt_reader *r = app_open_reader(a, o->input);
	struct state s = {.cache = NULL};
	bool ok = r != NULL;

	if (ok) {
		s.images = app_images_open(a, &s.warnings, &s.cache, o->symfs);
		ok = s.images != NULL;
	}
	if (ok) {
		s.list = vt_listreplay_new(s.images, o->syntax);
		ok = s.list || app_no_memory(a);
	}
	ok = ok && app_each_record(a, r, take, &s);
	if (ok && !s.replayed)
		ok = app_lacks(a, vt_reader_name(r),
			       "no pairs of conflicting accesses (vreplay finds them)");
	ok = ok && print(a, o, &s);
	vt_listreplay_free(s.list);
	app_images_close(s.images, &s.warnings, s.cache);
	vt_reader_close(r);
	return ok;
}
