/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vlist/listings.h"

#include <inttypes.h>

#include "base/plural.h"
#include "cmd/common/images.h"
#include "cmd/common/stream.h"
#include "listing/paths/paths.h"

/* What PATH records are read into, in the context of their stream. */
struct paths {
	struct app_context in;
	struct vt_profile *profile; /* where they end */
	struct vt_listpaths *list;
};

static bool open_paths(struct app *a, const struct vlist_options *o, struct paths *p)
{
	if (!app_context_open(a, &p->in, o->symfs))
		return false;
	p->profile = vt_profile_new(p->in.context);
	p->list = vt_listpaths_new(p->in.images.store, "vlist-paths/1");
	if (!p->profile || !p->list)
		return app_no_memory(a);
	vt_listpaths_count_ends(p->list, p->profile);
	vt_listpaths_choose(p->list, o->events.count ? o->events.items[0] : NULL);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.record = vt_listpaths_feed,
					     .arg = p->list,
					     .kinds = VT_KIND(VT_PATH) | VT_KIND(VT_EVENT)});
	return true;
}

static bool read_paths(struct app *a, const struct vlist_options *o, struct paths *p)
{
	const char *name = app_input_name(o->input);
	struct vt_error err = VT_ERROR_INIT;

	if (!app_read_stream(a, o->input, vt_context_feed, p->in.context)) {
		vlist_hint_at_input(a, o);
		return false;
	}
	if (vt_profile_finish(p->profile, &err) < 0)
		return app_fail(a, &err);
	if (vt_listpaths_bad(p->list))
		app_say_lossy(a, "%s: %" PRIu64 " PATH record%s contradict%s, left out", name,
			      vt_listpaths_bad(p->list), vt_plural(vt_listpaths_bad(p->list)),
			      vt_listpaths_bad(p->list) == 1 ? "s itself" : " themselves");
	if (!vt_listpaths_count(p->list) && vt_listpaths_others(p->list))
		return vlist_lacks_event(a, o, "paths");
	return vt_listpaths_count(p->list) || app_lacks(a, name, "no paths (vpath finds them)");
}

/* Those that lead to the procedures that operands name. */
static bool pick_ends(struct app *a, const struct vlist_options *o, struct paths *p,
		      const struct vt_event_choice *events)
{
	struct vt_listreport r = {
		.profile = p->profile, .images = p->in.images.store, .events = events};
	bool ok = true;
	int i;

	for (i = 0; ok && i < a->argc; i++)
		ok = vlist_find_procedure(a, &r, a->argv[i], true);
	ok = ok && (vt_listpaths_pick(p->list, &r.found) ||
		    app_lacks(a, app_input_name(o->input), "no path leads there"));
	vt_listreport_fini(&r);
	return ok;
}

static bool choose_paths(struct app *a, const struct vlist_options *o, struct paths *p)
{
	struct vt_event_choice events = {0};
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (!a->argc)
		return true;
	ok = vt_event_choice_init(&events, p->profile, NULL, 0, &err) == 0 || app_fail(a, &err);
	ok = ok && pick_ends(a, o, p, &events);
	vt_event_choice_fini(&events);
	return ok;
}

static bool print_paths(struct app *a, const struct vlist_options *o, struct vt_listpaths *list)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out = app_text(a, o->form.output);

	return out && (vt_listpaths_print(list, o->top, o->form.json ? &a->losses : NULL,
					  app_table_form(&o->form), app_form_color(a, &o->form),
					  out, &err) == 0 ||
		       app_fail(a, &err));
}

void vlist_list_paths(struct app *a, const struct vlist_options *o)
{
	struct paths p = {.list = NULL};

	if (open_paths(a, o, &p) && read_paths(a, o, &p) && choose_paths(a, o, &p))
		print_paths(a, o, p.list);
	vt_listpaths_free(p.list);
	vt_profile_free(p.profile);
	app_context_close(&p.in);
}
