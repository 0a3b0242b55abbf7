/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vprof/chains.h"

#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "listing/chains/chains.h"
#include "listing/json.h"

bool vprof_chains_asked(const struct vprof_chains *c)
{
	return c->children || c->callers || c->callees || c->tree;
}

bool vprof_chains_check(struct app *a, const struct vprof_chains *c,
			const struct vprof_chains_how *how, bool diff)
{
	const struct app_rule rules[] = {
		{c->children + c->callers + c->callees + c->tree > 1,
		 "--children, --callers, --callees and --tree exclude each other"},
		{(c->callers || c->callees || c->tree) && diff,
		 "--diff goes with --children alone; vflame --diff compares call trees"},
		{c->pattern && diff, "--diff compares all procedures"},
		{vprof_chains_asked(c) && !diff && how->events->count > 1,
		 "call chains are those of one event"},
		{vprof_chains_asked(c) && how->level == VT_LEVEL_INSTRUCTION,
		 "call chains are of procedures, images, lines or functions"},
		{c->pattern && (c->tree || !vprof_chains_asked(c)),
		 "--procedure goes with --children, --callers and --callees"},
		{c->depth && !c->tree, "--depth goes with --tree"},
	};

	return APP_CHECK_RULES(a, rules);
}

/* Without a choice of the user: the first event with call chains, or with samples at all. */
static size_t choose_event(const struct app_profile *p, const struct vt_event_choice *events)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		const struct vt_profile_event *e = vt_profile_event(p->profile, events->index[i]);

		if (vt_callgather_counts(p->chains, e).chains)
			return i;
	}
	return 0;
}

static void print_report(struct app *a, const struct vprof_chains_how *how, struct vt_callreport *r)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok = vt_callreport_fill(r, &err) == 0 || app_fail(a, &err);
	struct vt_output *out = ok ? app_text(a, how->form->output) : NULL;

	if (out && how->form->json)
		vt_json_write(out, vt_callreport_json(r), true);
	else if (out && vt_callreport_print(r, app_table_form(how->form),
					    app_form_color(a, how->form), out, &err) < 0)
		app_fail(a, &err);
	vt_callreport_fini(r);
}

static void report_event(struct app *a, const struct vprof_chains *c,
			 const struct vprof_chains_how *how, const struct app_profile *p,
			 const struct vt_event_choice *events)
{
	size_t i = choose_event(p, events);
	struct vt_event_choice one = {events->index + i, events->label + i, events->count > 0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ranking *ranking =
		vt_ranking_new(p->profile, p->in.images.store, how->level, &err);
	const struct vt_proflist_side side = {p->profile, ranking, p->in.images.store, &one};
	struct vt_callreport r = {
		.gather = p->chains,
		.profile = &side,
		.how = {.view = c->children  ? VT_CALLVIEW_CHILDREN
				: c->callers ? VT_CALLVIEW_CALLERS
				: c->callees ? VT_CALLVIEW_CALLEES
					     : VT_CALLVIEW_TREE,
			.list = *how->list,
			.pattern = c->pattern,
			.depth = c->depth},
	};

	if (!ranking)
		app_fail(a, &err);
	else
		print_report(a, how, &r);
	vt_ranking_free(ranking);
}

bool vprof_chains_have(const struct app_profile *p, const struct vt_event_choice *events)
{
	size_t i = choose_event(p, events);
	const struct vt_profile_event *e =
		events->count ? vt_profile_event(p->profile, events->index[i]) : NULL;

	return e && vt_callgather_counts(p->chains, e).chains > 0;
}

bool vprof_chains_lack(struct app *a, const struct app_profile *p)
{
	return app_lacks(a, p->name, app_saw_no_sample(a) ? APP_NONE_TAKEN : APP_NO_CHAINS);
}

void vprof_list_chains(struct app *a, const struct vprof_chains *c,
		       const struct vprof_chains_how *how)
{
	struct vt_event_choice events = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct app_profile p;
	bool ok = app_profile_read_chains(a, &p, how->path, how->symfs, NULL);

	ok = ok && (vt_callgather_finish(p.chains, p.in.images.store, how->level,
					 how->list->by_period, &err) == 0 ||
		    app_fail(a, &err));
	ok = ok && (vt_event_choice_init(&events, p.profile, how->events->items, how->events->count,
					 &err) == 0 ||
		    app_fail(a, &err));
	if (ok && vprof_chains_have(&p, &events))
		report_event(a, c, how, &p, &events);
	else if (ok)
		vprof_chains_lack(a, &p);
	vt_event_choice_fini(&events);
	app_profile_end(&p);
}
