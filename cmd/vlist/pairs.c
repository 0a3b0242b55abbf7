/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vlist/listings.h"

#include <inttypes.h>

#include "cmd/common/images.h"
#include "cmd/common/stream.h"
#include "listing/pairs/listing.h"

/* What PAIRSTAT records are read into, in the context of their stream. */
struct pairs {
	struct app_context in;
	struct vt_profile *profile;
	struct vt_blockcode *code;
	struct vt_pairlist *list;
};

static bool open_pairs(struct app *a, const struct vlist_options *o, struct pairs *p)
{
	if (!app_context_open(a, &p->in, o->symfs))
		return false;
	p->profile = vt_profile_new(p->in.context);
	p->code = vt_blockcode_new(p->in.context);
	p->list = p->profile ? vt_pairlist_new(p->profile, p->in.images.store) : NULL;
	if (!p->list || !p->code)
		return app_no_memory(a);
	vt_pairlist_choose(p->list, o->events.count ? o->events.items[0] : NULL);
	vt_context_add(p->in.context, &(struct vt_consumer){.take = vt_blockcode_feed,
							    .arg = p->code,
							    .kinds = VT_KIND(VT_BLOCK)});
	vt_context_add(p->in.context, &(struct vt_consumer){.record = vt_pairlist_feed,
							    .arg = p->list,
							    .kinds = VT_KIND(VT_PAIRSTAT)});
	return true;
}

static bool read_pairs(struct app *a, const struct vlist_options *o, struct pairs *p)
{
	const char *name = app_input_name(o->input);
	struct vt_error err = VT_ERROR_INIT;
	uint64_t bad;

	if (!app_read_stream(a, o->input, vt_context_feed, p->in.context)) {
		vlist_hint_at_input(a, o);
		return false;
	}
	if (vt_profile_finish(p->profile, &err) < 0 || vt_blockcode_finish(p->code, &err) < 0)
		return app_fail(a, &err);
	bad = vt_pairlist_bad(p->list);
	if (bad)
		app_say_lossy(a, "%s: %" PRIu64 " PAIRSTAT record%s cannot be: left out", name, bad,
			      bad == 1 ? "" : "s");
	if (!vt_pairlist_has_any(p->list) && vt_pairlist_others(p->list))
		return vlist_lacks_event(a, o, "pairs");
	return vt_pairlist_has_any(p->list) ||
	       app_lacks(a, name, "no sums of pairs (vpair makes them)");
}

static bool find_procedures(struct app *a, const struct vlist_options *o, struct vt_listreport *r)
{
	struct vt_error err = VT_ERROR_INIT;
	int i;

	for (i = 0; i < a->argc; i++)
		if (!vlist_find_procedure(a, r, a->argv[i], false))
			return false;
	return !o->top || vt_listreport_find_top(r, o->top, &err) >= 0 || app_fail(a, &err);
}

static bool print_pairs(struct app *a, struct vlist_options *o, struct pairs *p,
			const struct vt_found *found)
{
	const struct vt_pairlist_options how = {
		.listing = &o->listing,
		.losses = &a->losses,
		.json = o->form.json,
		.form = app_table_form(&o->form),
		.color = app_form_color(a, &o->form),
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out = app_text(a, o->form.output);

	o->listing.code = p->code;
	return out && (vt_pairlist_print(p->list, found, &how, out, app_note, a, &err) == 0 ||
		       app_fail(a, &err));
}

void vlist_list_pairs(struct app *a, struct vlist_options *o)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_event_choice events = {0};
	struct vt_listreport r = {0};
	struct pairs p = {.list = NULL};

	o->listing.sources = vt_sources_new(o->dirs.items, o->dirs.count);
	if (open_pairs(a, o, &p) && read_pairs(a, o, &p)) {
		if (vt_event_choice_init(&events, p.profile, NULL, 0, &err) < 0)
			app_fail(a, &err);
		r = (struct vt_listreport){.profile = p.profile,
					   .images = p.in.images.store,
					   .events = &events,
					   .view = o->listing.view};
		if (a->status < APP_USAGE && find_procedures(a, o, &r))
			print_pairs(a, o, &p, &r.found);
	}
	vt_sources_free(o->listing.sources);
	vt_listreport_fini(&r);
	vt_event_choice_fini(&events);
	vt_pairlist_free(p.list);
	vt_blockcode_free(p.code);
	vt_profile_free(p.profile);
	app_context_close(&p.in);
}
